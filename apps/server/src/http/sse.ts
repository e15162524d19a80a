import type { FastifyReply } from 'fastify'
import type { Context } from '../context.ts'
import { UnavailableError } from '../core/errors.ts'
import type { PersonCaller } from './auth.ts'
import { watchCaller } from './caller-end.ts'

const HEARTBEAT_MS = 15_000
/** A reader that leaves more than this unread is disconnected. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024
/** Of all people, and of one of them with all that they use. */
const [MAX_STREAMS, MAX_PER_PERSON] = [1000, 100]

export interface StreamEvent {
  data: string
  event?: string
  id?: string
}

/** Server-sent events to one reader. It ends by itself with the credential, a reader that is gone or too slow, or the server. */
export interface EventStream {
  /** Whose it is. */
  readonly userId: number
  send(event: StreamEvent): void
  /** True while the reader has not taken what was sent; a sender of states then waits and sends the newest. */
  readonly isBusy: boolean
  readonly isClosed: boolean
  close(): void
  onClose(listener: () => void): void
  onDrain(listener: () => void): void
}

interface StreamCall {
  context: Context
  caller: PersonCaller
  reply: FastifyReply
}

/** Takes over the reply and sends the headers at once. @throws UnavailableError when too many are open. */
export function openStream({ context, caller, reply }: StreamCall): EventStream {
  const { streams } = reply.server
  const own = [...streams].filter(({ userId }) => userId === caller.userId)
  if (streams.size >= MAX_STREAMS || own.length >= MAX_PER_PERSON)
    throw new UnavailableError('Too many streams are open')
  const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
  reply.hijack()
  const { raw } = reply
  raw.writeHead(
    200,
    Object.fromEntries(Object.entries(headers).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]]))),
  )
  raw.flushHeaders()
  const stream = createStream(reply, caller.userId)
  streams.add(stream)
  stream.onClose(() => streams.delete(stream))
  stream.onClose(watchCaller(context, caller, () => stream.close()))
  if (reply.request.method === 'HEAD') stream.close()
  return stream
}

function createStream(reply: FastifyReply, userId: number): EventStream {
  const { raw } = reply
  const listeners = new Set<() => void>()
  let isClosed = false
  let wasBusy = false
  const close = () => {
    if (isClosed) return
    isClosed = true
    clearInterval(timer)
    raw.end()
    for (const listener of listeners) listener()
  }
  const write = (text: string) => {
    if (isClosed) return
    raw.write(text)
    if (raw.writableLength > MAX_UNREAD_BYTES) drop()
  }
  const drop = () => {
    raw.destroy()
    close()
  }
  const timer = setInterval(() => {
    // Two heartbeats without taking a byte: the reader is gone.
    if (wasBusy && raw.writableNeedDrain) return drop()
    wasBusy = raw.writableNeedDrain
    write(': alive\n\n')
  }, HEARTBEAT_MS)
  raw.on('close', close)
  raw.on('error', close)
  return {
    userId,
    send: (event) => write(renderEvent(event)),
    get isBusy() {
      return raw.writableNeedDrain
    },
    get isClosed() {
      return isClosed
    },
    close,
    onClose: (listener) => void listeners.add(listener),
    onDrain: (listener) => void raw.on('drain', listener),
  }
}

/** One event in the form of the HTML standard; `data` and `id` must have no line breaks of their own. */
export function renderEvent({ data, event, id }: StreamEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return `${head}data: ${data}\n\n`
}
