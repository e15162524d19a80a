import { randomBytes, randomInt } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { writeAtomic } from '@postern/host/files'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import { parseLogLine } from './line.ts'
import type { HaproxyLog, ParsedLog } from './log.ts'

/** Emits `line` for every log line of a service, in HAProxy's order. */
export type HaproxyLogs = EventEmitter<{ line: [HaproxyLog] }>

/** The port on 127.0.0.1 to which HAProxy sends its lines, and the secret at the beginning of each. */
export interface LogAddress {
  port: number
  secret: string
}

export interface LogListener {
  logs: HaproxyLogs
  /** The port stays the same while no other program holds it, the secret while its file exists. */
  listen(): Promise<LogAddress>
  close(): Promise<void>
}

const MAX_PENDING = 64 * 1024
/** HAProxy cuts its lines there, unless it was taken over: the last ones of each service are kept in memory. */
const MAX_LINE = 4096
/** One for each HAProxy, including those that have handed over and still have connections. */
const MAX_CONNECTIONS = 64
/** HAProxy reconnects at once when it is disconnected, so a surplus connection first waits here, unread. */
const SURPLUS_PAUSE = 5000

/**
 * Takes the lines of HAProxy's ring: those with the secret, over connections of the user that HAProxy runs as. As
 * root it uses a privileged port, so that no other user can read along there while the edge is down.
 */
export function createLogListener(paths: HaproxyPaths, user: number): LogListener {
  const logs: HaproxyLogs = new EventEmitter()
  const sockets = new Set<Socket>()
  const admitted = new Set<Socket>()
  const readTable = createTableReader()
  let secret = ''
  const admit = (socket: Socket) => {
    admitted.add(socket)
    socket.on('close', () => admitted.delete(socket))
    if (admitted.size <= MAX_CONNECTIONS) return receive(socket, logs, secret)
    const timer = setTimeout(() => socket.destroy(), SURPLUS_PAUSE)
    socket.on('close', () => clearTimeout(timer))
  }
  // Lines that come during the pause wait in the kernel, as one piece.
  const server = createServer({ highWaterMark: 1 }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // HAProxy connects again by itself.
    socket.on('error', () => undefined)
    void readTable().then((table) => {
      if (!isSentBy(table, socket, user)) socket.destroy()
      if (!socket.destroyed) admit(socket)
    })
  })
  server.maxConnections = 4 * MAX_CONNECTIONS
  return {
    logs,
    async listen() {
      secret ||= await readLogSecret(paths.logSecret)
      return { port: await listenSomewhere(server, paths.logPort), secret }
    },
    close() {
      // With a reset: after a plain end, 3.0 goes on writing, and its first lines are lost.
      for (const socket of sockets) socket.resetAndDestroy()
      return new Promise((resolve) => (server.listening ? server.close(() => resolve()) : resolve()))
    },
  }
}

async function listenSomewhere(server: Server, portFile: string): Promise<number> {
  const now = server.address()
  if (now !== null && typeof now === 'object') return now.port
  const last = Number(await readFile(portFile, 'utf8').catch(() => '0'))
  const isRoot = process.getuid?.() === 0
  const candidates = Array.from({ length: 20 }, () => (isRoot ? randomInt(600, 1024) : 0))
  // Root in a container may lack the right to privileged ports; any port is better than no log.
  for (const port of [...(last > 0 ? [last] : []), ...candidates, 0]) {
    const got = await tryListen(server, port)
    if (got === undefined) continue
    if (got !== last) await writeAtomic(portFile, String(got), 0o600)
    return got
  }
  throw new Error("No port on 127.0.0.1 is free for HAProxy's log lines")
}

function tryListen(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error)
    server.once('error', failed)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed)
      const address = server.address()
      resolve(address !== null && typeof address === 'object' ? address.port : undefined)
    })
  })
}

/** In ms. HAProxy writes each line separately, and waking up for each would cost more than handling it. */
export const READ_EVERY = 100
const NEWLINE = 10

function receive(socket: Socket, logs: HaproxyLogs, secret: string): void {
  let pending: Buffer = Buffer.alloc(0)
  let counter: number | undefined
  let isPauseDue = false
  const rest = () => {
    socket.pause()
    setTimeout(() => {
      isPauseDue = false
      socket.resume()
    }, READ_EVERY)
  }
  socket.on('data', (chunk: Buffer) => {
    const text = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk
    let start = 0
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
      // A copy for each line, because a slice would keep the whole chunk in memory.
      if (end - start <= MAX_LINE)
        counter = emit(logs, parseLogLine(text.toString('latin1', start, end), secret), counter)
      start = end + 1
    }
    pending = text.length - start > MAX_PENDING ? Buffer.alloc(0) : text.subarray(start)
    if (isPauseDue) return
    isPauseDue = true
    // First everything that the kernel holds.
    setImmediate(rest)
  })
}

/** @returns the counter of the last line that has one */
function emit(
  logs: HaproxyLogs,
  parsed: ParsedLog | undefined,
  last: number | undefined,
): number | undefined {
  if (!parsed) return last
  const { counter, log } = parsed
  const missed = counter !== null && last !== undefined ? counter - last - 1 : 0
  if (log && missed > 0)
    logs.emit('line', {
      service: log.service,
      text: `[WARN] ${missed} lines of the proxy's log were lost here`,
      sign: null,
      lost: missed,
    })
  if (log) logs.emit('line', log)
  return counter ?? last
}

/**
 * The secret in every line of HAProxy's log, which only root and HAProxy know. It is kept in a file, because a new
 * one would mean a new configuration, and a reload.
 * @returns 32 hex digits
 */
async function readLogSecret(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => '')
  if (/^[0-9a-f]{32}$/.test(kept)) return kept
  const secret = randomBytes(16).toString('hex')
  await writeAtomic(file, secret, 0o600)
  return secret
}

/** How the kernel lists a connection that is open at both ends. It lists a closing one as root's, whatever its user. */
const ESTABLISHED = '01'

/** Whether the other end of an IPv4 loopback connection is open and belongs to `user`. */
function isSentBy(table: string, { remotePort, localPort }: Socket, user: number): boolean {
  const start = table.indexOf(
    ` 0100007F:${hexPort(remotePort)} 0100007F:${hexPort(localPort)} ${ESTABLISHED} `,
  )
  if (start < 0) return false
  const [, , , , , , , owner] = table.slice(start, table.indexOf('\n', start)).split(/\s+/)
  return Number(owner) === user
}

/**
 * Reads the kernel's list of connections, once for all callers that wait for it: it can be long, and every connection
 * of any local user makes the edge read it.
 */
function createTableReader(): () => Promise<string> {
  let last = Promise.resolve('')
  let next: Promise<string> | undefined
  return () => {
    next ??= last.then(() => {
      next = undefined
      last = readFile('/proc/net/tcp', 'utf8').catch(() => '')
      return last
    })
    return next
  }
}

function hexPort(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}
