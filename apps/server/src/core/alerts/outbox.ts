import { AlertMessage } from '@postern/contract/alerts/alerts'
import { messageOf } from '@postern/host/errors'
import { type Selectable, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { AlertDeliveriesTable } from '../../db/alert-tables.ts'
import { findOpenChannel } from './channels.ts'
import { deliver } from './deliver/deliver.ts'
import { DeliveryError } from './deliver/delivery-error.ts'
import { withoutNames } from './told.ts'

type Row = Selectable<AlertDeliveriesTable>

const DAY = 86_400_000
/** Doubling from the first to the last. */
const [FIRST_RETRY, LAST_RETRY] = [30_000, 3_600_000]
/** Of one channel in one run, so that none takes all the time. */
const MOST_IN_A_RUN = 20
const MOST_WAITING = 500

/** Sends what waits, to each channel in order, to all at the same time. Resolves when nothing more is due. */
export async function sendWaiting(context: Context, signal: AbortSignal): Promise<void> {
  const { db } = context
  const waiting = await db
    .selectFrom('alert_deliveries')
    .select('channel_id')
    .distinct()
    .where('status', '=', 'waiting')
    .execute()
  await Promise.all(
    waiting.map(({ channel_id }) => (channel_id === null ? undefined : sendTo(context, channel_id, signal))),
  )
}

async function sendTo(context: Context, channelId: number, signal: AbortSignal): Promise<void> {
  await dropExcess(context, channelId)
  for (let count = 0; count < MOST_IN_A_RUN && !signal.aborted; count++) {
    const row = await findNext(context, channelId)
    // What comes later waits for the one before it, except for what is urgent.
    if (!row || row.due_at > context.clock()) return
    if (!(await send(context, row, channelId))) return
  }
}

async function findNext({ db }: Context, channelId: number): Promise<Row | undefined> {
  return await db
    .selectFrom('alert_deliveries')
    .selectAll()
    .where('status', '=', 'waiting')
    .where('channel_id', '=', channelId)
    .orderBy(sql`json_extract(message, '$.isUrgent')`, 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** @returns whether the next one may be tried */
async function send(context: Context, row: Row, channelId: number): Promise<boolean> {
  const channel = await findOpenChannel(context, channelId)
  if (!channel) {
    await note(context, row, { status: 'failed', problem: 'The channel is turned off.' })
    return true
  }
  try {
    const message = AlertMessage.parse(JSON.parse(row.message))
    const problem = await deliverAnyhow(context, channel, message, `postern-${row.at}-${row.id}`)
    const attempts = row.attempts + 1
    await note(context, row, { status: 'sent', attempts, problem, sent_at: context.clock() })
    return true
  } catch (error) {
    await noteFailure(context, row, error)
    return false
  }
}

/**
 * Whoever names a node or a service chooses words of the message, and could hold up all later ones by some that a
 * filter refuses for good. Where even the message without them is refused, it is the channel that takes none.
 * @returns why it went without names, if it did
 * @throws DeliveryError
 */
async function deliverAnyhow(...[context, channel, message, id]: Parameters<typeof deliver>) {
  try {
    await deliver(context, channel, message, id)
    return null
  } catch (error) {
    if (!(error instanceof DeliveryError && error.isFinal)) throw error
    await deliver(context, channel, withoutNames(message), id)
    return `${error.message} So it went without names, which some filters do not like.`
  }
}

async function noteFailure(context: Context, row: Row, error: unknown): Promise<void> {
  const now = context.clock()
  const isOurs = error instanceof DeliveryError
  if (!isOurs) context.log.error({ err: error }, 'an alert could not be sent')
  const problem = isOurs
    ? messageOf(error)
    : 'The message could not be sent. The log of the server has the reason.'
  const attempts = row.attempts + 1
  const isLast = now - row.at >= DAY
  const wait = Math.min(FIRST_RETRY * 2 ** Math.min(row.attempts, 20), LAST_RETRY)
  const due_at = now + Math.max(wait, isOurs ? (error.retryAfter ?? 0) : 0)
  await note(context, row, { status: isLast ? 'failed' : 'waiting', attempts, problem, due_at })
}

type Outcome = Partial<Pick<Row, 'status' | 'attempts' | 'problem' | 'due_at' | 'sent_at'>>

async function note({ db, bus }: Context, { id }: Row, values: Outcome): Promise<void> {
  await db
    .updateTable('alert_deliveries')
    .set(values)
    .where('id', '=', id)
    .where('status', '=', 'waiting')
    .execute()
  bus.emit({ kind: 'alerts' })
}

/** The oldest go: what they say is the least true by now. */
async function dropExcess({ db }: Context, channelId: number): Promise<void> {
  const newest = db
    .selectFrom('alert_deliveries')
    .select('id')
    .where('status', '=', 'waiting')
    .where('channel_id', '=', channelId)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(MOST_WAITING)
  await db
    .updateTable('alert_deliveries')
    .set({ status: 'failed', problem: 'Too many messages were waiting for this channel.' })
    .where('status', '=', 'waiting')
    .where('channel_id', '=', channelId)
    .where('id', '<=', newest)
    .execute()
}
