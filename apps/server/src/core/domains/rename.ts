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
 * What else knows a domain by its name goes over to the new one. The row itself is for the caller.
 * @returns the nodes to whose agents the new name is given by this
 */
export async function renameDomain(tx: Transaction<Database>, renaming: Renaming): Promise<number[]> {
  const { id, from, to } = renaming
  // HAProxy knows a session by its entry in the list: with new ones those of the old name open nothing here.
  await tx.deleteFrom('domain_members').where('domain_id', '=', id).execute()
  await holdRenamed(tx, from, to)
  await keepOldName(tx, renaming)
  const kept = await keepDomain(tx, renaming)
  const given = await giveRenamed(tx, renaming)
  return [...kept, ...given]
}

/** What a person disabled stays so at the new address, and at the old one, should an agent publish it there again. */
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
