import { ORDERS } from '../../changes/actor.ts'
import { change, removeStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { OrderRow } from '../../db/schema.ts'
import type { SignedChain } from '../acme/chain.ts'
import { AcmeError } from '../acme/errors.ts'
import { storeCertificate } from '../store.ts'
import { toProblem } from './problems.ts'
import { nextTryAt, renewalAt } from './schedule.ts'

/** The order is not wanted any more. */
export class OrderGoneError extends Error {
  readonly code = 'order_gone'
}

export interface Ended {
  row: OrderRow
  domain: string
}

/** Puts a certificate into use and plans its renewal. @throws OrderGoneError */
export async function keepCertificate(
  context: Context,
  { row, domain }: Ended,
  issued: SignedChain,
  isInfoOffered: boolean,
): Promise<void> {
  const now = context.clock()
  const { issuer } = issued
  const what = `certificate of ${domain} issued by ${issuer}`
  await change(context, { actor: ORDERS, what }, async (tx, revision) => {
    const done = await tx
      .updateTable('orders')
      .set({
        ...{ step: null, url: null, private_key: null, failures: 0, problem: null },
        due_at: renewalAt(issued, now, randomOf(context)),
        info_at: isInfoOffered ? now : null,
        updated_at: new Date(now).toISOString(),
      })
      .where('id', '=', row.id)
      .executeTakeFirst()
    if (done.numUpdatedRows === 0n) throw new OrderGoneError()
    await removeStated(tx, 'challenges', { domain_id: row.domain_id })
    const stored = {
      ...context,
      kind: 'certbot' as const,
      issuer,
      issued,
      revision,
      now: new Date(now).toISOString(),
    }
    await storeCertificate(tx, { domainId: row.domain_id }, stored)
    return { value: undefined, touched: { domains: [row.domain_id] } }
  })
}

/**
 * Stores why there is none, and plans the next try. The certificate in use stays.
 * @throws OrderGoneError
 */
export async function keepFailure(context: Context, { row, domain }: Ended, error: unknown): Promise<void> {
  const problem = await toProblem(context, domain, error)
  const now = context.clock()
  const retryAfter = error instanceof AcmeError ? error.retryAfter : undefined
  const what = `certificate of ${domain} not issued`
  await change(context, { actor: ORDERS, what }, async (tx) => {
    const { failures } = await tx
      .updateTable('orders')
      .set(({ eb }) => ({
        ...{ step: null, url: null, private_key: null },
        failures: eb('failures', '+', 1),
        problem: JSON.stringify(problem),
        updated_at: new Date(now).toISOString(),
      }))
      .where('id', '=', row.id)
      .returning('failures')
      .executeTakeFirstOrThrow(() => new OrderGoneError())
    const dueAt = Math.floor(nextTryAt(now, failures, randomOf(context), retryAfter))
    await tx.updateTable('orders').set({ due_at: dueAt }).where('id', '=', row.id).execute()
    await removeStated(tx, 'challenges', { domain_id: row.domain_id })
    return { value: undefined, touched: { domains: [row.domain_id] } }
  })
}

/** From 0 to 1. */
export function randomOf({ randomBytes }: Pick<Context, 'randomBytes'>): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32
}
