import { chmodSync, existsSync, unlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname } from 'node:path'
import { codeOf, messageOf } from '@postern/host/errors'
import { isAnswered } from '@postern/host/socket'
import type { FastifyInstance } from 'fastify'

/** The server cannot listen where it should; the message says what to do. */
export class ListenError extends Error {
  readonly code = 'listen'
}

/**
 * Opens a socket: the server's, which HAProxy and the edge reach by its group, or the console's, for root alone.
 * @throws ListenError when the directory is missing, or another server answers there.
 */
export async function listenOnSocket(app: FastifyInstance, path: string, mode: number): Promise<void> {
  if (!existsSync(dirname(path)))
    throw new ListenError(`${dirname(path)} does not exist: start with npm start`)
  if (existsSync(path)) {
    if (await isAnswered(path)) throw new ListenError(`another server answers on ${path}: stop it first`)
    unlinkSync(path)
  }
  try {
    await app.listen({ path })
    chmodSync(path, mode)
  } catch (cause) {
    throw new ListenError(`cannot listen on ${path}: ${messageOf(cause)}`, { cause })
  }
}

/** How often the port is tried while another program holds it, in ms. */
const RETRY_MS = 5_000

interface PortOptions {
  host: string
  port: number
  /** Which one of ours says so. */
  setting: string
  /** Called with the reason why the port is closed, and with null once it is open again; each once. */
  onChange(problem: string | null): void
}

/** Connections at the console's port. Each takes an open file, and every local user can open any number. */
export const MOST_AT_PORT = 256

/** Passes the connections of a port on 127.0.0.1 to an application that listens elsewhere. */
export async function openLoopback(
  app: FastifyInstance,
  options: Omit<PortOptions, 'host' | 'setting'>,
): Promise<() => Promise<void>> {
  const server = createServer((socket) => void app.server.emit('connection', socket))
  server.maxConnections = MOST_AT_PORT
  return await openPort(server, { host: '127.0.0.1', setting: 'POSTERN_CONSOLE_PORT', ...options })
}

/**
 * Any local user may hold the port, and its address may come later than we do, so the server does not depend on it: it
 * is tried again until it is free.
 * @returns once it was tried, with how to close it
 */
export async function openPort(
  server: Server,
  { host, port, setting, onChange }: PortOptions,
): Promise<() => Promise<void>> {
  let retry: NodeJS.Timeout | undefined
  let reported: string | null = null
  const tell = (problem: string | null) => {
    if (problem === reported) return
    reported = problem
    onChange(problem)
  }
  const attempt = () =>
    new Promise<void>((resolve) => {
      const fail = (cause: Error) => {
        const why = codeOf(cause) === 'EADDRINUSE' ? 'is taken' : `cannot be opened (${messageOf(cause)})`
        tell(`port ${port} of ${host} ${why}: end what uses it, or set ${setting} to a free one`)
        retry = setTimeout(() => void attempt(), RETRY_MS).unref()
        resolve()
      }
      server.once('error', fail)
      server.listen(port, host, () => {
        server.off('error', fail)
        tell(null)
        resolve()
      })
    })
  await attempt()
  return async () => {
    clearTimeout(retry)
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
}
