import type { ServicePlace } from '@postern/contract/services/many'
import type { HttpServiceForm, Service, TcpServiceForm } from '@postern/contract/services/services'
import type { Transaction } from 'kysely'
import type { Touched } from '../../changes/live.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { mayReachNode } from '../access/access.ts'
import { NotFoundError, RequestError, refuseFindings } from '../errors.ts'
import { refusePublished, releaseDomains } from '../publishing/publications.ts'
import { keptHost, type ServiceForm, type ServiceNode } from './backend-host.ts'
import { http } from './http.ts'
import { findDomainId } from './public-domain.ts'
import type { ServiceRecordRow } from './records.ts'
import { findFaults, refuseConsole, type ServiceKind } from './save.ts'
import { getServiceNode, writeService } from './services.ts'
import { readSurroundings, type ServiceSurroundings } from './surroundings.ts'
import { tcp } from './tcp.ts'

interface Moved {
  updated_at: string
  touched: Touched
  /** What brings it back. */
  from: ServicePlace
}

/** A node to which services move, and what is around it: read once for all of them. */
interface Target {
  node: ServiceNode
  around: ServiceSurroundings
}

/**
 * Brings services to other nodes and domains in the change of this revision, by the rules of a form that says so.
 * @returns what moves one; it answers nothing for a service that is there already
 */
export function createMove(context: Context, tx: Transaction<Database>, revision: number) {
  const targets = new Map<number, Target>()
  const targetOf = async (id: number): Promise<Target> => {
    const known = targets.get(id)
    if (known) return known
    const node = await getServiceNode(tx, id)
    const target = { node, around: await readSurroundings(context, tx, node) }
    targets.set(id, target)
    return target
  }
  /** @throws NotFoundError, ValidationError, ConflictError */
  return async (row: ServiceRecordRow, to: ServicePlace): Promise<Moved | undefined> => {
    refuseConsole(context, row)
    refusePublished(row)
    if (row.system === 1 && to.nodeId !== undefined && to.nodeId !== row.node_id)
      throw new RequestError('The console stays where it is', 'system')
    if (to.nodeId !== undefined && !mayReachNode(context.access, to.nodeId)) throw new NotFoundError('Node')
    const target = await targetOf(to.nodeId ?? row.node_id)
    const place = { domain: row.domain, backendHost: row.backend_host, ...withoutAbsent(to) }
    const backend_host = keptHost(place, target.node)
    const isThere =
      target.node.id === row.node_id && place.domain === row.domain && backend_host === row.backend_host
    if (isThere) return undefined
    const parts = { context, db: tx, nodeId: target.node.id }
    const faults = (kind: Kind) =>
      findFaults(kind, parts, { ...kind.formOf(row), ...place }, target.node, row, target.around)
    refuseFindings(await faults(KINDS[row.type]))
    const values = { node_id: target.node.id, domain_id: await getDomainId(tx, place.domain), backend_host }
    const updated_at = await writeService(context, tx, row, revision, values)
    const domains = await releaseDomains(tx, [row.domain_id])
    return {
      updated_at,
      touched: {
        domains,
        services: [{ id: row.id, nodeId: target.node.id }],
        nodes: [row.node_id, target.node.id],
      },
      from: { nodeId: row.node_id, domain: row.domain, backendHost: row.backend_host },
    }
  }
}

type Kind = ServiceKind<ServiceForm, Service>
// Each looks only at forms of its own type, which its row makes.
const KINDS = { http, tcp } as unknown as Record<Service['type'], Kind> & {
  http: ServiceKind<HttpServiceForm, Service>
  tcp: ServiceKind<TcpServiceForm, Service>
}

function withoutAbsent({ domain, backendHost }: ServicePlace) {
  return { ...(domain !== undefined && { domain }), ...(backendHost !== undefined && { backendHost }) }
}

/** Services move only to what is there: a new domain needs a look at DNS. */
async function getDomainId(tx: Transaction<Database>, domain: string | null): Promise<number | null> {
  if (domain === null) return null
  const id = await findDomainId(tx, domain)
  if (id === undefined) throw new NotFoundError('Domain')
  return id
}
