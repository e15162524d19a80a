import { type IncomingMessage, request } from 'node:http'
import type { SectionHashes } from '@postern/contract/edge/desired-state'
import { EdgeHint, type EdgeMessage } from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { createBackoff } from '@postern/host/backoff'
import { watchPulse } from '@postern/host/processes/pulse'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { readToken, ServerSocketError } from './server-token.ts'

export interface ServerLinkOptions {
  /** The server's unix socket. */
  socketPath: string
  tokenFile: string
  version: string
  epoch: string
  random: () => number
  log: Logger
  onHint: (hint: EdgeHint) => void
  /** Connected: the server has nothing of what was sent before. */
  onReconnect: () => void
}

export interface ServerLink {
  /** Connects, and connects again whenever the connection ends. */
  start(): void
  /** The body of a StateAnswer, not yet parsed. @throws when the server does not give one */
  fetchState(known: SectionHashes): Promise<unknown>
  /**
   * Sends the message if the server listens; otherwise it is lost, because everything is sent again after connecting.
   */
  send(message: EdgeMessage): boolean
  close(): Promise<void>
}

const TIMEOUT = 10_000
/** Long, because a busy server would take as long for the next request: asking again would only make it busier. */
const STATE_TIMEOUT = 60_000
const MAX_STATE_BYTES = 256 * 1024 * 1024
const MAX_HINT_BYTES = 4 * 1024 * 1024
/** Most unread bytes; beyond them we send nothing more. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024
const PING_EVERY = 10_000
/** Short, because connecting to a unix socket costs nothing and a returning server should be found soon. */
const RETRY = { first: 100, most: 1000 }

class ServerError extends Error {
  readonly code = 'server'
}

export function createServerLink(options: ServerLinkOptions): ServerLink {
  const closing = new AbortController()
  const connection = createConnection(options)
  return {
    start: connection.open,
    fetchState: async (known) =>
      fetchState(options.socketPath, await readToken(options), known, closing.signal),
    send(message) {
      const socket = connection.socket()
      if (!socket || socket.bufferedAmount > MAX_UNREAD_BYTES) return false
      socket.send(JSON.stringify(message))
      return true
    },
    async close() {
      connection.close()
      closing.abort()
    },
  }
}

/** The one WebSocket, opened again whenever it ends. */
function createConnection(options: ServerLinkOptions) {
  const backoff = createBackoff({ ...RETRY, random: options.random })
  const noteFailure = createFailureNotes(options.log)
  let current: WebSocket | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false

  const connect = async () => {
    const token = await readToken(options)
    if (closed) return
    const socket = openSocket(options, token)
    current = socket
    socket.once('close', again)
    socket.once('open', () => {
      backoff.reset()
      const { version, epoch } = options
      socket.send(JSON.stringify({ type: 'hello', version, epoch, can: ['trace'] } satisfies EdgeMessage))
      options.onReconnect()
    })
  }
  const open = () =>
    void connect().catch((err: unknown) => {
      noteFailure(err)
      again()
    })
  const again = () => {
    if (!closed) retry = setTimeout(open, backoff.next())
  }
  return {
    open,
    socket: () => (current?.readyState === WebSocket.OPEN ? current : undefined),
    close() {
      closed = true
      clearTimeout(retry)
      current?.close(1000)
      current?.terminate()
    },
  }
}

/** A server that is down comes back by itself; a stranger in its place needs a person. */
function createFailureNotes(log: Logger): (error: unknown) => void {
  let reported: string | undefined
  return (err) => {
    const stranger = err instanceof ServerSocketError ? err.message : undefined
    if (stranger !== undefined && stranger !== reported)
      log.error(`the edge does not speak to the server: ${stranger}`)
    else log.debug({ err }, 'the server cannot be reached')
    reported = stranger
  }
}

function openSocket(options: ServerLinkOptions, token: string): WebSocket {
  const socket = new WebSocket(`ws+unix:${options.socketPath}:${endpoints.edgeSocket.path}`, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: TIMEOUT,
    maxPayload: MAX_HINT_BYTES,
    perMessageDeflate: false,
  })
  // Every failure ends in `close`, which connects again.
  socket.on('error', (err) => options.log.debug({ err }, 'the connection to the server failed'))
  socket.on('message', (data) => {
    const hint = EdgeHint.safeParse(parseJson(String(data)))
    if (hint.success) options.onHint(hint.data)
    else options.log.warn('the server sent a message that is not in the contract')
  })
  watchPulse(socket, PING_EVERY)
  return socket
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it, like anything else that is no hint.
    return undefined
  }
}

async function fetchState(
  socketPath: string,
  token: string,
  known: SectionHashes,
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method, path } = endpoints.edgeState
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asking = request({ socketPath, method, path, headers, signal, agent: false }, resolve)
    asking.setTimeout(STATE_TIMEOUT, () => asking.destroy(new ServerError('The server does not answer.')))
    asking.on('error', reject).end(JSON.stringify({ known }))
  })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    // Buffers, as long as no encoding is set.
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > MAX_STATE_BYTES) throw new ServerError('The state of the server is too large.')
    chunks.push(bytes)
  }
  if (answer.statusCode !== 200)
    throw new ServerError(`The server answered ${answer.statusCode} when asked for the state.`)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
