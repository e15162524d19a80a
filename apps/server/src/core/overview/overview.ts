import type { Overview, RecentChange } from '@postern/contract/overview'
import type { Service } from '@postern/contract/services/services'
import { sql } from 'kysely'
import { getRevision } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { listEdgesAway } from '../edges/differences.ts'
import { conditionsOf } from '../history/filter.ts'
import { listHistory } from '../history/history.ts'
import { statusOf } from '../nodes/figures.ts'
import { selectWithheld } from '../publishing/rule.ts'
import { readServices, toService } from '../services/records.ts'
import { type ServiceNodeView, serviceState } from '../services/state.ts'
import { countCertificates } from './certificates.ts'

const MOST_CHANGES = 8
/** Written as in the partial indexes: with bound values SQLite would not use them. */
const COUNTED = sql<boolean>`enabled = 1 AND system = 0`
const DISABLED = sql<boolean>`enabled = 0`

/**
 * The state of the whole installation at a glance. All services of a node are in the same phase, except those that an
 * edge reports on or has yet to apply: only these are read.
 */
export async function readOverview(context: Context): Promise<Overview> {
  const counted = await countServices(context)
  const services: Overview['services'] = {
    ...{ live: 0, checking: 0, applying: 0, unanswered: 0, failed: 0 },
    ...{ 'node-offline': 0, 'node-disconnected': 0 },
  }
  for (const { phase, count } of counted.values()) services[phase] += count
  const apart = await listServicesApart(context)
  for (const { nodeId, state } of apart) {
    const usual = counted.get(nodeId)
    if (usual) services[usual.phase]--
    services[state.phase]++
  }
  for (const { nodeId, count } of await countUnchecked(
    context,
    apart.map(({ id }) => id),
  )) {
    if (counted.get(nodeId)?.phase !== 'live') continue
    services.live -= count
    services.checking += count
  }
  return {
    nodes: countNodes(counted),
    services,
    disabledServices: await countDisabled(context),
    certificates: await countCertificates(context),
    changes: await listChanges(context),
  }
}

type Phase = Service['state']['phase']

export interface CountedNode {
  kind: keyof Overview['nodes'] | 'local'
  /** The usual phase of its services. */
  phase: Phase
  /** How many of its services are enabled. */
  count: number
  lastSeen: number | null
}

interface StatedNode {
  id: number
  isLocal: boolean
  enabled: boolean
  count: number
}

interface StatedNodes {
  revision: number
  nodes: readonly StatedNode[]
}

const stated = new WeakMap<Context['db'], StatedNodes>()

/** Cached until a change, because every open console reads the overview again and again. */
async function readStatedNodes(db: Context['db']): Promise<readonly StatedNode[]> {
  // Read before the rows, so that a change in between is seen the next time.
  const revision = await getRevision(db)
  const known = stated.get(db)
  if (known?.revision === revision) return known.nodes
  const services = await db
    .selectFrom('services')
    .select(({ fn }) => ['node_id', fn.countAll<number>().as('count')])
    .where(COUNTED)
    .groupBy('node_id')
    .execute()
  const counts = new Map(services.map(({ node_id, count }) => [node_id, count]))
  const rows = await db.selectFrom('nodes').select(['id', 'is_local', 'enabled']).orderBy('id').execute()
  const nodes = rows.map(({ id, is_local, enabled }): StatedNode => {
    return { id, isLocal: is_local === 1, enabled: enabled === 1, count: counts.get(id) ?? 0 }
  })
  stated.set(db, { revision, nodes })
  return nodes
}

export async function countServices({ db, live, edges, clock }: Context): Promise<Map<number, CountedNode>> {
  const nodes = await readStatedNodes(db)
  const views = edges
    .views()
    .map((view) => ({ ...view, problems: [], troubles: new Map(), families: new Map() }))
  const now = clock()
  return new Map(
    nodes.map(({ id, isLocal, enabled, count }) => {
      const figures = live.find(id)
      const status = statusOf(enabled, figures, now)
      const lastSeen = figures?.latestHandshake ?? null
      const seen = { id, isOnline: status === 'online' }
      const awayAt = listEdgesAway(live, views, seen, now).map((edge) => edge.id)
      const own = { id, name: '', address: '', isLocal, usesFile: false }
      const node = { ...own, enabled, status, lastSeen, awayAt }
      const phase = serviceState({ ...ANY, node }, views).phase
      return [id, { kind: kindOf(node), phase, count, lastSeen }]
    }),
  )
}

/** Stands for every service without reports from an edge. */
const ANY = {
  ...{ id: 0, isNamed: false, isUdp: false, isOnNode: false },
  ...{ certificateId: null, edges: null, revision: 0 },
}

function kindOf({ isLocal, enabled, status, lastSeen }: ServiceNodeView): CountedNode['kind'] {
  if (isLocal) return 'local'
  if (!enabled) return 'disconnected'
  return lastSeen === null ? 'neverConnected' : status
}

