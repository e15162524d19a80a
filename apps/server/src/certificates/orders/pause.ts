import { CertificateProblem } from '@postern/contract/certificates'
import * as z from 'zod/mini'
import type { Context } from '../../context.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { AcmeError } from '../acme/errors.ts'
import { codeOf } from './problems.ts'
import { nextTryAt } from './schedule.ts'

const DAY = 86_400_000

/** Why no order may ask the authority for anything new, and until when. */
export interface Pause {
  /** ms since the epoch. */
  until: number
  problem: CertificateProblem
}

/** Which orders the authority takes: any; none; or one, as a test whether the pause is over. */
export type Intake = { kind: 'open' } | { kind: 'paused'; pause: Pause } | { kind: 'trying' }

const Kept = z.object({ until: z.number(), times: z.number(), problem: CertificateProblem })

type Source = Pick<Context, 'db' | 'clock' | 'config'>

const keyOf = ({ config }: Pick<Context, 'config'>) => `acme.pause ${config.settings.POSTERN_ACME_DIRECTORY}`

async function findKept(source: Source): Promise<z.infer<typeof Kept> | undefined> {
  const key = keyOf(source)
  const kept = (await findSettings(source.db, key))?.[key]
  return kept === undefined ? undefined : Kept.parse(JSON.parse(kept))
}

export async function readIntake(source: Source): Promise<Intake> {
  const kept = await findKept(source)
  if (!kept) return { kind: 'open' }
  const left = kept.until - source.clock()
  // One of more than a day is from before the clock was set back.
  return left > 0 && left <= DAY ? { kind: 'paused', pause: kept } : { kind: 'trying' }
}

/** The present pause. */
export async function findPause(source: Source): Promise<Pause | undefined> {
  const intake = await readIntake(source)
  return intake.kind === 'paused' ? intake.pause : undefined
}

/** As long as the authority asks for, at least a minute, longer each time in a row, and at most a day. */
export async function beginPause(source: Source, error: AcmeError, random: number): Promise<void> {
  const [now, kept] = [source.clock(), await findKept(source)]
  const isInForce = (await findPause(source)) !== undefined
  const times = (kept?.times ?? 0) + (isInForce ? 0 : 1)
  const asked = Math.floor(Math.min(nextTryAt(now, times, random, error.retryAfter), now + DAY))
  const until = isInForce ? Math.max(kept?.until ?? 0, asked) : asked
  const problem: CertificateProblem = {
    ...{ code: codeOf(error), detail: error.message, found: [], expected: [] },
    at: new Date(now).toISOString(),
  }
  await putSettings(source.db, { [keyOf(source)]: JSON.stringify({ until, times, problem }) })
}

/** Call it when the authority takes orders again. Orders from before the pause prove nothing. */
export async function endPause(source: Source): Promise<boolean> {
  if ((await readIntake(source)).kind !== 'trying') return false
  await source.db.deleteFrom('settings').where('key', '=', keyOf(source)).execute()
  return true
}

/** Call it when a person does not want to wait: the next order tries. */
export async function liftPause(source: Source): Promise<void> {
  const kept = await findKept(source)
  if (kept) await putSettings(source.db, { [keyOf(source)]: JSON.stringify({ ...kept, until: 0 }) })
}

/** Whether the authority would refuse orders for other names for the same reason. */
export function concernsAll(error: unknown, domain: string): error is AcmeError {
  if (!(error instanceof AcmeError)) return false
  if (error.status === 503) return error.retryAfter !== undefined
  return (error.status === 429 || error.type === 'rateLimited') && !isAboutName(error, domain)
}

/** No field says so for every limit, so the text of the problem counts too. */
function isAboutName({ message, identifiers }: AcmeError, domain: string): boolean {
  if (identifiers.length > 0 || /\bexact set of\b/i.test(message)) return true
  const words =
    message
      .toLowerCase()
      .replace(/https?:\S+/g, '')
      .match(/[a-z0-9.-]+/g) ?? []
  const named = new Set(words.map((word) => word.replace(/[.-]+$/, '')))
  return [...namesAbove(domain)].some((name) => named.has(name))
}

/** The domain itself and its parents, except the top-level domain. */
function* namesAbove(domain: string): Iterable<string> {
  const labels = domain.split('.')
  for (let start = 0; start < labels.length - 1; start++) yield labels.slice(start).join('.')
}
