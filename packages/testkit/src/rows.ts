import type { Kysely, Transaction } from 'kysely'
import { INSTALLATION } from '../../../apps/server/src/changes/actor.ts'
import { change } from '../../../apps/server/src/changes/change.ts'
import { createLiveBus } from '../../../apps/server/src/changes/live.ts'
import type { Database } from '../../../apps/server/src/db/schema.ts'

/** Writes rows straight into the tables, all in one change, as many requests would have left them; without hints. */
export function writeRows<T>(
  db: Kysely<Database>,
  work: (tx: Transaction<Database>, revision: number) => Promise<T>,
): Promise<T> {
  const bus = createLiveBus((error) => {
    throw error
  })
  const note = { actor: { ...INSTALLATION, name: 'test' }, what: 'rows written' }
  return change({ db, bus, clock: Date.now }, note, async (tx, revision) => ({
    value: await work(tx, revision),
    touched: {},
  }))
}
