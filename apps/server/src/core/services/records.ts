import type { HttpService, Service } from '@postern/contract/services'
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { ServerConfig } from '../../config.ts'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Database, ServiceRow } from '../../db/schema.ts'
import { textsOf } from '../columns.ts'
import { type EdgeView, serviceState } from './state.ts'

/** A service with what its record says of its domain. */
export interface ServiceRecordRow extends ServiceRow {
  domain: string | null
  certificate_id: number | null
  /** Of the last change of the service, its node or its domain. */
  routed_revision: number
}

const routedRevision = sql<number>`max(services.revision, nodes.revision, coalesce(domains.revision, 0))`

/** The services with these ids, in their order. Many ids come as a query: a statement holds 32,766 values at most. */
export async function readServices<DB, TB extends keyof DB>(
  db: Kysely<Database>,
  ids: SelectQueryBuilder<DB, TB, { id: number }> | readonly number[],
): Promise<ServiceRecordRow[]> {
  return await db
    .selectFrom('services')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .leftJoin('certificates', 'certificates.domain_id', 'services.domain_id')
    .selectAll('services')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .select(['domains.domain', 'certificates.id as certificate_id'])
    .select(routedRevision.as('routed_revision'))
    .where('services.id', 'in', ids)
    .orderBy('services.id')
    .execute()
}

export async function findService(db: Kysely<Database>, id: number): Promise<ServiceRecordRow | undefined> {
  const [row] = await readServices(db, [id])
  return row
}

/** A service as the API tells it. */
export function toService(context: Pick<Context, 'config' | 'edges'>, row: ServiceRecordRow): Service {
  switch (row.type) {
    case 'http':
      return toHttpService(context, row)
  }
}

export function toHttpService(
  context: Pick<Context, 'config' | 'edges'>,
  row: ServiceRecordRow,
): HttpService {
  return {
    id: row.id,
    type: 'http',
    nodeId: row.node_id,
    ...httpFormOf(row),
    enabled: row.enabled === 1,
    ssl: true,
    publicAccess: publicAccessOf(context.config, row),
    system: row.system === 1,
    state: stateOf(row, context.edges.views()),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function stateOf(row: ServiceRecordRow, edges: readonly EdgeView[]) {
  const { id, node_id: nodeId, certificate_id: certificateId, routed_revision: revision } = row
  return serviceState({ id, nodeId, certificateId, revision }, edges)
}

/** Where visitors find it; without a domain that is the public host. */
function publicAccessOf(config: ServerConfig, { domain, path }: ServiceRecordRow): string {
  const url = publicUrl(domain === null ? config : { ...config, publicHost: domain })
  return `${url}${path ?? '/'}`
}

/** The record of an HTTP service as the form that a PATCH is laid over. */
export function httpFormOf(row: ServiceRecordRow) {
  return {
    name: row.name,
    domain: row.domain,
    pathLocation: row.path ?? '/',
    backendProto: row.backend_proto ?? 'http',
    backendHost: row.backend_host,
    backendPort: row.backend_port,
    allowedIps: textsOf(row.allowed_ips),
    blockedIps: textsOf(row.blocked_ips),
  }
}
