import { sql, type Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { keepOldName } from '../publishing/freed.ts'
import { giveRenamed, keepDomain } from '../publishing/given.ts'

interface Renaming {
  id: number
  from: string
  to: string
  revision: number
  /** ms since the epoch. */
  now: number
}

/**
 * Moves everything that refers to a domain by its name to the new one. The caller changes the row itself.
 * @returns the nodes whose agents may use the new name because of this
 */
export async function renameDomain(tx: Transaction<Database>, renaming: Renaming): Promise<number[]> {
  const { id, from, to } = renaming
  // HAProxy checks a session's entry in the list: with new entries, sessions of the old name open nothing here.
  await tx.deleteFrom('domain_members').where('domain_id', '=', id).execute()
  await holdRenamed(tx, from, to)
  await keepOldName(tx, renaming)
  const kept = await keepDomain(tx, renaming)
  const given = await giveRenamed(tx, renaming)
  return [...kept, ...given]
}

/**
 * A publication that a person disabled stays disabled at the new address, and at the old one if an agent publishes it
 * there again.
 */
async function holdRenamed(tx: Transaction<Database>, from: string, to: string): Promise<void> {
  await tx
    .insertInto('held_addresses')
    .columns(['node_id', 'address'])
    .expression((eb) =>
      eb
        .selectFrom('held_addresses')
        .select(['node_id', sql<string>`${to} || substr(address, ${from.length + 1})`.as('address')])
        .where(sql<string>`substr(address, 1, ${from.length + 1})`, '=', `${from}/`),
    )
    .onConflict((there) => there.doNothing())
    .execute()
}
