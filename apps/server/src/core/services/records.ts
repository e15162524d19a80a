import type { CertificateKind } from '@postern/contract/certificates'
import type { HttpService, Service, ServiceState, TcpService } from '@postern/contract/services/services'
import { findIp } from '@postern/net/ip'
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { bracketed, publicUrl, type ServerConfig } from '../../config.ts'
import type { Context } from '../../context.ts'
import { type Flag, httpFieldsOf, type Json, tcpFieldsOf } from '../../db/columns.ts'
import type { Database, ServiceRow } from '../../db/schema.ts'
import { textsOf } from '../columns.ts'
import { edgesOf } from '../domains/edges.ts'
import { listEdgesAway } from '../edges/differences.ts'
import { muteOf } from '../mutes/mutes.ts'
import { statusOf } from '../nodes/figures.ts'
import { usesFile } from '../nodes/records.ts'
import { findServiceFault, type ServiceFault, serviceFault, withheldText } from '../publishing/rule.ts'
import { type ServiceScope, serviceState } from './state.ts'

/** A service with the fields of its node and domain that its record shows. */
export interface ServiceRecordRow extends ServiceRow {
  node_name: string
  node_is_local: Flag
  node_enabled: Flag
  node_address: string
  node_uses_file: Flag
  domain: string | null
  domain_edges: Json | null
  certificate_id: number | null
  /** The certificate that the domain has now. */
  certificate_kind: CertificateKind | null
  skip_validation: Flag | null
  /** Set where an agent publishes the service. */
  source: string | null
  source_enabled: Flag | null
  /** Why the rules now forbid it. */
  published_fault: ServiceFault | null
  /** Null without a domain. */
  shares_cookies: Flag | null
  muted: Flag
  muted_until: string | null
  /** The last change of the service, its node or its domain. */
  routed_revision: number
}

/** Whether the TLS of a port ends here for a domain with sign-in, or the console's: browsers send cookies to it. */
const sharesCookies = sql<Flag>`(services.type = 'tcp' AND services.ssl = 1 AND (
  domains.authentication = 1 OR EXISTS (
    SELECT 1 FROM services AS consoles WHERE consoles.system = 1 AND consoles.domain_id = domains.id
  )
))`

const routedRevision = sql<number>`max(services.revision, nodes.revision, coalesce(domains.revision, 0))`

export interface ServiceOrder {
  column: 'services.id' | 'services.name_folded' | 'services.created_at'
  direction: 'asc' | 'desc'
}

/** The services with these ids. Many ids are passed as a query, because a statement holds at most 32,766 values. */
export async function readServices<DB, TB extends keyof DB>(
  db: Kysely<Database>,
  ids: SelectQueryBuilder<DB, TB, { id: number }> | readonly number[],
  { column, direction }: ServiceOrder = { column: 'services.id', direction: 'asc' },
): Promise<ServiceRecordRow[]> {
  return await db
    .selectFrom('services')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .leftJoin('certificates', 'certificates.domain_id', 'services.domain_id')
    .leftJoin('publications', 'publications.service_id', 'services.id')
    .leftJoin('mutes', 'mutes.service_id', 'services.id')
    .selectAll('services')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .select([
      'nodes.name as node_name',
      'nodes.is_local as node_is_local',
      'nodes.enabled as node_enabled',
      'nodes.address as node_address',
      'domains.domain',
      'domains.edges as domain_edges',
      'certificates.id as certificate_id',
      'certificates.kind as certificate_kind',
      'domains.skip_validation',
      'publications.source',
      'publications.enabled as source_enabled',
      'mutes.until as muted_until',
    ])
    .select(sql<Flag>`(mutes.id IS NOT NULL)`.as('muted'))
    .select(usesFile.as('node_uses_file'))
    .select(sharesCookies.as('shares_cookies'))
    .select(routedRevision.as('routed_revision'))
    .select(serviceFault.as('published_fault'))
    .where('services.id', 'in', ids)
    .orderBy(column, direction)
    .orderBy('services.id', direction)
    .execute()
}

export async function findService(db: Kysely<Database>, id: number): Promise<ServiceRecordRow | undefined> {
  const [row] = await readServices(db, [id])
  return row
}

type Parts = Pick<Context, 'config' | 'edges' | 'live' | 'clock'>

