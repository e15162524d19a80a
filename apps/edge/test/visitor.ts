import { type IncomingHttpHeaders, type RequestOptions, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { connect as connectTls, type TLSSocket } from 'node:tls'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The subject of the certificate that was shown, over TLS. */
  certificate: string
}

export interface Visit {
  port: number
  /** The Host header, and the server name of TLS when it is a name. */
  host: string
  path?: string
  method?: string
  headers?: Record<string, string | string[]>
  body?: string
  /** Where to connect; default 127.0.0.1. */
  address?: string
  from?: string
}

/** A request as a careful client makes it; the path goes out as it is. */
export function visit(visit: Visit): Promise<Answer> {
  return send(
    requestTls,
    { ...optionsOf(visit), servername: nameOf(visit.host), rejectUnauthorized: false },
    visit,
  )
}

export function visitPlain(visit: Visit): Promise<Answer> {
  return send(requestPlain, optionsOf(visit), visit)
}

function optionsOf(visit: Visit): RequestOptions {
  return {
    host: visit.address ?? '127.0.0.1',
    port: visit.port,
    path: visit.path ?? '/',
    method: visit.method ?? 'GET',
    headers: { host: visit.host, ...visit.headers },
    agent: false,
    ...(visit.from ? { localAddress: visit.from } : {}),
  }
}

function nameOf(host: string): string {
  const name = host.replace(/:\d+$/, '')
  return /^[\d.]+$|^\[/.test(name) ? '' : name
}

type Requester = (
  options: object,
  onAnswer: (answer: import('node:http').IncomingMessage) => void,
) => import('node:http').ClientRequest

function send(request: Requester, options: object, { body }: Visit): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      const socket = answer.socket as Partial<TLSSocket> // plain sockets have no certificate
      const certificate = String(socket.getPeerCertificate?.().subject?.CN ?? '')
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, certificate }),
      )
      answer.on('error', reject)
    })
    sent.setTimeout(30_000, () => sent.destroy(new Error('no answer in 30 s')))
    sent.on('error', reject).end(body)
  })
}

/** An open WebSocket, as bytes: what is sent comes back. */
export interface OpenSocket {
  isOpen(): boolean
  echo(text: string): Promise<boolean>
  close(): void
}

export function openSocket({
  port,
  host,
  path = '/',
  from,
  address,
  headers = {},
}: Visit): Promise<OpenSocket> {
  return new Promise((resolve, reject) => {
    let isOpen = true
    let text = ''
    let wake = () => {}
    const socket = connectTls({
      host: address ?? '127.0.0.1',
      port,
      servername: nameOf(host),
      rejectUnauthorized: false,
      ...(from ? { localAddress: from } : {}),
    })
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more.join('')}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    const opened: OpenSocket = {
      isOpen: () => isOpen,
      echo: (sent) => {
        text = ''
        socket.write(sent)
        return new Promise((heard) => {
          const timer = setTimeout(() => heard(false), 20_000)
          wake = () => {
            if (isOpen && !text.includes(sent)) return
            clearTimeout(timer)
            heard(isOpen)
          }
        })
      },
      close: () => socket.destroy(),
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      wake()
      if (!text.includes('\r\n\r\n')) return
      if (text.startsWith('HTTP/1.1 101')) resolve(opened)
      else if (text.startsWith('HTTP/')) reject(new Error(text.split('\r\n')[0]))
    })
    socket.on('close', () => {
      isOpen = false
      wake()
    })
    socket.on('error', reject)
  })
}
