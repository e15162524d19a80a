import type { IncomingMessage } from 'node:http'
import type { SectionHashes } from '@postern/contract/edge/desired-state'
import { EdgeHint, type EdgeMessage } from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { createBackoff } from '@postern/host/backoff'
import { watchPulse } from '@postern/host/processes/pulse'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { findRefusal, RefusedError } from './refusals.ts'
import type { Door, ServerWay } from './way.ts'

export interface ServerLinkOptions {
  way: ServerWay
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
  /** The same of a certificate for this request. */
  fetchCertificate(csr: string): Promise<unknown>
  /**
   * Sends the message if the server listens; otherwise it is lost, because everything is sent again after connecting.
   */
  send(message: EdgeMessage): boolean
  close(): Promise<void>
}

/** Long, because a busy server would take as long for the next request: asking again would only make it busier. */
const ANSWER_TIMEOUT = 60_000
const MAX_STATE_BYTES = 256 * 1024 * 1024
const MAX_CERTIFICATE_BYTES = 64 * 1024
const MAX_HINT_BYTES = 4 * 1024 * 1024
/** Most unread bytes; beyond them we send nothing more. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024
const PING_EVERY = 10_000
/** A server that knows this edge ends the connection so, with the reason: it speaks with none that is newer than it. */
const REFUSED = 1008

class ServerError extends Error {
  readonly code = 'server'
}

export function createServerLink(options: ServerLinkOptions): ServerLink {
  const { way } = options
  const closing = new AbortController()
  const connection = createConnection(options)
  const findDoor = async () => {
    const door = way.isShared ? connection.door() : await way.open()
    if (!door) throw new ServerError('not connected')
    return door
  }
  const post = async (asked: Omit<Question, 'signal'>) =>
    ask(await findDoor(), { ...asked, signal: closing.signal })
  return {
    start: connection.open,
    fetchState: (known) =>
      post({
        path: endpoints.edgeState.path,
        body: { known },
        mostBytes: MAX_STATE_BYTES,
        what: 'the state',
      }),
    fetchCertificate: (csr) =>
      post({
        path: endpoints.edgeCertificate.path,
        body: { csr },
        mostBytes: MAX_CERTIFICATE_BYTES,
        what: 'a certificate',
      }),
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
  const { way } = options
  const backoff = createBackoff({ ...way.retry, random: options.random })
  const noteFailure = createFailureNotes(options.log)
  let current: { socket: WebSocket; door: Door } | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false

  const connect = async () => {
    const door = await way.open()
    if (closed) return
    const socket = openSocket(options, door, noteFailure)
    current = { socket, door }
    let wasOpen = false
    socket.once('close', (code, reason) => {
      door.close()
      if (code !== REFUSED) {
        // They have spoken: what keeps them from it next is new.
        if (wasOpen) noteFailure(undefined)
        return again()
      }
      noteFailure(new RefusedError(String(reason)))
      again(way.retry.most)
    })
    socket.once('open', () => {
      wasOpen = true
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
  const again = (wait = backoff.next()) => {
    way.turn()
    if (!closed) retry = setTimeout(open, wait)
  }
  const isOpen = () => current?.socket.readyState === WebSocket.OPEN
  return {
    open,
    socket: () => (isOpen() ? current?.socket : undefined),
    door: () => (isOpen() ? current?.door : undefined),
    close() {
      closed = true
      clearTimeout(retry)
      current?.socket.close(1000)
      current?.socket.terminate()
      current?.door.close()
    },
  }
}

/** A server that is down comes back by itself; a stranger in its place, or one that refuses us, needs a person. */
function createFailureNotes(log: Logger): (error: unknown) => void {
  let reported: string | undefined
  return (err) => {
    const refusal = findRefusal(err)
    if (refusal !== undefined && refusal !== reported)
      log.error(`the edge does not speak to the server: ${refusal}`)
    else if (err !== undefined) log.debug({ err }, 'the server cannot be reached')
    reported = refusal
  }
}

function openSocket(
  { way, log, onHint }: ServerLinkOptions,
  door: Door,
  noteFailure: (error: unknown) => void,
): WebSocket {
  const socket = door.webSocket(endpoints.edgeSocket.path, {
    handshakeTimeout: way.timeoutMs,
    maxPayload: MAX_HINT_BYTES,
    perMessageDeflate: false,
  })
  // Every failure ends in `close`, which connects again.
  socket.on('error', noteFailure)
  socket.on('message', (data) => {
    const hint = EdgeHint.safeParse(parseJson(String(data)))
    if (hint.success) onHint(hint.data)
    else log.warn('the server sent a message that is not in the contract')
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

interface Question {
  path: string
  body: unknown
  mostBytes: number
  /** What is asked for, in words. */
  what: string
  signal: AbortSignal
}

/** One request to the server. @returns the parsed body of its answer */
async function ask(door: Door, { path, body, mostBytes, what, signal }: Question): Promise<unknown> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const asking = door.request({ method: 'POST', path, headers, signal }, resolve)
    asking.setTimeout(ANSWER_TIMEOUT, () => asking.destroy(new ServerError('The server does not answer.')))
    asking.on('error', reject).end(JSON.stringify(body))
  })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    // Buffers, as long as no encoding is set.
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > mostBytes) throw new ServerError(`The server's answer is too long for ${what}.`)
    chunks.push(bytes)
  }
  if (answer.statusCode !== 200)
    throw new ServerError(`The server answered ${answer.statusCode} when asked for ${what}.`)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
