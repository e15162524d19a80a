import { isDeepStrictEqual } from 'node:util'
import type { PartState, Problem } from '@postern/contract/edge'
import { codeOf, messageOf } from '@postern/host/errors'
import type { Logger } from 'pino'

/** What one part of the data plane says after an apply: whether it stands, and what it had to leave out. */
export interface PartResult {
  part: PartState
  problems: Problem[]
}

/** The program or the right that a part needs is not there; `message` is for people. */
export class PartMissingError extends Error {
  readonly code = 'part_missing'
}

/** The part is there and is not as wanted; `message` is for people. */
export class PartFailedError extends Error {
  readonly code = 'part_failed'
}

const NOT_PERMITTED = /operation not permitted|permission denied|must be root/i

/** @param stderr what a program said when it failed. @returns the error to throw, in words. */
export function errorFrom(what: string, stderr: string): Error {
  if (NOT_PERMITTED.test(stderr))
    return new PartMissingError(`${what} needs root or the capability CAP_NET_ADMIN.`)
  const [line = 'no reason given'] = stderr.trim().split('\n').slice(-1)
  return new PartFailedError(`${what}: ${line.slice(0, 300)}`)
}

/** A part that fails never keeps the others from being made right: its failure is its result. */
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
    const detail = isDiskFull ? DISK_FULL : messageOf(error)
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

/** A part that comes and goes is logged once each time, not with every check. @returns whether it differs */
export function logPart(log: Logger, name: string, before: PartState | undefined, after: PartState): boolean {
  if (isDeepStrictEqual(before, after)) return false
  if (after.state === 'ok') log.info(`${name} is as wanted: ${after.detail}`)
  else log.warn(`${name} is not as wanted: ${after.detail}`)
  return true
}