function countNodes(counted: ReadonlyMap<number, CountedNode>): Overview['nodes'] {
  const nodes = { online: 0, idle: 0, offline: 0, neverConnected: 0, disconnected: 0 }
  for (const { kind } of counted.values()) if (kind !== 'local') nodes[kind]++
  return nodes
}

/** The enabled services that may be in a different phase from their node's others. */
export async function listServicesApart(context: Context): Promise<Service[]> {
  const views = context.edges.views()
  const scopes = views.flatMap(({ problems }) => problems.map(({ scope }) => scope))
  const idsOf = (kind: 'service' | 'node' | 'certificate') =>
    scopes.flatMap((scope) => (scope.kind === kind ? [scope.id] : []))
  const troubled = views.flatMap(({ troubles }) =>
    [...troubles].flatMap(([id, trouble]) => (trouble === 'unchecked' ? [] : id)),
  )
  const applied = Math.min(
    ...views.flatMap(({ dataPlane, inForce }) => (dataPlane ? Object.values(inForce) : [])),
  )
  // Services in the kernel work without HAProxy, and the other way round.
  const isSplit = views.some(
    ({ dataPlane }) =>
      dataPlane && [dataPlane.haproxy, dataPlane.nftables].some(({ state }) => state !== 'ok'),
  )
  const ids = context.db
    .selectFrom('services')
    .select('services.id')
    .where('enabled', '=', 1)
    .where('system', '=', 0)
    .where((eb) => {
      const nodes = eb.selectFrom('nodes').select('id').where('nodes.revision', '>', applied)
      const domains = eb.selectFrom('domains').select('id').where('domains.revision', '>', applied)
      const limited = eb.selectFrom('domains').select('id').where('edges', 'is not', null)
      const named = eb
        .selectFrom('certificates')
        .select('certificates.domain_id')
        .where('certificates.id', 'in', among(idsOf('certificate')))
      const affected = [
        eb('services.id', 'in', among([...idsOf('service'), ...troubled])),
        eb('node_id', 'in', among(idsOf('node'))),
        eb('domain_id', 'in', named),
        eb('services.id', 'in', selectWithheld(context.db)),
        eb('domain_id', 'in', limited),
        ...(isSplit ? [eb('proto', '=', 'udp')] : []),
      ]
      if (applied === Number.POSITIVE_INFINITY) return eb.or(affected)
      const fresh = [
        eb('services.revision', '>', applied),
        eb('node_id', 'in', nodes),
        eb('domain_id', 'in', domains),
      ]
      return eb.or([...affected, ...fresh])
    })
  return (await readServices(context.db, ids)).map((row) => toService(context, row))
}

/** How many services of each node are unchecked, without those counted separately. After a start that may be all. */
async function countUnchecked({ db, edges }: Context, apart: readonly number[]) {
  const unchecked = listUnchecked(edges)
  if (unchecked.length === 0) return []
  return await db
    .selectFrom('services')
    .select(({ fn }) => ['node_id as nodeId', fn.countAll<number>().as('count')])
    .where('enabled', '=', 1)
    .where('system', '=', 0)
    .where('id', 'in', among(unchecked))
    .where('id', 'not in', among(apart))
    .groupBy('node_id')
    .execute()
}

/** The services that have not been asked yet. */
export function listUnchecked(edges: Context['edges']): number[] {
  return edges
    .views()
    .flatMap(({ troubles }) => [...troubles].flatMap(([id, trouble]) => (trouble === 'unchecked' ? id : [])))
}

/** A statement holds a limited number of values. */
export function among(ids: readonly number[]) {
  return sql<number>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
}

async function countDisabled({ db }: Context): Promise<number> {
  const { count } = await db
    .selectFrom('services')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(DISABLED)
    .executeTakeFirstOrThrow()
  return count
}

/** As the history shows them to this person. */
async function listChanges(context: Context): Promise<RecentChange[]> {
  const { db, access } = context
  if (access.reach) {
    const { data } = await listHistory(context, access, { limit: MOST_CHANGES })
    return data.map(({ revision, at, actor, what, name, records }) => {
      const nodeId = records.find((record) => record.nodeId !== null)?.nodeId ?? null
      return { revision, at, actor: actor.name, what, name, nodeId, domain: null }
    })
  }
  return await db
    .selectFrom('changes')
    .leftJoin('nodes', 'nodes.id', 'changes.node_id')
    .leftJoin('domains', 'domains.id', 'changes.domain_id')
    .select(['changes.revision', 'at', 'actor', 'what', 'changes.name', 'nodes.id as nodeId', 'domain'])
    .where((eb) => eb.and(conditionsOf(eb, access, {})))
    .orderBy('changes.revision', 'desc')
    .limit(MOST_CHANGES)
    .execute()
}
