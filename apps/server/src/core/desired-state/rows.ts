import type { Challenge, SignIn } from '@postern/contract/edge/desired-state'
import type { Kysely } from 'kysely'
import { selectChangedServices } from '../../changes/changed-services.ts'
import type { ServerConfig } from '../../config.ts'
import type { Database, NodeRow } from '../../db/schema.ts'
import { findServiceFault, serviceFault } from '../publishing/rule.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import { dropDeleted } from './dropped.ts'
import { NEVER, type StatedRows } from './kept-rows.ts'
import { peerOf, portRouteOf, type RoutedNode, routedNodeOf, routeOf } from './records.ts'
import { hashOf, type Mark } from './sections.ts'

export interface StatedParts {
  secrets: Pick<Secrets, 'open'>
  tunnel: Pick<Tunnel, 'address6' | 'network4' | 'network6'>
  config: Pick<ServerConfig, 'ownHosts'>
}

/**
 * Brings the rows up to date by those with a later revision, by those of services whose node or domain has one, and by
 * those of agents' services at a domain where another service came, went or changed.
 * @param tx one snapshot
 */
export async function updateStatedRows(
  tx: Kysely<Database>,
  rows: StatedRows,
  parts: StatedParts,
): Promise<void> {
  const { latest, removed } = await tx.selectFrom('revisions').selectAll().executeTakeFirstOrThrow()
  if (latest === rows.revision) return
  await readNodes(tx, rows, parts)
  await readDomains(tx, rows)
  await readCertificates(tx, rows)
  await readChallenges(tx, rows)
  const left = new Set<number | null>()
  const changed = await selectChangedServices(tx, rows.revision).execute()
  await readServices(
    tx,
    rows,
    changed.map(({ id }) => id),
    { left, parts },
  )
  if (rows.revision !== NEVER && removed > rows.revision) await dropDeleted(tx, rows, left)
  const judgedAnew = [...left].flatMap((domain) => [...(rows.published.get(domain ?? 0) ?? [])])
  await readServices(tx, rows, judgedAnew, { left, parts })
  rows.revision = latest
}

/** How many rows are read in one statement: those of a large installation are not held all at once. */
const BATCH = 500

export function* inBatches<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += BATCH) yield all.slice(start, start + BATCH)
}

async function readNodes(tx: Kysely<Database>, rows: StatedRows, parts: StatedParts): Promise<void> {
  const changed = await tx.selectFrom('nodes').select('id').where('revision', '>', rows.revision).execute()
  for (const some of inBatches(changed)) {
    const ids = some.map(({ id }) => id)
    for (const node of await tx.selectFrom('nodes').selectAll().where('id', 'in', ids).execute()) {
      rows.nodes.set(node.id, routedNodeOf(node))
      const peer = peerTextOf(node, parts)
      if (peer === undefined) rows.peers.remove(node.id)
      else rows.peers.set(node.id, peer, {})
    }
  }
}

/** Undefined for nodes that no edge gets: the local one, disabled ones, and those without a key yet. */
function peerTextOf(node: NodeRow, { secrets, tunnel }: StatedParts): string | undefined {
  const { public_key: publicKey, preshared_key: sealed } = node
  if (node.enabled === 0 || node.is_local === 1 || publicKey === null || sealed === null) return undefined
  const presharedKey = secrets.open(sealed, PLACES.node(node.id, 'preshared_key'))
  return JSON.stringify(peerOf({ ...node, publicKey, presharedKey }, tunnel.address6(node.address)))
}

async function readDomains(tx: Kysely<Database>, rows: StatedRows): Promise<void> {
  const changed = await tx
    .selectFrom('domains')
    .select(['id', 'domain', 'authentication', 'edges'])
    .where('revision', '>', rows.revision)
    .execute()
  for (const some of inBatches(changed)) {
    const members = await readEntries(tx, some)
    for (const { id, domain, authentication, edges } of some) {
      rows.domains.set(id, domain)
      if (edges === null) rows.limited.delete(id)
      else rows.limited.add(id)
      const signIn: SignIn = { id, domain, members: members.get(id) ?? [] }
      if (authentication === 0) rows.signIns.remove(id)
      else rows.signIns.set(id, JSON.stringify(signIn), { edges })
    }
  }
}

/** Domain → the ids of the entries of its list. */
async function readEntries(
  tx: Kysely<Database>,
  domains: readonly { id: number }[],
): Promise<Map<number, number[]>> {
  const ids = domains.map(({ id }) => id)
  const entries = await tx
    .selectFrom('domain_members')
    .select(['id', 'domain_id'])
    .where('domain_id', 'in', ids)
    .orderBy('id')
    .execute()
  const byDomain = Map.groupBy(entries, (entry) => entry.domain_id)
  return new Map([...byDomain].map(([domain, some]) => [domain, some.map(({ id }) => id)]))
}

