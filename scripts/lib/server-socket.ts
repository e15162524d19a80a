import { setTimeout as sleep } from 'node:timers/promises'
import { isAnswered } from '@postern/host/socket'
import { CommandError } from './errors.ts'

export async function assertNoServer(socketPath: string): Promise<void> {
  if (await isAnswered(socketPath))
    throw new CommandError(`a server already answers on ${socketPath}: npm stop ends it`)
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
