import { rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'

/** Somebody else makes this machine equal to the same data directory. */
export class LockedError extends Error {
  readonly code = 'locked'
}

/**
 * Holds a path by listening on it, so that only one edge works on a data directory. The kernel gives it up with
 * the process, however that ends.
 * @throws LockedError
 */
export async function lock(path: string): Promise<{ release(): Promise<void> }> {
  const server = await listen(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    if (await isAnswered(path)) throw new LockedError('Another edge is running on this data directory.')
    await rm(path, { force: true })
    return listen(path)
  })
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject)
    server.listen(path, () => resolve(server.unref()))
  })
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (isAnswered: boolean) => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}
