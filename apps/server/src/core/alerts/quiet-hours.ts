import { QuietHours } from '@postern/contract/alerts/quiet-hours'
import type { Actor } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { findSettings, putSettings } from '../../db/settings.ts'

const KEY = 'alerts.quiet-hours'

export async function readQuietHours({ db }: Pick<Context, 'db'>): Promise<QuietHours> {
  const stored = await findSettings(db, KEY)
  return QuietHours.parse(stored ? JSON.parse(stored[KEY]) : {})
}

export async function setQuietHours(context: Context, actor: Actor, hours: QuietHours): Promise<QuietHours> {
  await change(context, { actor, what: 'quiet hours updated' }, async (tx) => {
    const before = await readQuietHours({ db: tx })
    await putSettings(tx, { [KEY]: JSON.stringify(hours) })
    const record = { kind: 'setting', id: null, nodeId: null, domainId: null, name: 'quietHours' }
    return { value: undefined, touched: {}, records: [{ ...record, before, after: hours }] }
  })
  context.bus.emit({ kind: 'alerts' })
  return hours
}

/** By what the clock on the wall of that place shows, so that days of 23 or 25 hours need no rule of their own. */
export function isQuiet({ enabled, from, to, timeZone }: QuietHours, now: number): boolean {
  if (!enabled) return false
  const wall = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(now)
  return from < to ? from <= wall && wall < to : wall >= from || wall < to
}
