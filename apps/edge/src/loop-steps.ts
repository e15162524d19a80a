import type { DataPlane, PartState } from '@postern/contract/edge'
import type { Logger } from 'pino'
import { type HeldState, mergeState, StateError } from './held-state.ts'
import { assertKnown } from './known-server.ts'
import type { LoopOptions, Memory } from './loop-memory.ts'
import { reconcile } from './reconcile.ts'
import { parseStateAnswer } from './state-answer.ts'

/** Takes up the state of the last run, when it is still one for this edge. */
export async function recall(options: LoopOptions, memory: Memory): Promise<void> {
  try {
    const state = await memory.lastGood.find()
    if (state) assertOurs(options, state)
    memory.state = state
  } catch (err) {
    options.log.warn({ err }, 'the state of the last run cannot be used')
  }
  memory.wanted = memory.state?.revision ?? 0
  if (memory.state) options.onState(memory.state)
}

function assertOurs({ settings, observeMachine }: LoopOptions, state: HeldState): void {
  assertKnown(state, { settings, ownNetworks: observeMachine().ownNetworks })
}

/** Asks the server for what differs. @throws when it does not answer, or not with a whole state */
export async function fetchOnce(options: LoopOptions, memory: Memory): Promise<void> {
  const held = memory.needsFullState ? undefined : memory.state
  const body = await options.fetchState(held?.hashes ?? {})
  // Until it has proved right: after an answer that does not fit, the whole state is asked for.
  memory.needsFullState = true
  const { answer, problems } = parseStateAnswer(body, memory.state)
  const state = mergeState(held, answer)
  assertOurs(options, state)
  memory.state = state
  memory.needsFullState = false
  memory.unread = problems
  memory.refusal = undefined
  memory.wanted = answer.revision
  options.onState(state)
}

/** An answer that was not taken is a problem for people; a server that is away is not. @returns whether it is news */
export function noteRefusal({ log }: LoopOptions, memory: Memory, error: unknown): boolean {
  if (!(error instanceof StateError) || memory.refusal === error.message) return false
  log.warn({ err: error }, 'the state of the server cannot be used')
  memory.refusal = error.message
  return true
}

/** Makes the machine equal to the state. */
export async function applyOnce(options: LoopOptions, memory: Memory, state: HeldState): Promise<void> {
  const { settings, peers } = state
  const isSame = memory.kept?.settings === settings && memory.kept.peers === peers
  const isQuick = !memory.fullCheckDue
  const kept = isSame && isQuick ? memory.kept?.below : undefined
  memory.fullCheckDue = false
  const outcome = await reconcile(options, state, { kept, isQuick })
  tellParts(options.log, memory.outcome?.dataPlane, outcome.dataPlane)
  memory.outcome = outcome
  const { wireguard, nftables } = outcome.below
  const isBelowRight = wireguard.part.state === 'ok' && nftables.part.state === 'ok'
  memory.kept = isBelowRight ? { settings, peers, below: outcome.below } : undefined
  if (outcome.isApplied) memory.applied = state.revision
}

/** Keeps the state on disk. What is there stays when that fails, and is still a whole state. */
export async function saveOnce({ log }: LoopOptions, { lastGood }: Memory, state: HeldState): Promise<void> {
  await lastGood.save(state).catch((err: unknown) => log.error({ err }, 'the state cannot be saved'))
}

/** Looks whether HAProxy lives, between two applies. @returns true when it is not as it was */
export async function checkOnce(options: LoopOptions, memory: Memory): Promise<boolean> {
  const part = await checkPart(options)
  const { outcome } = memory
  if (!outcome || JSON.stringify(part) === JSON.stringify(outcome.dataPlane.haproxy)) return false
  const next = { ...outcome.dataPlane, haproxy: part }
  tellParts(options.log, outcome.dataPlane, next)
  outcome.dataPlane = next
  return true
}

async function checkPart(options: LoopOptions): Promise<PartState> {
  try {
    return await options.haproxy.check()
  } catch (error) {
    return { state: 'failed', detail: error instanceof Error ? error.message : String(error) }
  }
}

/** A part that comes and goes is said once each time, not with every look at it. */
function tellParts(log: Logger, before: DataPlane | undefined, after: DataPlane): void {
  for (const name of ['haproxy', 'wireguard', 'nftables'] as const) {
    const { state, detail } = after[name]
    if (before?.[name].state === state && before[name].detail === detail) continue
    if (state === 'ok') log.info(`${name} is as wanted: ${detail}`)
    else log.warn(`${name} is not as wanted: ${detail}`)
  }
}
