import { createHash } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { EdgeCertificate } from '@postern/contract/edge/desired-state'

export interface Seen {
  method: string
  url: string
  headers: IncomingHttpHeaders
  /** What the visitor's TLS asked for, with a TLS upstream. */
  serverName: string | false | null
  /** What the names in the visitor's certificate are, with a TLS upstream that asks for one. */
  client: string | null
}

/** A program on a private host: it echoes requests as JSON and WebSocket bytes as they are. */
export interface Upstream {
  port: number
  seen: Seen[]
  /** Requests that became WebSockets. */
  upgrades: Pick<Seen, 'url' | 'headers'>[]
  /** TCP connections so far. */
  connections: number
  close(): Promise<void>
}

export interface UpstreamOptions {
  tls?: EdgeCertificate
  /** Whose certificates it asks visitors for: PEM. */
  clients?: string
  host?: string
  /** A path of a unix socket, instead of a port. */
  path?: string
  answer?: RequestListener
}

export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const upstream: Upstream = {
    port: 0,
    seen: [],
    upgrades: [],
    connections: 0,
    close: () => close(server, open),
  }
  const open = new Set<Duplex>()
  const listener: RequestListener = (request, response) => {
    const serverName = 'servername' in request.socket ? String(request.socket.servername) : null
    const seen = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      serverName,
      client: clientOf(request.socket),
    }
    upstream.seen.push(seen)
    if (options.answer) return options.answer(request, response)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(seen))
  }
  const { tls, clients } = options
  const asking = clients === undefined ? {} : { ca: clients, requestCert: true }
  const server = tls
    ? createTlsServer({ cert: tls.chain, key: tls.privateKey, ...asking }, listener)
    : createServer({ maxHeaderSize: 65_536 }, listener)
  server.on(tls ? 'secureConnection' : 'connection', (socket: Duplex) => {
    upstream.connections++
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => undefined)
  })
  server.on('upgrade', (request, socket) => {
    upstream.upgrades.push({ url: request.url ?? '', headers: request.headers })
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}${GUID}`).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    )
    socket.pipe(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(
      options.path ? { path: options.path } : { port: 0, host: options.host ?? '127.0.0.1' },
      resolve,
    )
  })
  // HAProxy comes as another user. A server on a unix socket has a path for an address.
  if (options.path) await chmod(options.path, 0o666)
  else upstream.port = (server.address() as AddressInfo).port
  return upstream
}

function clientOf(socket: Socket): string | null {
  return socket instanceof TLSSocket ? (socket.getPeerCertificate().subjectaltname ?? null) : null
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

function close(server: Server, open: Set<Duplex>): Promise<void> {
  for (const socket of open) socket.destroy()
  return new Promise((resolve) => server.close(() => resolve()))
}