/** With its name, which may have changed. The sealed key is hashed, so hashing opens none. */
async function readCertificates(tx: Kysely<Database>, rows: StatedRows): Promise<void> {
  for (const ids of inBatches(await listOfChanged(tx, 'certificates', rows.revision))) {
    const changed = await tx
      .selectFrom('certificates')
      .leftJoin('domains', 'domains.id', 'certificates.domain_id')
      .select(['certificates.id', 'domain_id', 'domain', 'edges', 'chain', 'private_key'])
      .where('certificates.id', 'in', ids)
      .execute()
    for (const { id, domain_id, domain, edges, chain, private_key } of changed) {
      rows.certificateIds.add(id)
      const mark: Mark = { edges, ...(domain_id === null && { of: 'console' }) }
      if (chain === null || private_key === null) rows.certificates.remove(id)
      else rows.certificates.set(id, hashOf([domain, chain, private_key].join(':')), mark)
    }
  }
}

/** Those that changed themselves, and those whose domain did. */
async function listOfChanged(
  tx: Kysely<Database>,
  table: 'certificates' | 'challenges',
  since: number,
): Promise<number[]> {
  const changed = tx.selectFrom('domains').select('domains.id').where('revision', '>', since)
  const rows = await tx
    .selectFrom(table)
    .select('id')
    .where((eb) => eb.or([eb('revision', '>', since), eb('domain_id', 'in', changed)]))
    .execute()
  return rows.map(({ id }) => id)
}

async function readChallenges(tx: Kysely<Database>, rows: StatedRows): Promise<void> {
  for (const ids of inBatches(await listOfChanged(tx, 'challenges', rows.revision))) {
    const changed = await tx
      .selectFrom('challenges')
      .innerJoin('domains', 'domains.id', 'challenges.domain_id')
      .select(['challenges.id', 'domain', 'edges', 'token', 'thumbprint'])
      .where('challenges.id', 'in', ids)
      .execute()
    for (const { edges, ...challenge } of changed)
      rows.challenges.set(challenge.id, JSON.stringify(challenge satisfies Challenge), { edges })
  }
}

interface Reading {
  /** Collects the domains at which something changed. */
  left: Set<number | null>
  parts: StatedParts
}

async function readServices(
  tx: Kysely<Database>,
  rows: StatedRows,
  all: readonly number[],
  { left, parts }: Reading,
): Promise<void> {
  for (const ids of inBatches(all)) {
    for (const service of await selectJudged(tx).where('services.id', 'in', ids).execute()) {
      const node = rows.nodes.get(service.node_id)
      if (!node) continue
      left.add(rows.services.get(service.id) ?? null).add(service.domain_id)
      placeService(rows, service)
      const mark = markOf(service, node)
      if (findServiceFault(service, parts.config.ownHosts) !== null) withhold(rows, service.id)
      else if (service.type === 'http')
        rows.routes.set(
          service.id,
          JSON.stringify(routeOf(service, node, service.domain, parts.tunnel)),
          mark,
        )
      else
        rows.ports.set(
          service.id,
          JSON.stringify(portRouteOf(service, node, service.domain, parts.tunnel)),
          mark,
        )
    }
  }
}

function markOf(service: { edges: string | null; system: number }, { target }: RoutedNode): Mark {
  const mark = { edges: service.edges }
  if (service.system === 1) return { ...mark, of: 'console' }
  return target.kind === 'local' ? { ...mark, of: 'local' } : mark
}

/** With the reason why the rules forbid a service that an agent publishes. */
function selectJudged(tx: Kysely<Database>) {
  return tx
    .selectFrom('services')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .leftJoin('publications', 'publications.service_id', 'services.id')
    .selectAll('services')
    .select(['domains.domain', 'domains.edges', 'publications.source', serviceFault.as('published_fault')])
}

function placeService(
  { services, published }: StatedRows,
  service: { id: number; domain_id: number | null; source: string | null },
) {
  const { id, domain_id, source } = service
  published.get(services.get(id) ?? 0)?.delete(id)
  services.set(id, domain_id)
  if (source === null || domain_id === null) return
  published.set(domain_id, (published.get(domain_id) ?? new Set()).add(id))
}

function withhold({ routes, ports }: StatedRows, id: number): void {
  routes.remove(id)
  ports.remove(id)
}
