import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '@postern/host/errors'
import { findHolder, isAlive } from '@postern/host/lock'
import { isAnswered } from '@postern/host/socket'
import { CommandError } from '../command.ts'

const LIMIT = 15_000

/**
 * Stops the starter that holds this lock, and with it server and edge.
 * @returns whether one was running
 */
export async function stopStarter(lock: string): Promise<boolean> {
  const holder = findHolder(lock)
  if (!holder) return false
  try {
    process.kill(holder.pid, 'SIGTERM')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EPERM') throw new CommandError(`another user started Postern (pid ${holder.pid}): use sudo`)
    if (code !== 'ESRCH') throw error
  }
  const deadline = performance.now() + LIMIT
  while (isAlive(holder)) {
    if (performance.now() > deadline)
      throw new CommandError(
        `pid ${holder.pid} did not end within ${LIMIT / 1000} s: check what it does, then kill it`,
      )
    await sleep(50)
  }
  return true
}

export async function assertNoServer(socketPath: string): Promise<void> {
  if (await isAnswered(socketPath))
    throw new CommandError(`a server already answers on ${socketPath}: stop it with npm stop`)
}

/** @throws CommandError when no server answers within 30 s */
export async function untilServerThere(socketPath: string): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await isAnswered(socketPath))) {
    if (performance.now() > deadline)
      throw new CommandError('the server does not start: see journalctl -u postern-server')
    await sleep(200)
  }
}
