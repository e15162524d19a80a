import { X509Certificate } from 'node:crypto'
import { Agent, request } from 'node:https'
import { CONTROL_NAME } from '@postern/contract/edge/join'
import { WebSocket } from 'ws'
import type { IdentityStore } from '../identity/identity.ts'
import { ExpiredError } from './refusals.ts'
import type { ServerWay } from './way.ts'

/** The WebSocket, and one request beside it. */
const CONNECTIONS = 2

/**
 * To a server elsewhere: TLS 1.3, in which the server proves itself by the root that this edge was given when it joined
 * and by the one name of servers, and the edge by its certificate. The system's authorities count for nothing here.
 */
export function createTlsWay(identity: Pick<IdentityStore, 'current'>): ServerWay {
  let turns = 0
  return {
    async open() {
      const { key, certificate, root, known } = identity.current()
      const { validToDate } = new X509Certificate(certificate)
      if (Date.now() > validToDate.getTime()) throw new ExpiredError(validToDate)
      const { url } = known.servers[turns % known.servers.length] ?? { url: '' }
      const { hostname, port } = new URL(url)
      const host = hostname.replace(/^\[|\]$/g, '')
      const tls = {
        ca: root,
        key,
        cert: certificate,
        servername: CONTROL_NAME,
        minVersion: 'TLSv1.3',
      } as const
      const agent = new Agent({ ...tls, keepAlive: true, maxSockets: CONNECTIONS })
      const ending = new AbortController()
      return {
        webSocket: (path, options) =>
          new WebSocket(`${url}${path}`.replace(/^http/, 'ws'), { ...options, ...tls }),
        request({ signal, ...options }, onAnswer) {
          const either = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
          return request({ ...options, ...tls, host, port: port || 443, agent, signal: either }, onAnswer)
        },
        close() {
          ending.abort()
          agent.destroy()
        },
      }
    },
    turn() {
      turns++
    },
    // A server that returns is found within three seconds, and a thousand edges do not come at once.
    retry: { first: 250, most: 3000 },
    // A lost first packet is sent again after one second and after three.
    timeoutMs: 4000,
    isShared: true,
  }
}
