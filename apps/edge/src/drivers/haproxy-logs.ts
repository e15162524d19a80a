import { randomInt } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { writeAtomic } from '../atomic-write.ts'
import { type HaproxyLog, parseLogLine } from './haproxy-log-line.ts'

/** Emits `line` for every log line of a service, in HAProxy's order. */
export type HaproxyLogs = EventEmitter<{ line: [HaproxyLog] }>

export interface LogListener {
  logs: HaproxyLogs
  /** @returns the port on 127.0.0.1; the same as long as nobody else holds it. */
  listen(): Promise<number>
  close(): Promise<void>
}

const MAX_PENDING = 64 * 1024
const MAX_CONNECTIONS = 8

/**
 * Takes the lines of HAProxy's ring. Only processes of `users` may send some; as root the port is a privileged one,
 * so that nobody else can sit there and read along while the edge is away.
 */
export function createLogListener(portFile: string, users: readonly number[]): LogListener {
  const logs: HaproxyLogs = new EventEmitter()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // HAProxy connects again by itself.
    socket.on('error', () => undefined)
    void isSentBy(socket, users).then((isOurs) => (isOurs ? receive(socket, logs) : socket.destroy()))
  })
  server.maxConnections = MAX_CONNECTIONS
  return {
    logs,
    listen: () => listenSomewhere(server, portFile),
    close() {
      for (const socket of sockets) socket.destroy()
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
  // Root of a container may lack the right to privileged ports; any port is better than no log.
  for (const port of [...(last > 0 ? [last] : []), ...candidates, 0]) {
    const got = await tryListen(server, port)
    if (got === undefined) continue
    if (got !== last) await writeAtomic(portFile, String(got), 0o600)
    return got
  }
  throw new Error('No port on 127.0.0.1 is free for the log lines of HAProxy')
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

/** Whose the other end of a loopback connection is, as the kernel lists it. */
async function isSentBy(socket: Socket, users: readonly number[]): Promise<boolean> {
  const end = `0100007F:${hexPort(socket.remotePort)}`
  const start = `0100007F:${hexPort(socket.localPort)}`
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '')
  const row = table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields[1] === end && fields[2] === start)
  return row !== undefined && users.includes(Number(row[7]))
}

function hexPort(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}

function receive(socket: Socket, logs: HaproxyLogs): void {
  let pending = ''
  let counter: number | undefined
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    const lines = (pending + chunk).split('\n')
    pending = lines.pop() ?? ''
    if (pending.length > MAX_PENDING) pending = ''
    for (const line of lines) counter = emit(logs, line, counter)
  })
}

/** @returns the counter of the last line that has one. */
function emit(logs: HaproxyLogs, line: string, last: number | undefined): number | undefined {
  const parsed = parseLogLine(line)
  if (!parsed) return last
  const { counter, log } = parsed
  const missed = counter !== null && last !== undefined ? counter - last - 1 : 0
  if (log && missed > 0)
    logs.emit('line', {
      service: log.service,
      text: `[WARN] ${missed} lines of the proxy's log were lost here`,
    })
  if (log) logs.emit('line', log)
  return counter ?? last
}
