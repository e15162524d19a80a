import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { ALERT_MESSAGES } from './messages.ts'

const clock = z.string().check(z.trim(), z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, ALERT_MESSAGES.clock))

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    // It throws for every other text.
    return false
  }
}

/** When alerts wait, every day in one time zone; `to` may be earlier than `from`, on the next day. */
export const QuietHours = z
  .strictObject({
    enabled: f.withDefault(z.boolean(), false),
    from: f.withDefault(clock, '22:00'),
    to: f.withDefault(clock, '07:00'),
    timeZone: f.withDefault(
      z.string().check(z.trim(), z.maxLength(64), z.refine(isTimeZone, ALERT_MESSAGES.timeZone)),
      'UTC',
    ),
  })
  .check(
    z.refine((form) => form.from !== form.to, {
      path: ['to'],
      error: ALERT_MESSAGES.sameClock,
      ...f.together,
    }),
  )
export type QuietHours = z.infer<typeof QuietHours>
export type QuietHoursInput = z.input<typeof QuietHours>
