import type { Context } from '../../context.ts'
import { renewalId } from '../acme/chain.ts'
import type { Accounts } from './account.ts'
import { randomOf } from './outcome.ts'
import { renewalInWindow } from './schedule.ts'

const HOUR = 3_600_000
/** Between two questions, whatever the authority asks for. */
const [LEAST, USUAL, MOST] = [60_000, 6 * HOUR, 24 * HOUR]
const BATCH = 20

/**
 * For certificates that are due to be asked about, asks the authority when to renew them (RFC 9773).
 * @returns how many
 */
export async function askRenewalInfo(context: Context, accounts: Accounts): Promise<number> {
  const due = await context.db
    .selectFrom('orders')
    .innerJoin('certificates', 'certificates.domain_id', 'orders.domain_id')
    .select(['orders.id', 'due_at', 'chain', 'not_before', 'not_after', 'certificates.updated_at'])
    .where('info_at', '<=', context.clock())
    .where('step', 'is', null)
    .where('kind', '=', 'certbot')
    .orderBy('info_at')
    .orderBy('orders.id')
    .limit(BATCH)
    .execute()
  await Promise.all(
    due.map(async (row) => {
      const planned = await plan(context, accounts, row).catch((err: unknown) => {
        context.log.warn({ err }, 'a certificate authority did not say when to renew')
        return { info_at: context.clock() + USUAL }
      })
      await context.db
        .updateTable('orders')
        .set(planned)
        .where('id', '=', row.id)
        .where('step', 'is', null)
        .execute()
    }),
  )
  return due.length
}

interface Held {
  due_at: number
  chain: string | null
  not_before: string | null
  not_after: string | null
  /** The certificate's own. */
  updated_at: string
}

async function plan(
  context: Context,
  accounts: Accounts,
  { due_at, chain, not_before, not_after, updated_at }: Held,
) {
  const id = chain === null ? undefined : await renewalId(chain)
  const { client } = await accounts.open()
  const looked = id === undefined ? undefined : await client.readRenewalInfo(id)
  if (!looked) return { info_at: null }
  const life = { notBefore: new Date(not_before ?? ''), notAfter: new Date(not_after ?? '') }
  const wait = Math.min(Math.max(looked.retryAfter ?? USUAL, LEAST), MOST)
  return {
    due_at: renewalInWindow(looked.value, life, {
      planned: due_at,
      issued: Date.parse(updated_at),
      random: randomOf(context),
    }),
    info_at: context.clock() + wait,
  }
}
