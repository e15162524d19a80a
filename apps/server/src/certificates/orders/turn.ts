import type { Context } from '../../context.ts'
import type { OrderRow } from '../../db/schema.ts'
import { AcmeError } from '../acme/errors.ts'
import type { Accounts } from './account.ts'
import { keepCertificate, keepFailure, OrderGoneError, randomOf } from './outcome.ts'
import { beginPause, concernsAll, endPause } from './pause.ts'
import { type OrderRun, runOrder } from './run.ts'

/** The server stops: the order continues at its next start. */
export class StoppedError extends Error {
  readonly code = 'stopped'
}

export interface Next {
  row: OrderRow
  domain: string
}

/** An order while it is under way. */
export interface Turn extends Next {
  controller: AbortController
  /** Its outcome decides whether the authority takes orders again. */
  isTrying: boolean
}

/** Runs one order to its end. */
export async function takeTurn(
  context: Context,
  accounts: Accounts,
  turn: Turn,
  poke: () => void,
): Promise<void> {
  const { row, domain } = turn
  const { signal } = turn.controller
  const keep: OrderRun['keep'] = async (values) => {
    signal.throwIfAborted()
    Object.assign(row, values)
    const done = await context.db
      .updateTable('orders')
      .set({ ...values, updated_at: new Date(context.clock()).toISOString() })
      .where('id', '=', row.id)
      .executeTakeFirst()
    if (done.numUpdatedRows === 0n) throw new OrderGoneError()
    if ('step' in values) context.bus.emit({ kind: 'ordered', domains: [row.domain_id] })
  }
  const onTaken = async () => {
    turn.isTrying = false
    if (await endPause(context)) poke()
  }
  try {
    const chain = await runOrder({ context, accounts, row, domain, signal, keep, onTaken })
    const { client } = await accounts.open()
    const isInfoOffered = (await client.directory()).renewalInfo !== undefined
    await keepCertificate(context, turn, chain, isInfoOffered)
  } catch (error) {
    await endFailed(context, accounts, turn, signal.aborted ? signal.reason : error)
  }
}

async function endFailed(context: Context, accounts: Accounts, next: Next, error: unknown): Promise<void> {
  if (error instanceof StoppedError) return
  if (concernsAll(error, next.domain)) return await putBack(context, next, error)
  try {
    if (!(error instanceof OrderGoneError)) await endPause(context)
    if (error instanceof AcmeError && error.type === 'accountDoesNotExist') await accounts.forget()
    if (!(error instanceof OrderGoneError)) return await keepFailure(context, next, error)
  } catch (failure) {
    if (!(failure instanceof OrderGoneError)) throw failure
  }
  await withdraw(accounts, next).catch((err: unknown) =>
    context.log.debug({ err }, 'an unwanted order could not be ended at the authority'),
  )
}

/** Not this order's fault: it waits with all others, and continues from this step. */
async function putBack(context: Context, { row, domain }: Next, error: AcmeError): Promise<void> {
  context.log.warn({ err: error, domain }, 'the certificate authority makes all orders wait')
  await beginPause(context, error, randomOf(context))
  await context.db.updateTable('orders').set({ step: 'queued' }).where('id', '=', row.id).execute()
  context.bus.emit({ kind: 'ordered', domains: [row.domain_id] })
}

/** Tells the authority that the order of a deleted domain is given up. */
async function withdraw(accounts: Accounts, { row }: Next): Promise<void> {
  if (row.url === null) return
  const { client, account } = await accounts.open()
  const { value } = await client.readOrder(account, row.url)
  if (value.status !== 'pending') return
  for (const url of value.authorizations) await client.deactivate(account, url)
}
