import { AgentHint } from '@postern/contract/agent'
import { endpoints, pathOf } from '@postern/contract/endpoints'
import { WebSocket } from 'ws'
import { type Backoff, createBackoff } from './backoff.ts'
import { parseJson } from './files.ts'
import type { ServerAccess } from './server-client.ts'

/** The line over which the server says that something changed. It comes back by itself until closed. */
export interface ServerSocket {
  /** Starts anew: after a sleep the old connection may look alive for minutes. */
  restart(): void
  close(): void
}

export interface SocketEvents {
  /** Connected, or told of a change: in both cases it is time to read the configuration. */
  onHint(): void
  random(): number
}

const PING_EVERY = 25_000
const REFUSED_FIRST = 60_000
const REFUSED_LAST = 600_000

export function openServerSocket(access: ServerAccess, events: SocketEvents): ServerSocket {
  const lost = createBackoff(1000, 60_000, events.random)
  const refused = createBackoff(REFUSED_FIRST, REFUSED_LAST, events.random)
  let socket: WebSocket | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function connect(): void {
    const current = dial(access)
    socket = current
    const stopPinging = keepAlive(current)
    let backoff: Backoff = lost
    current.on('open', () => {
      lost.reset()
      refused.reset()
      events.onHint()
    })
    current.on('message', (data) => {
      if (parseJson(String(data), AgentHint)) events.onHint()
    })
    current.on('unexpected-response', (outgoing, answer) => {
      if ([401, 403, 404].includes(answer.statusCode ?? 0)) backoff = refused
      outgoing.destroy()
      current.terminate()
    })
    // Every error is followed by a close, which is where the next attempt is made.
    current.on('error', () => undefined)
    current.on('close', () => {
      stopPinging()
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
      drop()
    },
  }
}

function dial(access: ServerAccess): WebSocket {
  const address = new URL(pathOf(endpoints.agentSocket), access.url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  // Handed on to tls.connect; the types of ws do not list it.
  const tls = { secureContext: access.trust }
  return new WebSocket(address, {
    headers: { authorization: `Bearer ${access.token}` },
    ...tls,
    handshakeTimeout: 15_000,
    maxPayload: 65_536,
    perMessageDeflate: false,
  })
}

/** A connection that answers no ping within one round is dead, whatever TCP believes. */
function keepAlive(socket: WebSocket): () => void {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, PING_EVERY)
  return () => clearInterval(timer)
}
