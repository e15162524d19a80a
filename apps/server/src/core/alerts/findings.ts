import type { AlertKind, AlertRule } from '@postern/contract/alerts/rules'
import type { Context } from '../../context.ts'
import { readMuted } from '../mutes/mutes.ts'
import { countServices, listUnchecked } from '../overview/overview.ts'
import { findFailedBackup } from './find/backup.ts'
import { findEnding, findFullDisk, isDiskKnown } from './find/certificates-and-disk.ts'
import { findEdgeProblems, findGone, findUpdates, isUpdateKnown } from './find/edges.ts'
import { findFigures, readValues } from './find/figures.ts'
import { findDownServices, findLostNodes } from './find/nodes-and-services.ts'
import type { Counted, Finder, Finding, Findings, OpenAlert, Sight } from './sight.ts'

const FINDERS: Readonly<Partial<Record<AlertKind, Finder>>> = {
  'node-lost': findLostNodes,
  'service-unanswered': findDownServices,
  'certificate-ending': findEnding,
  'edge-gone': findGone,
  'edge-problem': findEdgeProblems,
  'disk-full': findFullDisk,
  'update-waiting': findUpdates,
  'backup-failed': findFailedBackup,
  figure: findFigures,
}

/**
 * @param isSettled whether edges have been connected for long enough
 * @param counted what rules of one's own read of the counts
 */
export async function look(
  context: Context,
  rules: readonly AlertRule[],
  isSettled: boolean,
  counted: Counted,
): Promise<Findings> {
  const base: Omit<Sight, 'values'> = {
    context,
    nodes: await countServices(context),
    unchecked: new Set(listUnchecked(context.edges)),
    muted: await readMuted(context.db, context.clock()),
    isSettled,
    counted,
  }
  const own = rules.filter(({ kind, enabled }) => enabled && kind === 'figure')
  const sight: Sight = { ...base, values: await readValues(base, own) }
  const found = new Map<string, Finding>()
  for (const rule of rules.filter(({ enabled }) => enabled))
    for (const finding of (await FINDERS[rule.kind]?.(sight, rule)) ?? []) found.set(finding.key, finding)
  const on = new Set(rules.flatMap(({ id, enabled }) => (enabled ? id : [])))
  return {
    found,
    isKnown: (alert) => isKnown(sight, alert),
    isWatched: ({ rule_id, node_id, service_id }) =>
      on.has(rule_id) && !sight.muted.nodes.has(node_id ?? 0) && !sight.muted.services.has(service_id ?? 0),
  }
}

/** Services of a node that is not online are not told apart, and a node is not known before an edge has told of it. */
function isKnown({ context, nodes, unchecked, isSettled, values }: Sight, alert: OpenAlert): boolean {
  const { kind, node_id: nodeId, service_id: serviceId } = alert
  if (kind === 'node-lost') return isSettled
  if (kind === 'edge-problem') return context.edges.views().length > 0
  if (kind === 'update-waiting') return isUpdateKnown(context, alert.key)
  if (kind === 'disk-full') return isDiskKnown(context, alert.key)
  if (kind === 'backup-failed') return context.backups.isKnown()
  if (kind === 'figure') return values.has(alert.key)
  if (kind !== 'service-unanswered') return true
  const node = nodeId === null ? undefined : nodes.get(nodeId)
  const isWaiting =
    node !== undefined && node.kind !== 'online' && node.kind !== 'local' && node.kind !== 'disconnected'
  return isSettled && !isWaiting && !unchecked.has(serviceId ?? 0)
}
