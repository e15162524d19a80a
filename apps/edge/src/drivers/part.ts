import type { PartState, Problem } from '@postern/contract/edge'

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
