import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import type { PortProto } from '@postern/contract/services/service-fields'
import type { TcpService, TcpServiceForm } from '@postern/contract/services/services'
import { isServicePort, type Settings } from '@postern/contract/settings/settings'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { isAdminInPerson } from '../access/access.ts'
import { findUsedName } from '../domains/used-names.ts'
import { type Findings, quoted } from '../errors.ts'
import { keptSince } from '../publishing/freed.ts'
import { findConsoleDomain, hasSignIn } from './http.ts'
import { type ServiceRecordRow, tcpFormOf, toTcpService } from './records.ts'
import type { Parts, ServiceKind } from './save.ts'

/** TCP and UDP services are identified by their public port, which they keep while they are disabled. */
export const tcp: ServiceKind<TcpServiceForm, TcpService> = {
  type: 'tcp',
  formOf: tcpFormOf,
  toRecord: toTcpService,
  async find({ context, db, nodeId, isForAgent = false }, form, before) {
    const { proto, port } = form
    const { invalid, taken } = await findPortProblems(
      { ...aroundOf(context, proto), db, nodeId, proto, before },
      port,
      isForAgent,
    )
    return { invalid: [...invalid, ...(await findSharedCookies(context, db, form, before))], taken }
  },
  async columnsOf({ context, db, nodeId }, { proto, port, ssl }, before) {
    const found = port ?? (await findPort({ ...aroundOf(context, proto), db, nodeId, proto, before }))
    return { proto, port: found ?? null, ssl: flag(ssl) }
  },
}

/**
 * Browsers send a host's cookies to all of its ports; without a domain that host is the public one. An existing
 * service needs no new confirmation.
 */
async function findSharedCookies(
  { access, config }: Context,
  db: Kysely<Database>,
  { domain, ssl, confirmSharedCookies }: Partial<TcpServiceForm>,
  before: ServiceRecordRow | undefined,
): Promise<FieldError[]> {
  const isAdmin = isAdminInPerson(access)
  if (domain === undefined || ssl !== true || (confirmSharedCookies && isAdmin)) return []
  if (before?.ssl === 1 && before.domain === domain) return []
  const host = domain ?? config.publicHost
  const wasConsoles = (await findUsedName(db, { domain: host, isConsole: false })).length > 0
  const isConsoles = wasConsoles || config.ownHosts.includes(host) || host === (await findConsoleDomain(db))
  if (isConsoles && !isAdmin) return [{ field: 'domain', message: MESSAGES.consolesName }]
  if (confirmSharedCookies || !(isConsoles || (await hasSignIn(db, host)))) return []
  return [{ field: 'domain', message: MESSAGES.sharedCookies }]
}

interface Around<P extends PortProto | undefined> {
  db: Kysely<Database>
  nodeId: number
  settings: Settings
  /** Ports that other programs on the edges' machines hold, by the edges' last reports. */
  held: ReadonlySet<number>
  proto: P
  before: ServiceRecordRow | undefined
  /** Ports that another node has had since this time are only for people; in ms since the epoch. */
  since?: number
}

function aroundOf({ config, edges }: Pick<Context, 'config' | 'edges'>, proto: PortProto | undefined) {
  const held = proto ? edges.views().flatMap((edge) => edge.held[proto]) : []
  return { settings: config.settings, held: new Set(held) }
}

/** @param port undefined: it cannot be parsed; null: any will do */
async function findPortProblems(
  around: Around<PortProto | undefined>,
  port: number | null | undefined,
  isForAgent: boolean,
): Promise<Findings> {
  const { db, nodeId, settings, proto, before } = around
  const { from, to } = settings.POSTERN_PORT_RANGE
  const invalid = (message: string) => ({ invalid: [{ field: 'port', message }], taken: [] })
  const taken = (message: string) => ({ invalid: [], taken: [{ field: 'port', message }] })
  if (port !== undefined && port !== null && !isServicePort(settings, port))
    return invalid(
      port < from || port > to ? `must be a port from ${from} to ${to}` : 'belongs to Postern itself',
    )
  if (port === undefined || proto === undefined) return { invalid: [], taken: [] }
  if (port !== null) {
    const holder = await findHolder(db, proto, port)
    if (!holder || holder.id === before?.id) return { invalid: [], taken: [] }
    const isHidden = isForAgent && holder.node_id !== nodeId
    const owner = isHidden ? 'a service of another node' : quoted(holder.name)
    return taken(`${proto} port ${port} already belongs to ${owner}`)
  }
  if ((await findPort({ ...around, proto })) !== undefined) return { invalid: [], taken: [] }
  return taken(
    `All ${proto} ports from ${from} to ${to} are taken: delete a service, or widen POSTERN_PORT_RANGE`,
  )
}

async function findHolder(db: Kysely<Database>, proto: PortProto, port: number) {
  return await db
    .selectFrom('services')
    .select(['id', 'name', 'node_id'])
    .where('type', '=', 'tcp')
    .where('proto', '=', proto)
    .where('port', '=', port)
    .executeTakeFirst()
}

/** For a service whose form leaves the port to the server: its present port, else the lowest free one. */
async function findPort(around: Around<PortProto>): Promise<number | undefined> {
  const { before } = around
  const ports = await readFreePorts(around)
  return before?.port && ports.isFree(before.port) ? before.port : ports.next()
}

/** The ports of one protocol, within one transaction. */
export interface FreePorts {
  isFree(port: number): boolean
  take(port: number): void
  /** The lowest free port that no other program holds; those that another node had come last. */
  next(): number | undefined
}

/** @param before the service that may keep its port */
async function readFreePorts({
  db,
  nodeId,
  settings,
  held,
  proto,
  before,
  since = Number.POSITIVE_INFINITY,
}: Around<PortProto>): Promise<FreePorts> {
  const { from, to } = settings.POSTERN_PORT_RANGE
  const others = await db
    .selectFrom('services')
    .select('port')
    .where('type', '=', 'tcp')
    .where('proto', '=', proto)
    .where('id', '!=', before?.id ?? 0)
    .where('port', '>=', from)
    .where('port', '<=', to)
    .execute()
  const used = new Set(others.map(({ port }) => port))
  const isFree = (port: number) => isServicePort(settings, port) && !used.has(port)
  // Clients of the former service still send to it.
  const left = await listLeft(db, proto, nodeId)
  const elsewhere = new Set(left.map(({ port }) => port))
  let lowest = from
  return {
    isFree,
    take: (port) => void used.add(port),
    next() {
      const isFit = (port: number) => isFree(port) && !held.has(port)
      for (; lowest <= to; lowest++) if (isFit(lowest) && !elsewhere.has(lowest)) return lowest
      return left.find(({ port, at }) => at < since && isFit(port))?.port
    },
  }
}

/** Ports last used by services of other nodes, least recently used first. */
async function listLeft(db: Kysely<Database>, proto: PortProto, nodeId: number) {
  return await db
    .selectFrom('freed_ports')
    .select(['port', 'at'])
    .where('proto', '=', proto)
    .where('node_id', '!=', nodeId)
    .orderBy('at')
    .orderBy('port')
    .execute()
}

/** Shared by several services of an agent. */
export async function listFreePorts({ context, db, nodeId }: Parts, proto: PortProto): Promise<FreePorts> {
  const since = keptSince(context.clock())
  return await readFreePorts({ ...aroundOf(context, proto), db, nodeId, proto, before: undefined, since })
}
