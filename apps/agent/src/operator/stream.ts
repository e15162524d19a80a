import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { readToEnd } from '@postern/host/streams'
import type { ServerAccess } from '../daemon/server-client.ts'
import { unreachable } from '../daemon/server-client.ts'
import { AgentError } from '../errors.ts'
import { refusal } from './api.ts'

export interface StreamOptions {
  path: string
  onData(data: string): void
  signal: AbortSignal
}

/** A heartbeat comes every 15 s. */
const SILENCE_MS = 45_000
const MOST_UNREAD = 4 * 1024 * 1024
const LONGEST_WAIT = 30_000

/**
 * Follows a stream of server-sent events until the signal, from where it was after a break. Whatever the server refuses,
 * like a service that is gone, ends it.
 * @throws AgentError
 */
export async function followStream(access: ServerAccess, options: StreamOptions): Promise<void> {
  let lastId: string | undefined
  let wait = 1000
  const onId = (id: string) => {
    lastId = id
    wait = 1000
  }
  while (!options.signal.aborted) {
    try {
      await readStream(access, { ...options, lastId, onId })
    } catch (error) {
      if (error instanceof AgentError && error.code !== 'server-unreachable') throw error
      if (lastId === undefined) throw error
    }
    await pause(wait, undefined, { signal: options.signal }).catch(() => undefined)
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }
}

interface Reading extends StreamOptions {
  lastId: string | undefined
  onId(id: string): void
}

/** Until it ends. */
async function readStream(access: ServerAccess, reading: Reading): Promise<void> {
  const answer = await open(access, reading).catch((error: unknown) => {
    if (!reading.signal.aborted) throw unreachable(access.url, error)
  })
  if (!answer) return
  const { statusCode: status = 0, headers } = answer
  const type = headers['content-type'] ?? ''
  if (status !== 200) throw refusal(access.url, { status, type, retryAfter: 0, body: await readBody(answer) })
  answer.setEncoding('utf8')
  let unread = ''
  try {
    for await (const chunk of answer) {
      unread += chunk
      const blocks = unread.split('\n\n')
      unread = blocks.pop() ?? ''
      if (unread.length > MOST_UNREAD) throw new RangeError('an event is too long')
      for (const block of blocks) readBlock(block, reading)
    }
  } catch (error) {
    if (!reading.signal.aborted) throw unreachable(access.url, error)
  }
}

const readBody = (answer: IncomingMessage) => readToEnd(answer, 65_536, 'the answer')

function readBlock(block: string, { onData, onId }: Reading): void {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
  const [data, id] = [field('data'), field('id')]
  if (id !== undefined) onId(id)
  if (data !== undefined) onData(data)
}

function open(
  { url, token, trust }: ServerAccess,
  { path, signal, lastId }: Reading,
): Promise<IncomingMessage> {
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${token}`,
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  }
  return new Promise((resolve, reject) => {
    const common = { headers, signal, agent: false as const, autoSelectFamily: true, timeout: SILENCE_MS }
    const tls = { secureContext: trust }
    const address = new URL(path, url)
    const outgoing =
      url.protocol === 'https:'
        ? requestHttps(address, { ...common, ...tls }, resolve)
        : requestHttp(address, common, resolve)
    outgoing.on('timeout', () =>
      outgoing.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}
