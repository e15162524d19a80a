import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TraceTrouble } from '@postern/contract/why/trace'
import { codeOf, messageOf } from '@postern/host/errors'
import { probeBackend } from '../observe/backend-probe.ts'

/** Longer than that no single look takes. */
const PATIENCE = 4000
const MAX_HEAD = 16_384

/** How long something took, in ms, and what came of it. */
export interface Timed<T> {
  result: T
  ms: number
}

export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const since = performance.now()
  const result = await work()
  return { result, ms: Math.round(performance.now() - since) }
}

/** @param address an IP literal */
export function tryConnect(address: string, port: number, ms: number): Promise<'connected' | TraceTrouble> {
  const socket = connect({ host: address, port })
  return new Promise((resolve) => {
    const end = (result: 'connected' | TraceTrouble) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    const timer = setTimeout(() => end('timeout'), Math.min(ms, PATIENCE))
    socket.once('connect', () => end('connected'))
    // Errors of a socket that is given up go nowhere, so this stays.
    socket.on('error', (error) => end(codeOf(error) === 'ECONNREFUSED' ? 'refused' : 'unreachable'))
  })
}

export interface ServedCertificate {
  /** PEM; null: none came. */
  served: string | null
  isTrusted: boolean
  problem: string | null
}

/** What a visitor who names this server gets from HAProxy. @param name null: an address, which has none */
export function lookAtCertificate(port: number, name: string | null, ms: number): Promise<ServedCertificate> {
  const socket = connectTls({ host: '127.0.0.1', port, servername: name ?? '', rejectUnauthorized: false })
  return new Promise((resolve) => {
    const end = (result: ServedCertificate) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    const fail = (problem: string) => end({ served: null, isTrusted: false, problem })
    const timer = setTimeout(() => fail('HAProxy did not answer in time'), Math.min(ms, PATIENCE))
    socket.once('secureConnect', () => {
      const served = socket.getPeerX509Certificate()?.toString() ?? null
      // Whether it is for the name is judged by the server, which says it in words.
      const isTrusted =
        socket.authorized || String(socket.authorizationError) === 'ERR_TLS_CERT_ALTNAME_INVALID'
      end({ served, isTrusted, problem: served === null ? 'HAProxy showed no certificate' : null })
    })
    socket.on('error', (error) => fail(`HAProxy ended the TLS handshake: ${messageOf(error).slice(0, 200)}`))
  })
}

export interface HttpTarget {
  /** An IP literal. */
  address: string
  port: number
  isHttps: boolean
  /** Whom a visitor asks for. */
  host: string
  path: string
  /** The part of the visitor's path that the backend does not get. */
  prefix: string
  /** Whom it names as the visitor. */
  visitor: string
  /** At which visitors come. */
  publicPort: number
}

/** Asks a backend as HAProxy would, for nothing but the head of an answer. */
export async function askBackend(
  target: HttpTarget,
  ms: number,
): Promise<{ result: 'answered' | TraceTrouble; status: number | null }> {
  const signal = AbortSignal.timeout(Math.max(1, Math.min(ms, PATIENCE)))
  try {
    const { statusCode: status = 0 } = await sendHead(target, signal)
    // Node takes any three digits.
    return status < 100 ? { result: 'broken', status: null } : { result: 'answered', status }
  } catch (error) {
    return { result: signal.aborted ? 'silent' : await explain(target, codeOf(error) ?? ''), status: null }
  }
}

function sendHead(target: HttpTarget, signal: AbortSignal): Promise<IncomingMessage> {
  const { address, port, isHttps, host, path, prefix, visitor, publicPort } = target
  const isName = !/^[\d.]+$|:/.test(host)
  const headers = {
    host: host.includes(':') ? `[${host}]` : host,
    'user-agent': 'Postern',
    'x-forwarded-for': visitor,
    'x-real-ip': visitor,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
    'x-forwarded-port': String(publicPort),
    ...(prefix !== '' && { 'x-forwarded-prefix': prefix }),
    connection: 'close',
  }
  const common = {
    method: 'HEAD',
    host: address,
    port,
    path,
    headers,
    agent: false,
    signal,
    maxHeaderSize: MAX_HEAD,
  }
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage) => {
      answer.resume()
      resolve(answer)
      sent.destroy()
    }
    // HAProxy does not ask whom the backend's certificate is for, either.
    const tls = { rejectUnauthorized: false, servername: isName ? host : '' }
    const sent = isHttps ? requestHttps({ ...common, ...tls }, onAnswer) : requestHttp(common, onAnswer)
    // Whatever a program makes of the question, it ends.
    sent.on('upgrade', onAnswer).on('close', () => reject(new Error('no answer')))
    sent.on('error', reject).end()
  })
}

async function explain({ address, port, isHttps, host }: HttpTarget, code: string): Promise<TraceTrouble> {
  if (code === 'ECONNREFUSED') return 'refused'
  const domain = /^[\d.]+$|:/.test(host) ? null : host
  const probe = probeBackend({ address, port, proto: isHttps ? 'https' : 'http', domain }, true)
  const found = await Promise.race([probe, new Promise<null>((resolve) => setTimeout(resolve, 1000, null))])
  return found ?? 'broken'
}
