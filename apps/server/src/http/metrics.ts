import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import { single } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import { isPrivate } from '@postern/net/special'
import type { Logger } from 'pino'
import type { Metrics } from '../core/metrics/metrics.ts'
import { PROMETHEUS_TYPE, renderPrometheus } from '../core/metrics/prometheus.ts'
import { hashToken, isSameHash } from '../core/secrets/secrets.ts'

interface Options {
  metrics: Metrics
  token: string
  log: Logger
}

const PATH = '/metrics'
/** Prometheus keeps its connection from one scrape to the next. */
const IDLE_MS = 130_000
const REQUEST_MS = 10_000
const MOST_CONNECTIONS = 32
/** Connections of one address, so that others have room. */
const MOST_OF_ONE = 8
/** Each takes processor time from all that the server does. */
const MOST_SCRAPES = 2
const SCRAPE_MS = 60_000
const REFUSED_EVERY = 60_000

/**
 * What Prometheus scrapes. It has no more than that: neither a session nor a token of anything else is good here, nor
 * this token anywhere else. Nothing of it is at the address that visitors know: HAProxy does not lead here, and a
 * connection to an address of the internet is closed.
 */
export function createMetricsServer({ metrics, token, log }: Options): Server {
  const wanted = hashToken(token)
  const scrape = createScrape(metrics, log)
  const noteRefused = createNote(() => log.warn('metrics were asked for without the right token'))
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS },
    (request, response) => {
      request.socket.setTimeout(IDLE_MS)
      const [, given = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
      const path = request.url?.split('?')[0]
      if (!isSameHash(wanted, hashToken(given))) {
        noteRefused()
        // Connections are few, and for those who may read.
        refuse(response, 401, { 'www-authenticate': 'Bearer', connection: 'close' })
      } else if (path !== PATH) refuse(response, 404)
      else if (request.method !== 'GET') refuse(response, 405, { allow: 'GET' })
      else scrape(request, response)
    },
  )
  server.maxConnections = MOST_CONNECTIONS
  const admit = createAdmission()
  server.prependListener('connection', (socket: Socket) => {
    if (!isPrivateAddress(socket.localAddress) || !admit(socket)) socket.destroy()
  })
  // After the library's own listener, which also sets it: silent connections end early.
  server.on('connection', (socket: Socket) => socket.setTimeout(REQUEST_MS))
  return server
}

function createAdmission(): (socket: Socket) => boolean {
  const counts = new Map<string, number>()
  return (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = counts.get(address) ?? 0
    if (count >= MOST_OF_ONE) return false
    counts.set(address, count + 1)
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
    return true
  }
}

/** Also one of IPv4 as a socket of both families has it. */
export function isPrivateAddress(address = ''): boolean {
  const ip = findIp(address.replace(/^::ffff:(?=\d+\.)/i, ''))
  return ip !== undefined && isPrivate(single(ip))
}

const ANSWER = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  const text = { 401: 'Unauthorized', 404: 'Not found', 405: 'Not allowed' }[status] ?? 'Busy'
  response.writeHead(status, { ...ANSWER, 'content-type': 'text/plain; charset=utf-8', ...headers })
  response.end(`${text}\n`)
}

function createScrape(metrics: Metrics, log: Logger) {
  let scrapes = 0
  return (request: IncomingMessage, response: ServerResponse) => {
    if (scrapes >= MOST_SCRAPES) return refuse(response, 503, { 'retry-after': '5' })
    scrapes++
    const text = Readable.from(renderPrometheus(metrics.measure()))
    const timer = setTimeout(() => text.destroy(new Error('a scrape took too long')), SCRAPE_MS)
    const done = (error: NodeJS.ErrnoException | null | undefined) => {
      scrapes--
      clearTimeout(timer)
      // One that went away has what it wanted.
      if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
        log.error({ err: error }, 'metrics could not be told')
    }
    const isCompressed = negotiate(request.headers['accept-encoding'] ?? '', ['gzip']) === 'gzip'
    const encoding: Record<string, string> = isCompressed ? { 'content-encoding': 'gzip' } : {}
    response.writeHead(200, {
      ...ANSWER,
      vary: 'accept-encoding',
      'content-type': PROMETHEUS_TYPE,
      ...encoding,
    })
    if (isCompressed) pipeline(text, createGzip({ level: constants.Z_BEST_SPEED }), response, done)
    else pipeline(text, response, done)
  }
}

/** Says it now, and not again for a while. */
function createNote(say: () => void): () => void {
  let next = 0
  return () => {
    if (performance.now() < next) return
    next = performance.now() + REFUSED_EVERY
    say()
  }
}
