import type { TunnelSettings } from '@postern/contract/edge/desired-state'
import { DRAINED } from '../health.ts'

/** What concerns this edge alone and changes while HAProxy runs. */
export function renderEdgeMap({ edge }: Pick<TunnelSettings, 'edge'>): Map<string, string> {
  return new Map(edge?.isDrained ? [[DRAINED, 'yes']] : [])
}
