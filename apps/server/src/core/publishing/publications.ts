import { titleOfSource } from '@postern/contract/services/publishing'
import type { Kysely, Transaction } from 'kysely'
import { removeStated } from '../../changes/change.ts'
import type { ServiceRef } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import { deleteDomain } from '../domains/domains.ts'
import { ConflictError, quoted } from '../errors.ts'
import type { NodeToken } from '../nodes/token-check.ts'
import { readServices, type ServiceRecordRow } from '../services/records.ts'
import { addressOf, holdAddress } from './held.ts'

/** The stored publication of one service of a source. */
export interface Known {
  /** Null while the source does not publish it. */
  service: ServiceRecordRow | null
  /** As the source wants it. */
  enabled: boolean
  /** Whether a person disabled it. */
  held: boolean
}

/** All publications of one source of a node, by key. */
export async function readPublications(
  db: Kysely<Database>,
  nodeId: number,
  source: string,
): Promise<Map<string, Known>> {
  const own = db.selectFrom('publications').where('node_id', '=', nodeId).where('source', '=', source)
  const ids = own.select('service_id as id').where('service_id', 'is not', null).$narrowType<{ id: number }>()
  const rows = await own.select(['key', 'service_id', 'enabled', 'held']).orderBy('key').execute()
  const services = new Map((await readServices(db, ids)).map((row) => [row.id, row]))
  return new Map(
    rows.map(({ key, service_id, enabled, held }) => {
      const service = service_id === null ? null : (services.get(service_id) ?? null)
      return [key, { service, enabled: enabled === 1, held: held === 1 }]
    }),
  )
}

/** @throws ConflictError for a service that an agent publishes: the agent would soon undo a person's change */
export function refusePublished({ source, node_name }: ServiceRecordRow): void {
  if (source !== null)
    throw new ConflictError(
      `This service comes from ${whereOf(source, node_name)}: change it there`,
      [],
      'published',
    )
}

/**
 * Stores that a person disabled or enabled it.
 * @throws ConflictError for one that its source disabled
 */
export async function holdPublication(
  tx: Transaction<Database>,
  row: ServiceRecordRow,
  enabled: boolean,
): Promise<void> {
  const { id, source, source_enabled, node_name } = row
  if (source === null) return
  if (enabled && source_enabled === 0)
    throw new ConflictError(`${whereOf(source, node_name)} disabled it: enable it there`, [], 'published')
  await tx
    .updateTable('publications')
    .set({ held: enabled ? 0 : 1 })
    .where('service_id', '=', id)
    .execute()
  await holdAddress(tx, row.node_id, addressOf(row), !enabled)
}

function whereOf(source: string, nodeName: string): string {
  return `${titleOfSource(source)} on ${quoted(nodeName)}`
}

/** A person's *Disable* outlives the service, in case it comes back. */
export async function detachPublication(tx: Transaction<Database>, serviceId: number): Promise<void> {
  await tx.deleteFrom('publications').where('service_id', '=', serviceId).where('held', '=', 0).execute()
  await tx.updateTable('publications').set({ service_id: null }).where('service_id', '=', serviceId).execute()
}

/**
 * Removes those of the domains that were made for a source and are no longer used, whosever the last service was: what
 * stays would be the next agent's, without a look at its DNS.
 * @returns their ids
 */
export async function releaseDomains(
  tx: Transaction<Database>,
  ids: Iterable<number | null>,
): Promise<number[]> {
  const gone: number[] = []
  for (const id of new Set(ids)) {
    if (id === null || !(await isReleased(tx, id))) continue
    await deleteDomain(tx, id)
    gone.push(id)
  }
  return gone
}

async function isReleased(tx: Transaction<Database>, id: number): Promise<boolean> {
  const free = await tx
    .selectFrom('published_domains')
    .select('domain_id')
    .where('domain_id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('services').select('services.id').where('services.domain_id', '=', id))),
    )
    .executeTakeFirst()
  return free !== undefined
}

/** The rows that were removed. */
export interface Gone {
  services: ServiceRef[]
  domains: number[]
}

export const NOTHING_GONE: Gone = { services: [], domains: [] }

/** Deletes what the agent of a node published: all of it, or what was last published with one token. */
export async function withdrawAll(
  tx: Transaction<Database>,
  nodeId: number,
  tokenId?: number,
): Promise<Gone> {
  const rows = await tx
    .selectFrom('publications')
    .select('service_id')
    .where('node_id', '=', nodeId)
    .$if(tokenId !== undefined, (query) => query.where('token_id', '=', tokenId ?? 0))
    .where('service_id', 'is not', null)
    .$narrowType<{ service_id: number }>()
    .orderBy('service_id')
    .execute()
  return await withdrawThese(
    tx,
    nodeId,
    rows.map((row) => row.service_id),
  )
}

/** Stores the token with which a source last published, even if its set is unchanged. */
export async function noteToken(
  db: Kysely<Database>,
  { nodeId, tokenId }: NodeToken,
  source: string,
): Promise<void> {
  await db
    .updateTable('publications')
    .set({ token_id: tokenId })
    .where('node_id', '=', nodeId)
    .where('source', '=', source)
    .where('token_id', 'is not', tokenId)
    .execute()
}

/** Removes some of the services that a node's agent published. */
export async function withdrawThese(
  tx: Transaction<Database>,
  nodeId: number,
  ids: readonly number[],
): Promise<Gone> {
  const rows = await tx
    .selectFrom('services')
    .select(['id', 'domain_id'])
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
  for (const { id } of rows) {
    await detachPublication(tx, id)
    await removeStated(tx, 'services', { id })
  }
  const domains = await releaseDomains(
    tx,
    rows.map((row) => row.domain_id),
  )
  return { services: rows.map(({ id }) => ({ id, nodeId })), domains }
}

/** Removes the publications of a node that is deleted. */
export async function forgetPublications(tx: Transaction<Database>, nodeId: number): Promise<void> {
  await tx.deleteFrom('publications').where('node_id', '=', nodeId).execute()
  await tx.deleteFrom('held_addresses').where('node_id', '=', nodeId).execute()
}
