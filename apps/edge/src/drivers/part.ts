import { isDeepStrictEqual } from 'node:util'
import type { PartState, Problem } from '@postern/contract/edge/edge'
import { LIMITS } from '@postern/contract/limits'
import { codeOf, messageOf } from '@postern/host/errors'
import type { Logger } from 'pino'

/** The result of an apply for one part of the data plane: its state, and what it had to leave out. */
export interface PartResult {
  part: PartState
  problems: Problem[]
}

/** A part lacks the program or the right that it needs; `message` is for people. */
export class PartMissingError extends Error {
  readonly code = 'part_missing'
}

/** The part works, but is not as wanted; `message` is for people. */
export class PartFailedError extends Error {
  readonly code = 'part_failed'
}

/** What an error says, as far as a person reads it: a HAProxy that was taken over may say megabytes. */
export function wordsOf(error: unknown): string {
  return messageOf(error).slice(0, LIMITS.problemLength)
}

const NOT_PERMITTED = /operation not permitted|permission denied|must be root/i

/** @param stderr what a program said when it failed. @returns the error to throw, in words. */
export function errorFrom(what: string, stderr: string): Error {
  if (NOT_PERMITTED.test(stderr))
    return new PartMissingError(`${what} needs root or the capability CAP_NET_ADMIN.`)
  const [line = 'no reason given'] = stderr.trim().split('\n').slice(-1)
  return new PartFailedError(`${what}: ${line.slice(0, 300)}`)
}

/** Turns a part's failure into its result, so that it never stops the others. */
export async function applyPart(
  name: string,
  log: Logger,
  apply: () => Promise<PartResult>,
): Promise<PartResult & { isDiskFull?: boolean }> {
  try {
    return await apply()
  } catch (error) {
    const isMissing = ['part_missing', 'program_missing'].includes(codeOf(error))
    const isDiskFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
    const detail = isDiskFull ? DISK_FULL : wordsOf(error)
    log.debug({ err: error }, `${name} is not as wanted`)
    const message = isDiskFull ? DISK_FULL : `${name}: ${detail}`
    return {
      part: { state: isMissing ? 'missing' : 'failed', detail },
      problems: [{ scope: { kind: 'edge' }, message }],
      isDiskFull,
    }
  }
}

const DISK_FULL = "The edge's disk is full: what runs keeps running, and changes wait. Free some space there."

/**
 * Logs a part only when its state changes, not with every check.
 * @returns whether it changed
 */
export function logPart(log: Logger, name: string, before: PartState | undefined, after: PartState): boolean {
  if (isDeepStrictEqual(before, after)) return false
  if (after.state === 'ok') log.info(`${name} is as wanted: ${after.detail}`)
  else log.warn(`${name} is not as wanted: ${after.detail}`)
  return true
}
