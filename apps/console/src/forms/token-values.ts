import { blankable, instant, name } from '@postern/contract/fields'
import { MESSAGES } from '@postern/contract/messages'
import type { PatForm } from '@postern/contract/pats'
import * as z from 'zod/mini'
import { endOfDay, findDay, today } from '../util/days.ts'

const FORMAT = `${MESSAGES.date}, written MM/dd/yyyy`

/** A typed day, converted to the moment when it ends in this time zone. */
export const lastDay = z.pipe(
  z.string().check(
    z.trim(),
    z.refine((text) => findDay(text) !== undefined, { error: FORMAT, abort: true }),
    z.refine((text) => (findDay(text) ?? '') >= today(), MESSAGES.pastDate),
  ),
  z.pipe(
    z.transform((text: string) => endOfDay(findDay(text) ?? today()).toISOString()),
    instant,
  ),
)

/** The form of a token; the output is the server's input. */
export const TokenFormSchema = z.strictObject({ name, expireAt: blankable(lastDay) })
export type TokenFormInput = z.input<typeof TokenFormSchema>

export const NEW_TOKEN = { name: '', expireAt: '' } satisfies TokenFormInput & Record<keyof PatForm, string>
