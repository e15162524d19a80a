import type { PartState } from '@postern/contract/edge/edge'
import { ProgramMissingError } from '@postern/host/processes/exec'
import { PartFailedError, wordsOf } from '../../part.ts'
import { HaproxySocketError } from '../runtime/socket.ts'
import { HaproxyStartError } from './process.ts'
import { describeRunning } from './program.ts'
import type { RunningHaproxy } from './running.ts'

/** The known state of HAProxy, and when a failed start may be tried again. */
export interface Health {
  state(): PartState
  /** It runs as wanted. */
  succeeded(running: RunningHaproxy): PartState
  /** It answers; a problem from an apply stays until an apply has none. */
  answered(running: RunningHaproxy): PartState
  /** @throws errors that are not about HAProxy */
  failed(error: unknown): PartState
  mayStart(): boolean
}

const LONGEST_PAUSE = 5_000

/** @param newest see `describeRunning` */
export function createHealth(newest: string): Health {
  const okState = ({ version }: RunningHaproxy): PartState => ({
    state: 'ok',
    detail: describeRunning(version, newest),
  })
  let state: PartState = { state: 'failed', detail: 'HAProxy has not been started yet' }
  let isTroubled = false
  let pause = 0
  let nextStart = 0
  return {
    state: () => state,
    succeeded(running) {
      isTroubled = false
      pause = 0
      state = okState(running)
      return state
    },
    answered(running) {
      if (!isTroubled) state = okState(running)
      return state
    },
    failed(error) {
      state = failedState(error)
      isTroubled = true
      pause = Math.min(LONGEST_PAUSE, pause + 1_000)
      nextStart = Date.now() + pause
      return state
    },
    mayStart: () => Date.now() >= nextStart,
  }
}

function failedState(error: unknown): PartState {
  if (error instanceof ProgramMissingError) return { state: 'missing', detail: 'HAProxy is not installed' }
  if (
    error instanceof HaproxyStartError ||
    error instanceof HaproxySocketError ||
    error instanceof PartFailedError
  )
    return { state: 'failed', detail: wordsOf(error) }
  throw error
}
