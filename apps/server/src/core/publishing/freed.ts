import type { PortProto } from '@postern/contract/services/service-fields'
import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'

/**
 * For this time, no other node's agent gets the names and ports of a node's former services, because visitors still
 * come to them.
 */
const KEPT_MS = 86_400_000

/** Names and ports freed before this moment are available to all. */
export function keptSince(now: number): number {
  return now - KEPT_MS
}

/** The reserved names and ports, for the agent of one node at one moment. */
interface Asking {
  db: Kysely<Database>
  nodeId: number
  now: number
}

export async function isPortKept(
  { db, nodeId, now }: Asking,
  proto: PortProto,
  port: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('freed_ports')
    .select('at')
    .where('proto', '=', proto)
    .where('port', '=', port)
    .where('node_id', '!=', nodeId)
    .where('at', '>=', keptSince(now))
    .executeTakeFirst()
  return row !== undefined
}

export async function isDomainKept({ db, nodeId, now }: Asking, domain: string): Promise<boolean> {
  const row = await db
    .selectFrom('freed_domains')
    .select('at')
    .where('domain', '=', domain)
    .where('node_id', '!=', nodeId)
    .where('at', '>=', keptSince(now))
    .executeTakeFirst()
  return row !== undefined
}

/** Reserves only the newest names and ports that a node freed, up to its limits. */
export async function boundKept(
  tx: Transaction<Database>,
  nodeId: number,
  most: { domains: number; ports: number },
): Promise<void> {
  await tx
    .deleteFrom('freed_domains')
    .where('node_id', '=', nodeId)
    .where('domain', 'in', (rows) =>
      rows
        .selectFrom('freed_domains')
        .select('domain')
        .where('node_id', '=', nodeId)
        .orderBy('at', 'desc')
        .orderBy('domain')
        .limit(-1)
        .offset(most.domains),
    )
    .execute()
  await tx
    .deleteFrom('freed_ports')
    .where('node_id', '=', nodeId)
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('proto', 'port'),
        'in',
        selectFrom('freed_ports')
          .select(['proto', 'port'])
          .where('node_id', '=', nodeId)
          .orderBy('at', 'desc')
          .orderBy('port')
          .limit(-1)
          .offset(most.ports)
          .$asTuple('proto', 'port'),
      ),
    )
    .execute()
}

/** A renamed domain frees its old name, which no trigger sees: it is reserved for the node that used it last. */
export async function keepOldName(
  tx: Transaction<Database>,
  { id, from, now }: { id: number; from: string; now: number },
): Promise<void> {
  const last = await tx
    .selectFrom('services')
    .select('node_id')
    .where('domain_id', '=', id)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (!last) return
  const kept = { node_id: last.node_id, at: now }
  await tx
    .insertInto('freed_domains')
    .values({ domain: from, ...kept })
    .onConflict((there) => there.column('domain').doUpdateSet(kept))
    .execute()
}

/** Nothing is reserved for a deleted node. */
export async function forgetFreed(tx: Transaction<Database>, nodeId: number): Promise<void> {
  await tx.deleteFrom('freed_domains').where('node_id', '=', nodeId).execute()
}
