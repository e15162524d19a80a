import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from './errors.ts'

/** True when a server answers on the socket, like one that systemd started. */
function isServerThere(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    socket.setTimeout(2000, () => socket.destroy(new Error('timeout')))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

export async function assertNoServer(socketPath: string): Promise<void> {
  if (await isServerThere(socketPath))
    throw new CommandError(`a server already answers on ${socketPath}: npm stop ends it`)
}

/** @throws CommandError when no server answers within 30 s */
export async function untilServerThere(socketPath: string): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await isServerThere(socketPath))) {
    if (performance.now() > deadline)
      throw new CommandError('the server does not start: see journalctl -u postern-server')
    await sleep(200)
  }
}
