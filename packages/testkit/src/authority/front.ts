import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Pebble } from './pebble.ts'

/** The front's own answer; undefined: it asks pebble. `hang`: it never answers. */
export type FrontAnswer =
  | { status: number; headers?: Record<string, string>; body: unknown }
  | 'hang'
  | undefined

/**
 * A front for pebble that can do what pebble cannot: be down, hang, answer garbage, limit rates, know CAA records,
 * and offer renewal information. Everything else is pebble's own answer.
 */
export interface Front {
  directory: string
  port: number
  /** Every request, like `POST /order-plz`, and pebble's answer, like `POST /order-plz 201`. */
  asked: string[]
  answered: string[]
  /** The contents of the orders. */
  orders: Record<string, unknown>[]
  /** Decides on answers in place of pebble; `payload` is that of a POST. */
  intercept: (request: IncomingMessage, payload: Record<string, unknown>) => FrontAnswer
  /** Changes pebble's answer before it is passed on. */
  change: (request: IncomingMessage, body: string) => string
  close(): Promise<void>
}

/** @param port of a closed front, which is opened again */
export async function startFront(pebble: Pebble, port = 0): Promise<Front> {
  const front: Front = {
    directory: '',
    port,
    asked: [],
    answered: [],
    orders: [],
    intercept: () => undefined,
    change: (_request, body) => body,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer(pebble.tls, async (incoming, response) => {
    let sent = ''
    for await (const chunk of incoming.setEncoding('utf8')) sent += chunk
    const payload = payloadOf(sent)
    front.asked.push(`${incoming.method} ${incoming.url}`)
    if (incoming.url === '/order-plz') front.orders.push(payload)
    const own = front.intercept(incoming, payload)
    if (own === 'hang') return
    if (own) {
      const body = typeof own.body === 'string' ? own.body : JSON.stringify(own.body)
      response.writeHead(own.status, { 'content-type': 'application/problem+json', ...own.headers }).end(body)
    } else passOn(front, pebble, incoming, sent, response)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  // A TCP server has an address with a port.
  front.port = (server.address() as AddressInfo).port
  front.directory = `https://127.0.0.1:${front.port}/dir`
  return front
}

/** With the requested host, from which pebble builds its addresses. */
function passOn(
  front: Front,
  pebble: Pebble,
  incoming: IncomingMessage,
  sent: string,
  response: ServerResponse,
): void {
  const { method, url: path, headers } = incoming
  const options = { host: '127.0.0.1', port: pebble.port, method, path, headers, rejectUnauthorized: false }
  const outgoing = request(options, async (answer) => {
    let text = ''
    for await (const chunk of answer.setEncoding('utf8')) text += chunk
    front.answered.push(`${method} ${path} ${answer.statusCode}`)
    const body = front.change(incoming, text)
    const { 'content-length': _, 'transfer-encoding': __, ...rest } = answer.headers
    response.writeHead(answer.statusCode ?? 500, { ...rest, 'content-length': Buffer.byteLength(body) })
    response.end(method === 'HEAD' ? undefined : body)
  })
  outgoing.on('error', () => response.destroy())
  outgoing.end(sent)
}

/** The payload of a JWS; empty where there is none. */
function payloadOf(sent: string): Record<string, unknown> {
  if (sent === '') return {}
  const { payload = '' } = JSON.parse(sent) as { payload?: string }
  return payload === '' ? {} : JSON.parse(Buffer.from(payload, 'base64url').toString())
}
