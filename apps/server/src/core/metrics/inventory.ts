import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { CertificateState } from '../../certificates/describe.ts'
import { getRevision } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { type Labels, labelsOf } from './family.ts'

/** What there is to be measured. */
export interface Inventory {
  services: readonly KnownService[]
  nodes: readonly KnownNode[]
  certificates: readonly KnownCertificate[]
}

export interface KnownService {
  id: number
  nodeId: number
  kind: 'http' | 'tcp' | 'udp'
  enabled: boolean
  labels: Labels
  /** With what else is known of it. */
  info: Labels
}

export interface KnownNode {
  id: number
  isLocal: boolean
  enabled: boolean
  labels: Labels
  info: Labels
}

export interface KnownCertificate {
  /** Null for the installation's own. */
  domainId: number | null
  ssl: CertificateState['ssl']
  held: NonNullable<CertificateState['held']>
  labels: Labels
}

/** Read anew only after a change: between two, every scrape finds the same. */
export function createInventory({ db, config }: Pick<Context, 'db' | 'config'>): () => Promise<Inventory> {
  let known: { revision: number; inventory: Inventory } | undefined
  return async () => {
    // Before the rows, so that a change in between is read the next time.
    const revision = await getRevision(db)
    if (known?.revision === revision) return known.inventory
    const inventory = {
      services: await readServices(db),
      nodes: await readNodes(db),
      certificates: await readCertificates(db, config.publicHost),
    }
    known = { revision, inventory }
    return inventory
  }
}

/** Rows of one statement: it takes some milliseconds, in which the server does nothing else. */
const AT_ONCE = 1000

/** Makes something of all rows, by their ids, a part at a time. */
export async function readInParts<R extends { id: number }, T>(
  read: (after: number, limit: number) => Promise<readonly R[]>,
  make: (row: R) => T,
): Promise<T[]> {
  const all: T[] = []
  for (let after = -1; ; ) {
    const rows = await read(after, AT_ONCE)
    for (const row of rows) all.push(make(row))
    const last = rows.at(-1)
    if (!last || rows.length < AT_ONCE) return all
    after = last.id
    await setImmediate()
  }
}

async function readServices(db: Kysely<Database>): Promise<KnownService[]> {
  return await readInParts(
    (after, limit) =>
      db
        .selectFrom('services')
        .innerJoin('nodes', 'nodes.id', 'services.node_id')
        .leftJoin('domains', 'domains.id', 'services.domain_id')
        .select(['services.id', 'services.name', 'services.type', 'services.proto', 'services.enabled'])
        .select(['node_id', 'nodes.name as node', 'domain'])
        .where('services.id', '>', after)
        .orderBy('services.id')
        .limit(limit)
        .execute(),
    ({ id, name, type, proto, node_id, node, domain, enabled }): KnownService => {
      const kind = type === 'http' ? 'http' : proto === 'udp' ? 'udp' : 'tcp'
      const own = { service_id: id, service: name, node }
      return {
        id,
        nodeId: node_id,
        kind,
        enabled: enabled === 1,
        labels: labelsOf(own),
        info: labelsOf({ ...own, type: kind, domain }),
      }
    },
  )
}

async function readNodes(db: Kysely<Database>): Promise<KnownNode[]> {
  return await readInParts(
    (after, limit) =>
      db
        .selectFrom('nodes')
        .select(['id', 'name', 'is_local', 'is_gateway', 'enabled'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute(),
    ({ id, name, is_local, is_gateway, enabled }): KnownNode => {
      const own = { node_id: id, node: name }
      const type = is_local === 1 ? 'local' : is_gateway === 1 ? 'gateway' : 'node'
      const isLocal = is_local === 1
      return {
        id,
        isLocal,
        enabled: enabled === 1,
        labels: labelsOf(own),
        info: labelsOf({ ...own, type }),
      }
    },
  )
}

/** The rows are large, so only what is needed of them is read. */
async function readCertificates(db: Kysely<Database>, publicHost: string): Promise<KnownCertificate[]> {
  return await readInParts(
    (after, limit) =>
      db
        .selectFrom('certificates')
        .leftJoin('domains', 'domains.id', 'certificates.domain_id')
        .select(['certificates.id', 'domain_id', 'domain', 'ssl', 'status', 'kind', 'issuer'])
        .select(['not_before', 'not_after', 'error', 'certificates.updated_at'])
        .where('certificates.id', '>', after)
        .orderBy('certificates.id')
        .limit(limit)
        .execute(),
    ({ domain_id, domain, ssl, ...held }): KnownCertificate => ({
      domainId: domain_id,
      ssl,
      held,
      labels: labelsOf({ domain: domain ?? publicHost }),
    }),
  )
}
