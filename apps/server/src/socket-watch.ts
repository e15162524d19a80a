import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname } from 'node:path'
import { messageOf } from '@postern/host/errors'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

const CHECK_INTERVAL = 1000

export interface SocketWatchOptions {
  app: FastifyInstance
  path: string
  log: Pick<Logger, 'warn'>
  /** It cannot listen there again. The starter can make the directory, with rights that the server lacks. */
  onLost(reason: string): void
}

/** Listens again after somebody has removed the server's socket, or its directory. */
export function watchSocket({ app, path, log, onLost }: SocketWatchOptions): { close(): void } {
  let again: Server | undefined
  const lose = (cause: unknown) => onLost(`cannot listen on ${path} again: ${messageOf(cause)}`)
  const look = () => {
    // A socket that another program has put there is not ours to remove.
    if (existsSync(path)) return
    log.warn(`${path} was removed, and the server listens there again`)
    again?.close()
    again = createServer((socket) => app.server.emit('connection', socket))
    again.once('error', lose)
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
      again.listen(path, () => {
        try {
          chmodSync(path, 0o660)
        } catch (error) {
          lose(error)
        }
      })
    } catch (error) {
      lose(error)
    }
  }
  const timer = setInterval(look, CHECK_INTERVAL)
  return {
    close() {
      clearInterval(timer)
      again?.close()
    },
  }
}
