import { chmodSync, existsSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, messageOf } from '@postern/host/errors'
import { isAnswered } from '@postern/host/socket'
import type { FastifyInstance } from 'fastify'

/** The server cannot listen where it should; the message says what to do. */
export class ListenError extends Error {
  readonly code = 'listen'
}

/**
 * Opens the socket for HAProxy and the edge: only its group may connect.
 * @throws ListenError when the directory is missing, or another server answers there.
 */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  if (!existsSync(dirname(path)))
    throw new ListenError(`${dirname(path)} does not exist: start with npm start`)
  if (existsSync(path)) {
    if (await isAnswered(path)) throw new ListenError(`another server answers on ${path}: stop it first`)
    unlinkSync(path)
  }
  try {
    await app.listen({ path })
    chmodSync(path, 0o660)
  } catch (cause) {
    throw new ListenError(`cannot listen on ${path}: ${messageOf(cause)}`, { cause })
  }
}

/** @throws ListenError when the port is taken. */
export async function listenOnLoopback(app: FastifyInstance, port: number): Promise<void> {
  try {
    await app.listen({ host: '127.0.0.1', port })
  } catch (cause) {
    const why = codeOf(cause) === 'EADDRINUSE' ? 'is taken' : `cannot be opened (${messageOf(cause)})`
    throw new ListenError(
      `port ${port} of 127.0.0.1 ${why}: end what uses it, or set POSTERN_CONSOLE_PORT to a free one`,
      { cause },
    )
  }
}
