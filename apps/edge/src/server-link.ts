import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { dirname } from 'node:path'
import type { SectionHashes } from '@postern/contract/desired-state'
import { EdgeHint, type EdgeMessage } from '@postern/contract/edge'
import { endpoints } from '@postern/contract/endpoints'
import { SYSTEM_USERS } from '@postern/contract/installation'
import { createBackoff } from '@postern/host/backoff'
import { watchPulse } from '@postern/host/pulse'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { findSystemUser } from './system-user.ts'

export interface ServerLinkOptions {
  /** The server's unix socket. */
  socketPath: string
  tokenFile: string
  version: string
  epoch: string
  random: () => number
  log: Logger
  onHint: (hint: EdgeHint) => void
  /** Connected: the server knows nothing of what was sent before. */
  onReconnect: () => void
}

export interface ServerLink {
  /** Connects, and connects again whenever the connection ends. */
  start(): void
  /** The body of a StateAnswer, not yet parsed. @throws when the server does not give one */
  fetchState(known: SectionHashes): Promise<unknown>
  /** Says it when the server listens; what cannot be said is lost, as all of it is said again later. */
  send(message: EdgeMessage): boolean
  close(): Promise<void>
}

const TIMEOUT = 10_000
/** A server that is busy needs as long for the next request: asking again would only make it busier. */
const STATE_TIMEOUT = 60_000
const MAX_TOKEN_BYTES = 1024
const MAX_STATE_BYTES = 256 * 1024 * 1024
const MAX_HINT_BYTES = 4 * 1024 * 1024
/** What the server has not read yet; beyond it we say nothing more. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024
const PING_EVERY = 10_000
/** Asking a unix socket costs nothing, and a server that is back should be heard soon. */
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
      socket.send(JSON.stringify({ type: 'hello', version, epoch } satisfies EdgeMessage))
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

/** A server that is away comes back by itself; a stranger in its place is for a person. */
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
    else options.log.warn('the server said something that is not in the contract')
  })
  watchPulse(socket, PING_EVERY)
  return socket
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Refused by the schema, like anything else that is no hint.
    return undefined
  }
}

/** What proves us to the server, and is for nobody else. @throws ServerSocketError */
async function readToken({ socketPath, tokenFile }: ServerLinkOptions): Promise<string> {
  await assertServerSocket(socketPath)
  // The server can put a link there, and would be sent what only we may read.
  const file = await open(tokenFile, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    const text = found.isFile() && found.size <= MAX_TOKEN_BYTES ? await file.readFile('utf8') : ''
    const token = /^[\w-]{16,}\n?$/.exec(text)?.[0]
    if (token === undefined) throw new ServerSocketError(`${tokenFile} holds no token of an edge.`)
    return token.trim()
  } finally {
    await file.close()
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

/** The way to the server, or what is shown to it, is not as the server makes it; `message` names it. */
class ServerSocketError extends Error {
  readonly code = 'server_socket'
}

/**
 * Before the edge shows its token: the socket belongs to the server's user or root, and no other user may put anything
 * into its directory, so that what was checked is what is connected to.
 * @throws ServerSocketError, or the system's error when there is none
 */
async function assertServerSocket(path: string): Promise<void> {
  const server = await findSystemUser([SYSTEM_USERS.server])
  const owners = new Set([0, process.getuid?.() ?? 0, ...(server ? [server.uid] : [])])
  const directory = await lstat(dirname(path))
  if (!directory.isDirectory() || !owners.has(directory.uid) || isWritableByOthers(directory))
    throw new ServerSocketError(`${dirname(path)} is not a directory of the server's own.`)
  const socket = await lstat(path)
  if (!socket.isSocket() || !owners.has(socket.uid))
    throw new ServerSocketError(`${path} is not a socket of the server's own.`)
}

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0
}
