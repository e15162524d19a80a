import { AgentHint } from '@postern/contract/agent/agent'
import { pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { type Backoff, createBackoff } from '@postern/host/backoff'
import { watchPulse } from '@postern/host/processes/pulse'
import { createSingleFlight } from '@postern/host/tasks'
import { WebSocket } from 'ws'
import { parseJson } from '../files.ts'
import type { ServerAccess } from './server-client.ts'

/** The connection for the server's hints. Reconnects by itself until closed. */
export interface ServerSocket {
  /** Reconnects now: after sleep the old connection may look alive for minutes. */
  restart(): void
  close(): void
}

export interface SocketEvents {
  /** Connected, refused, or a hint came: in each case it is time to read the configuration. */
  onHint(): void
  /** Connected or reconnected: the server may have been restored to an earlier state. */
  onOpen?(): void
  random(): number
}

const PING_EVERY = 25_000
/** Each hint costs a request and a check of the tunnel. */
const HINT_GAP = 500
/** Frames between two pings. A server sends far fewer; the agent disconnects from one that floods it. */
const MAX_MESSAGES = 1000
const REFUSED_FIRST = 60_000
const REFUSED_LAST = 600_000

export function openServerSocket(access: ServerAccess, events: SocketEvents): ServerSocket {
  const lost = createBackoff({ first: 1000, most: 60_000, random: events.random })
  const refused = createBackoff({ first: REFUSED_FIRST, most: REFUSED_LAST, random: events.random })
  let socket: WebSocket | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const hints = createSingleFlight(async () => events.onHint(), HINT_GAP)

  function connect(): void {
    const current = dial(access)
    socket = current
    watchPulse(current, PING_EVERY)
    let backoff: Backoff = lost
    const isFlood = createFloodCheck()
    const take = () => {
      if (!isFlood()) return true
      backoff = refused
      current.terminate()
      return false
    }
    current.on('open', () => {
      lost.reset()
      events.onOpen?.()
      hints.trigger()
    })
    current.on('ping', take)
    current.on('pong', () => {
      if (take()) refused.reset()
    })
    current.on('message', (data) => {
      if (take() && parseJson(String(data), AgentHint)) hints.trigger()
    })
    current.on('unexpected-response', (outgoing, answer) => {
      if ([401, 403, 404].includes(answer.statusCode ?? 0)) {
        backoff = refused
        // The answer to the next request for the configuration says why.
        hints.trigger()
      }
      outgoing.destroy()
      current.terminate()
    })
    // A close follows every error, and schedules the next attempt.
    current.on('error', () => undefined)
    current.on('close', () => {
      if (closed || socket !== current) return
      timer = setTimeout(connect, backoff.next())
    })
  }

  function drop(): void {
    clearTimeout(timer)
    const old = socket
    socket = undefined
    old?.terminate()
  }

  connect()
  return {
    restart() {
      if (closed) return
      drop()
      connect()
    },
    close() {
      closed = true
      hints.close()
      drop()
    },
  }
}

/**
 * Call it for each frame.
 * @returns true once there were more than a server sends
 */
function createFloodCheck(): () => boolean {
  let [messages, since] = [0, performance.now()]
  return () => {
    const now = performance.now()
    if (now - since > PING_EVERY) [messages, since] = [0, now]
    return ++messages > MAX_MESSAGES
  }
}

function dial(access: ServerAccess): WebSocket {
  const address = new URL(pathOf(endpoints.agentSocket), access.url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  // Passed on to tls.connect; the types of ws do not list it.
  const tls = { secureContext: access.trust }
  return new WebSocket(address, {
    headers: { authorization: `Bearer ${access.token}` },
    ...tls,
    handshakeTimeout: 15_000,
    maxPayload: 65_536,
    perMessageDeflate: false,
  })
}
