import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname } from 'node:path'
import { messageOf } from '@postern/host/errors'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

const LOOK_EVERY = 1000

export interface SocketWatchOptions {
  app: FastifyInstance
  path: string
  log: Pick<Logger, 'warn'>
  /** It cannot listen there again. Whoever starts the server makes the directory, with rights that it has not. */
  onLost(reason: string): void
}

/** Listens again where somebody has removed the server's socket, or the directory around it. */
export function watchSocket({ app, path, log, onLost }: SocketWatchOptions): { close(): void } {
  let inode = inodeOf(path)
  let again: Server | undefined
  const look = () => {
    const now = inodeOf(path)
    // One that somebody else has put there is not ours to remove.
    if (now === inode || now !== undefined) return
    log.warn(`${path} was removed, and the server listens there again`)
    again?.close()
    again = createServer((socket) => app.server.emit('connection', socket))
    again.once('error', (error) => onLost(`cannot listen on ${path} again: ${messageOf(error)}`))
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
      again.listen(path, () => {
        chmodSync(path, 0o660)
        inode = inodeOf(path)
      })
    } catch (error) {
      onLost(`cannot listen on ${path} again: ${messageOf(error)}`)
    }
  }
  const timer = setInterval(look, LOOK_EVERY)
  return {
    close() {
      clearInterval(timer)
      again?.close()
    },
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}
