import type { Context } from '../../../context.ts'
import { among, type CountedNode } from '../../overview/overview.ts'
import type { Finder, Finding, Sight } from '../sight.ts'

/** Nobody disconnected them, and they have been online before. */
export const isLost = ({ kind }: CountedNode) => kind === 'offline' || kind === 'idle'

export const findLostNodes: Finder = ({ nodes, muted, isSettled }, rule) => {
  if (!isSettled) return []
  return [...nodes].flatMap(([nodeId, node]): Finding[] =>
    isLost(node) && !muted.nodes.has(nodeId) ? [{ key: `node-lost:${nodeId}`, rule, nodeId }] : [],
  )
}

/** On nodes that carry traffic: of a lost one, the node itself is what people are told. */
export const findDownServices: Finder = async (sight, rule) => {
  const { muted } = sight
  const down = await listDownServices(sight)
  return down.flatMap(({ serviceId, nodeId }): Finding[] =>
    muted.nodes.has(nodeId) || muted.services.has(serviceId)
      ? []
      : [{ key: `service-unanswered:${serviceId}`, rule, nodeId, serviceId }],
  )
}

/** By what edges tell of them: only these are looked up. A part that fails altogether is a problem of the edge. */
export async function listDownServices({
  context,
  nodes,
  isSettled,
}: Pick<Sight, 'context' | 'nodes' | 'isSettled'>): Promise<{ serviceId: number; nodeId: number }[]> {
  if (!isSettled) return []
  const views = context.edges
    .views()
    .filter(({ dataPlane }) => dataPlane && Object.values(dataPlane).every(({ state }) => state === 'ok'))
  const ids = views.flatMap(({ problems, troubles }) => [
    ...problems.flatMap(({ scope }) => (scope.kind === 'service' ? [scope.id] : [])),
    ...[...troubles].flatMap(([id, trouble]) => (trouble === 'unchecked' ? [] : [id])),
  ])
  if (ids.length === 0) return []
  const rows = await readEnabled(context, ids)
  return rows.filter(({ nodeId }) => {
    const kind = nodes.get(nodeId)?.kind
    return kind === 'online' || kind === 'local'
  })
}

async function readEnabled({ db }: Context, ids: readonly number[]) {
  return await db
    .selectFrom('services')
    .select(['id as serviceId', 'node_id as nodeId'])
    .where('id', 'in', among(ids))
    .where('enabled', '=', 1)
    .where('system', '=', 0)
    .orderBy('id')
    .execute()
}
