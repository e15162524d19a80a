import type { Problem } from '@postern/contract/edge/edge'
import type { PortSpan } from '@postern/render/haproxy/options'
import { spansWithout } from '@postern/render/haproxy/ports'
import { portRoutesOf, type RouteSections } from '@postern/render/resolved-route'
import { explainPort } from '../explain-port.ts'
import type { HaproxyDriverOptions } from './options.ts'
import { portsOf } from './process/binds.ts'

/** A problem for each TCP service whose port HAProxy does not listen on. */
export function findPortProblems(
  routes: RouteSections,
  bound: readonly PortSpan[],
  range: PortSpan | undefined,
): Problem[] {
  return portRoutesOf(routes).flatMap(({ id, proto, enabled, port }) => {
    if (proto !== 'tcp' || !enabled || has(bound, port)) return []
    const message = explainPort(port, range, range !== undefined && has([range], port))
    return [{ scope: { kind: 'service' as const, id }, message }]
  })
}

/** The ports of the range that HAProxy could not listen on: other programs hold them. */
export function findMissingPorts(
  { portRange, ownPorts = [] }: HaproxyDriverOptions,
  bound: readonly PortSpan[],
): number[] {
  if (!portRange) return []
  const all = spansWithout(portRange, new Set(ownPorts)).flatMap(portsOf)
  return all.filter((port) => !has(bound, port))
}

function has(spans: readonly PortSpan[], port: number): boolean {
  return spans.some(({ from, to }) => from <= port && port <= to)
}
