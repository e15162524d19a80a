import type { Transaction } from 'kysely'
import { removeStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { liftPause } from './pause.ts'

/** From now on a domain wants a certificate of a public authority. */
export async function addOrder(tx: Transaction<Database>, domainId: number, now: number): Promise<void> {
  const at = new Date(now).toISOString()
  await tx
    .insertInto('orders')
    .values({ domain_id: domainId, step: 'queued', due_at: now, failures: 0, created_at: at, updated_at: at })
    .execute()
}

/** It no longer wants one, or is deleted: the order ends at once. */
export async function dropOrder(tx: Transaction<Database>, domainId: number): Promise<void> {
  await removeStated(tx, 'challenges', { domain_id: domainId })
  await tx.deleteFrom('orders').where('domain_id', '=', domainId).execute()
}

/** Ends the wait after a failure, starts the waits over, and ends the pause of all orders. */
export async function hastenOrder(
  context: Pick<Context, 'clock' | 'config'>,
  tx: Transaction<Database>,
  domainId: number,
): Promise<void> {
  const now = context.clock()
  await liftPause({ ...context, db: tx })
  await tx
    .updateTable('orders')
    .set({ step: 'queued', due_at: now, failures: 0, updated_at: new Date(now).toISOString() })
    .where('domain_id', '=', domainId)
    .where('step', 'is', null)
    .where('problem', 'is not', null)
    .execute()
}
