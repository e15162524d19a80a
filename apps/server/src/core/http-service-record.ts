import type { HttpService } from '@postern/contract/services'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import * as z from 'zod/mini'
import type { ServerConfig } from '../config.ts'
import { publicUrl } from '../config.ts'
import type { Context } from '../context.ts'
import type { Database, ServiceRow } from '../db/schema.ts'
import { type EdgeView, serviceState } from './service-state.ts'

/** A service with what its record says of its domain. */
export interface ServiceRecordRow extends ServiceRow {
  domain: string | null
  certificate_id: number | null
}

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
    .select(['domains.domain', 'certificates.id as certificate_id'])
    .where('services.id', 'in', ids)
    .orderBy('services.id')
    .execute()
}

export async function findService(db: Kysely<Database>, id: number): Promise<ServiceRecordRow | undefined> {
  const [row] = await readServices(db, [id])
  return row
}

const Texts = z.array(z.string())

/** A list of texts as its column holds it. */
export function textsOf(json: string): string[] {
  return json === '[]' ? [] : Texts.parse(JSON.parse(json))
}

export function toHttpService(
  context: Pick<Context, 'config' | 'edges'>,
  row: ServiceRecordRow,
): HttpService {
  return {
    id: row.id,
    nodeId: row.node_id,
    ...formOf(row),
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
  const { id, node_id: nodeId, certificate_id: certificateId, revision } = row
  return serviceState({ id, nodeId, certificateId, revision }, edges)
}

/** Where visitors find it; without a domain that is the public host. */
function publicAccessOf(config: ServerConfig, { domain, path }: ServiceRecordRow): string {
  const url = publicUrl(domain === null ? config : { ...config, publicHost: domain })
  return `${url}${path}`
}

/** The record as the form that a PATCH is laid over. */
export function formOf(row: ServiceRecordRow) {
  return {
    name: row.name,
    domain: row.domain,
    pathLocation: row.path,
    backendProto: row.backend_proto,
    backendHost: row.backend_host,
    backendPort: row.backend_port,
    allowedIps: textsOf(row.allowed_ips),
    blockedIps: textsOf(row.blocked_ips),
  }
}
