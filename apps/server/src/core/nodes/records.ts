import type { Problem } from '@postern/contract/edge/edge'
import type { Node } from '@postern/contract/nodes'
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Flag } from '../../db/columns.ts'
import type { Database, NodeRow } from '../../db/schema.ts'
import { networksOf, textsOf } from '../columns.ts'
import { listEdgesAway, listProblems } from '../edges/differences.ts'
import { ConflictError, NotFoundError } from '../errors.ts'
import { muteOf } from '../mutes/mutes.ts'
import { statusOf } from './figures.ts'

/** The columns of a record, without keys. */
const COLUMNS = [
  'nodes.id',
  'name',
  'address',
  'dns',
  'keepalive',
  'is_gateway',
  'gateway_networks',
  'allow_internet',
  'advanced',
  'agent_may_publish',
  'agent_domains',
  'agent_max_services',
  'agent_max_domains',
  'agent_max_ports',
  'agent_max_entries',
  'is_local',
  'enabled',
  'created_at',
  'updated_at',
] as const

type RecordRow = Pick<NodeRow, Exclude<(typeof COLUMNS)[number], 'nodes.id'> | 'id'> & {
  uses_file: Flag
  file_edges: number
  edges: number
  services: number
  tokens: number
  muted: Flag
  muted_until: string | null
}

/** Whether the node's key came with the downloaded file: the server has a private key only of such nodes. */
export const usesFile = sql<Flag>`(nodes.private_key IS NOT NULL)`

const joined = sql`SELECT count(*) FROM edges WHERE joined_at IS NOT NULL`
/** How many of the present edges the node's file has. */
const fileEdges = sql<number>`(${joined}
  AND CASE WHEN nodes.file_edges IS NULL THEN number = 1
  ELSE edges.id IN (SELECT value FROM json_each(nodes.file_edges)) END)`

/** Selects what `toNode` needs. */
export function selectRecord<O>(query: SelectQueryBuilder<Database, 'nodes', O>) {
  return query
    .select(COLUMNS)
    .select(usesFile.as('uses_file'))
    .select(fileEdges.as('file_edges'))
    .select(sql<number>`(${joined})`.as('edges'))
    .select(sql<number>`(SELECT count(*) FROM services WHERE services.node_id = nodes.id)`.as('services'))
    .select(sql<number>`(SELECT count(*) FROM node_tokens WHERE node_id = nodes.id)`.as('tokens'))
    .select(sql<Flag>`EXISTS (SELECT 1 FROM mutes WHERE mutes.node_id = nodes.id)`.as('muted'))
    .select(sql<string | null>`(SELECT until FROM mutes WHERE mutes.node_id = nodes.id)`.as('muted_until'))
}

/** The nodes with these ids, in any order. */
export async function readNodes(context: Context, ids: readonly number[]): Promise<Node[]> {
  const rows = await selectRecord(context.db.selectFrom('nodes')).where('nodes.id', 'in', ids).execute()
  return rows.map((row) => toNode(context, row))
}

/** A node in the form of the API. */
export function toNode(context: Sources, row: RecordRow): Node {
  const figures = context.live.find(row.id)
  const status = statusOf(row.enabled === 1, figures, context.clock())
  return {
    id: row.id,
    name: row.name,
    address: row.address,
    dns: row.dns,
    keepalive: row.keepalive,
    allowInternet: row.allow_internet === 1,
    advanced: row.advanced === 1,
    ...agentFormOf(row),
    isGateway: row.is_gateway === 1,
    gatewayNetworks: row.is_gateway === 1 ? networksOf(row) : null,
    isLocal: row.is_local === 1,
    usesFile: row.uses_file === 1,
    fileEdges: row.uses_file === 1 ? { known: row.file_edges, all: row.edges } : null,
    enabled: row.enabled === 1,
    status,
    problem: findProblem(context, row.id, status === 'online'),
    clientIp: figures?.clientIp ?? null,
    latestHandshakeTimestamp: figures?.latestHandshake ?? null,
    transferRx: figures?.rx ?? 0,
    transferTx: figures?.tx ?? 0,
    services: row.services,
    tokens: row.tokens,
    mute: muteOf(row, context.clock()),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

type Sources = Pick<Context, 'live' | 'clock' | 'edges' | 'agents'>

function findProblem({ live, edges, agents, clock }: Sources, id: number, isOnline: boolean): string | null {
  const views = edges.views()
  const isOf = ({ scope }: Problem) => scope.kind === 'node' && scope.id === id
  const told = views.map((view) => ({ ...view, problems: view.problems.filter(isOf) }))
  const [ofEdge] = listProblems(told)
  const away = listEdgesAway(live, views, { id, isOnline }, clock())
  const missing =
    away.length > 0 ? `Not at ${away.map(({ name }) => name).join(', ')}: ${awayText(live, away, id)}` : null
  return ofEdge?.message ?? agents.problemsOf(id)[0] ?? missing
}

function awayText(live: Sources['live'], away: readonly { id: number }[], nodeId: number): string {
  const isKnown = away.some((edge) => (live.findAt(edge.id, nodeId)?.latestHandshake ?? null) !== null)
  return isKnown ? 'it does not answer through the tunnel' : 'no handshake'
}

/** @throws NotFoundError */
export async function getNodeRow(db: Kysely<Database>, id: number): Promise<NodeRow> {
  const row = await db.selectFrom('nodes').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Node')
  return row
}

/** The node's present values in the form, over which a patch is laid. */
export function formOf(row: NodeRow): Record<string, unknown> {
  return {
    name: row.name,
    address: row.address,
    dns: row.dns,
    keepalive: row.keepalive,
    isGateway: row.is_gateway === 1,
    gatewayNetworks: networksOf(row),
    allowInternet: row.allow_internet === 1,
    advanced: row.advanced === 1,
    ...agentFormOf(row),
  }
}

/** The form's fields about the node's agent. */
function agentFormOf(row: Pick<RecordRow, (typeof COLUMNS)[number] & `agent_${string}`>) {
  return {
    agentMayPublish: row.agent_may_publish === 1,
    agentDomains: textsOf(row.agent_domains),
    agentMaxServices: row.agent_max_services,
    agentMaxDomains: row.agent_max_domains,
    agentMaxPorts: row.agent_max_ports,
    agentMaxEntries: row.agent_max_entries,
  }
}

/** @throws ConflictError: the local node is this machine and always exists */
export function refuseLocal(row: Pick<NodeRow, 'is_local'>): void {
  if (row.is_local === 1)
    throw new ConflictError('The local node is this server itself and cannot be changed', [], 'local_node')
}
