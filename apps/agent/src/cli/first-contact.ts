import { setTimeout as pause } from 'node:timers/promises'
import { findText } from '@postern/host/files'
import { findHolder } from '@postern/host/lock'
import { isAnswering, probePorts } from '../daemon/health.ts'
import { type DaemonStatus, findDaemonStatus } from '../daemon/status-file.ts'
import { AgentError } from '../errors.ts'
import type { Failure } from '../exit-codes.ts'
import type { Call } from './command.ts'

const START_WITHIN = 10_000
const LOOK_EVERY = 100

/** What no waiting cures. */
const FINAL: readonly string[] = [
  'token-refused',
  'node-disabled',
  'tools-missing',
  'interface-taken',
] satisfies Failure[]

/** Waits at most `patience` ms until traffic passes. @throws AgentError that says why it does not. */
export async function waitForTunnel(
  { context, paths }: Call,
  server: URL,
  patience: number,
): Promise<DaemonStatus> {
  const began = context.now()
  for (let looks = 0; looks < patience / LOOK_EVERY; looks++) {
    const status = await findDaemonStatus(paths)
    // The agent looks every few seconds only, so its word is checked.
    const target = status?.state === 'online' ? status.edgeAddress : null
    if (status && target && (await isAnswering(target, probePorts(server), 2000))) return status
    if (status && FINAL.includes(status.outcome)) throw failureOf(status)
    const waited = context.now() - began
    if (waited > patience) break
    if (waited > START_WITHIN && findHolder(paths.pid) === undefined) break
    await pause(LOOK_EVERY)
  }
  const status = await findDaemonStatus(paths)
  if (status && findHolder(paths.pid) !== undefined) throw failureOf(status)
  throw new AgentError('failed', `The agent did not start.${await lastWords(paths.log)}`)
}

function failureOf({ outcome, problem }: DaemonStatus): AgentError {
  const rest = FINAL.includes(outcome) && outcome !== 'node-disabled' ? '' : KEEPS_TRYING
  return new AgentError(
    outcome === 'ok' ? 'failed' : outcome,
    `${problem ?? 'The agent has not got an answer yet'}.${rest}`,
  )
}

const KEEPS_TRYING =
  ' The agent keeps trying in the background: postern status tells, postern disconnect ends it.'

async function lastWords(path: string): Promise<string> {
  const lines = (await findText(path))?.trim().split('\n') ?? []
  const last = lines.at(-1)
  return last ? ` Its last words in ${path}: ${last}` : ' See: journalctl -u postern-agent'
}
