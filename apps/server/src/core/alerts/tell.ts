import type { AlertEvent, AlertMessage } from '@postern/contract/alerts/alerts'
import type { Transaction } from 'kysely'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { among } from '../overview/overview.ts'
import { isQuiet, readQuietHours } from './quiet-hours.ts'
import { type AlertRow, isMoment, isUrgent, type Told, tellMany, tellOne, URGENT } from './told.ts'

type Tx = Transaction<Database>

const DAY = 86_400_000
/** Alerts of one turn. */
const MOST = 2000
/** More at once, or within these ten minutes, become one message, */
const MOST_SINGLE = 10
const BURST_MS = 600_000
/** and of these one comes in five minutes at most. */
const BETWEEN_MS = 300_000
/** What cannot wait comes alone all the same, with all that is known of it. More of it comes with the others. */
const MOST_ALONE = 5

/**
 * Turns what nobody was told of into messages for all channels, in the transaction that notes that they were told:
 * whatever ends the server, each is in the outbox once.
 * @returns whether there are new messages
 */
export async function tell(context: Pick<Context, 'config' | 'clock'>, tx: Tx): Promise<boolean> {
  const now = context.clock()
  const channels = await tx
    .selectFrom('alert_channels')
    .select(['id', 'name'])
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute()
  const hours = await readQuietHours({ db: tx })
  const news = await readNews(tx, now)
  await endUntold(tx, news, channels.length > 0)
  const quiet = isQuiet(hours, now)
  const due = news.flatMap((row) => {
    const event = eventOf(row, now)
    return event === undefined || (quiet && !isUrgent(row.kind)) ? [] : [{ event, row }]
  })
  if (due.length === 0 || channels.length === 0) return false
  const around = { console: publicUrl(context.config), timeZone: hours.timeZone }
  const { messages, told } = await compose(tx, around, due, now)
  if (messages.length === 0) return false
  for (const { id, name } of channels)
    await tx
      .insertInto('alert_deliveries')
      .values(
        messages.map((message) => ({
          channel_id: id,
          channel_name: name,
          event: message.event,
          message: JSON.stringify(message),
          status: 'waiting' as const,
          attempts: 0,
          due_at: now,
          at: now,
        })),
      )
      .execute()
  await noteTold(tx, told, now)
  return true
}

/** What nobody knows yet, what has ended, and what has lasted another day. What cannot wait comes first. */
async function readNews(tx: Tx, now: number): Promise<AlertRow[]> {
  return await tx
    .selectFrom('alerts')
    .selectAll()
    .where('is_over', '=', 0)
    .where((eb) =>
      eb.or([
        eb('first_told', 'is', null),
        eb('cleared_at', 'is not', null),
        eb('last_told', '<=', now - DAY),
      ]),
    )
    .orderBy((eb) => eb('kind', 'in', URGENT), 'desc')
    .orderBy('id')
    .limit(MOST)
    .execute()
}

/** Undefined where nothing is to be said: it ended before anybody was told. */
function eventOf(row: AlertRow, now: number): AlertEvent | undefined {
  if (isMoment(row.kind)) return 'happened'
  if (row.cleared_at !== null) return row.first_told === null ? undefined : 'cleared'
  if (row.first_told === null) return 'opened'
  return (row.last_told ?? 0) <= now - DAY ? 'repeated' : undefined
}

async function endUntold(tx: Tx, news: readonly AlertRow[], hasChannel: boolean): Promise<void> {
  const over = news.filter(
    (row) => row.cleared_at !== null && (!hasChannel || (row.first_told === null && !isMoment(row.kind))),
  )
  await endRows(tx, over)
}

async function endRows(tx: Tx, rows: readonly AlertRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .updateTable('alerts')
    .set({ is_over: 1 })
    .where('id', 'in', among(rows.map(({ id }) => id)))
    .execute()
}

/** @returns the messages, and what they tell: the others have to wait, because there were many a moment ago */
async function compose(
  tx: Tx,
  around: Parameters<typeof tellOne>[0],
  due: readonly Told[],
  now: number,
): Promise<{ messages: AlertMessage[]; told: readonly Told[] }> {
  // Every channel gets the same: those of one tell of all.
  const channel = tx.selectFrom('alert_channels').select('id').where('enabled', '=', 1).orderBy('id').limit(1)
  const recent = await tx
    .selectFrom('alert_deliveries')
    .select(['event', 'at'])
    .where('at', '>', now - BURST_MS)
    .where('channel_id', '=', channel)
    .orderBy('id', 'desc')
    .limit(MOST_SINGLE)
    .execute()
  const each = (some: readonly Told[]) => some.map(({ event, row }) => tellOne(around, event, row))
  if (recent.length + due.length <= MOST_SINGLE) return { messages: each(due), told: due }
  const urgent = due.filter(({ event, row }) => event !== 'cleared' && isUrgent(row.kind))
  const alone = urgent.slice(0, MOST_ALONE)
  const others = due.filter((one) => !alone.includes(one))
  const isBurst = recent.length >= MOST_SINGLE || recent.some(({ event }) => event === 'summary')
  const canWait = urgent.length === alone.length
  const isWaiting = isBurst && canWait && now - (recent[0]?.at ?? 0) < BETWEEN_MS
  if (isWaiting || others.length === 0) return { messages: each(alone), told: alone }
  const last = others.length === 1 ? each(others) : [tellMany(around, others)]
  return { messages: [...each(alone), ...last], told: due }
}

async function noteTold(tx: Tx, due: readonly Told[], now: number): Promise<void> {
  const of = (...events: AlertEvent[]) =>
    due.filter(({ event }) => events.includes(event)).map(({ row }) => row)
  const ids = (rows: readonly AlertRow[]) => among(rows.map(({ id }) => id))
  await tx
    .updateTable('alerts')
    .set({ first_told: now, last_told: now })
    .where('id', 'in', ids(of('opened', 'happened')))
    .execute()
  await tx
    .updateTable('alerts')
    .set({ last_told: now })
    .where('id', 'in', ids(of('repeated')))
    .execute()
  await endRows(tx, of('cleared', 'happened'))
}