/** A service in the form of the API. */
export function toService(parts: Parts, row: ServiceRecordRow): Service {
  return row.type === 'http' ? toHttpService(parts, row) : toTcpService(parts, row)
}

export function toHttpService(parts: Parts, row: ServiceRecordRow): HttpService {
  const publicAccess = httpAccessOf(parts.config, row)
  const tls = { ssl: true, selfSigned: isSelfSigned(row) }
  return { ...commonOf(parts, row), type: 'http', ...httpFormOf(row), ...tls, publicAccess }
}

export function toTcpService(parts: Parts, row: ServiceRecordRow): TcpService {
  const host = bracketed(row.domain ?? parts.config.publicHost)
  const form = tcpFormOf(row)
  const publicAccess = `${form.proto}://${host}:${form.port}`
  const selfSigned = form.ssl && isSelfSigned(row)
  return { ...commonOf(parts, row), type: 'tcp', ...form, selfSigned, publicAccess }
}

/** Without a domain it is the installation's own. */
function isSelfSigned({ certificate_kind }: ServiceRecordRow): boolean {
  return certificate_kind !== 'certbot'
}

function commonOf(parts: Parts, row: ServiceRecordRow) {
  return {
    id: row.id,
    nodeId: row.node_id,
    nodeName: row.node_name,
    enabled: row.enabled === 1,
    system: row.system === 1,
    source: row.source,
    dnsUnchecked: row.skip_validation === 1,
    state: stateOf(parts, row),
    mute: muteOf(row, parts.clock()),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function stateOf(parts: Parts, row: ServiceRecordRow): ServiceState {
  const fault = findServiceFault(row, parts.config.ownHosts)
  if (fault) return { phase: 'failed', problem: withheldText(fault, row.domain, row.node_name) }
  const state = serviceState(scopeOf(parts, row), parts.edges.views())
  if (row.shares_cookies !== 1) return state
  // Also of a service that was there before a person was asked.
  const shared = `Browsers send this port the cookies of sign-ins at ${row.domain}, so its program could act as those people`
  return { ...state, note: state.note ? `${state.note}. ${shared}` : shared }
}

/** What of a service its state depends on. */
export function scopeOf(
  { live, edges, clock }: Pick<Parts, 'live' | 'edges' | 'clock'>,
  row: ServiceRecordRow,
): ServiceScope {
  const { id, routed_revision: revision } = row
  const certificateId = row.type === 'http' || row.ssl === 1 ? row.certificate_id : null
  const figures = live.find(row.node_id)
  const enabled = row.node_enabled === 1
  const status = statusOf(enabled, figures, clock())
  const seen = { id: row.node_id, isOnline: status === 'online' }
  const node = {
    id: row.node_id,
    name: row.node_name,
    address: row.node_address,
    isLocal: row.node_is_local === 1,
    usesFile: row.node_uses_file === 1,
    enabled,
    status,
    lastSeen: figures?.latestHandshake ?? null,
    awayAt: listEdgesAway(live, edges.views(), seen, clock()).map(({ id }) => id),
  }
  const host = row.backend_host
  const isNamed = host !== null && findIp(host) === undefined
  const isOnNode = host === null
  const isUdp = row.proto === 'udp'
  const servedAt = edgesOf({ edges: row.domain_edges })
  return { id, node, isNamed, isUdp, isOnNode, certificateId, edges: servedAt, revision }
}

/** Its public address; without a domain, at the public host. */
function httpAccessOf(config: ServerConfig, { domain, path }: ServiceRecordRow): string {
  const url = publicUrl({ settings: config.settings, publicHost: domain ?? config.publicHost })
  return `${url}${path ?? '/'}`
}

/** The record of an HTTP service as the form that a PATCH is laid over. */
export function httpFormOf(row: ServiceRecordRow) {
  return { ...formOf(row), ...httpFieldsOf(row) }
}

/** The record of a TCP or UDP service as the form that a PATCH is laid over. */
export function tcpFormOf(row: ServiceRecordRow) {
  return { ...formOf(row), ...tcpFieldsOf(row) }
}

function formOf(row: ServiceRecordRow) {
  return {
    name: row.name,
    domain: row.domain,
    backendHost: row.backend_host,
    backendPort: row.backend_port,
    allowedIps: textsOf(row.allowed_ips),
    blockedIps: textsOf(row.blocked_ips),
    endsAt: row.ends_at,
  }
}
