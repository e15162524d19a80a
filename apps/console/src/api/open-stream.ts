import { STREAM_MESSAGE_LIMIT, STREAM_RECONNECT_DELAY, STREAM_SILENCE_LIMIT } from '../util/constants.ts'
import { createEventParser } from './event-parser.ts'

/** `lost` is final: the stream ended and is not opened again. */
export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'lost'

export interface StreamOptions {
  /** Called for each attempt, so that it carries the token of the moment. */
  url: () => string
  reconnect: boolean
  /** Gets the parsed JSON and the event's name, which is `message` unless the server gave one. */
  onMessage: (data: unknown, name: string) => void
  onState: (state: StreamState) => void
  onRefused: () => void
}

/**
 * Follows an event stream until the returned function is called. It is read with fetch and not with
 * EventSource: that one hides the status, so that an ended session would be asked for again for ever,
 * and forgets the last event's id when it has to be opened again by hand.
 */
export function openStream(options: StreamOptions): () => void {
  const end = new AbortController()
  void follow(options, end.signal)
  return () => end.abort()
}

async function follow(options: StreamOptions, end: AbortSignal): Promise<void> {
  const last = { id: '' }
  options.onState('connecting')
  while (!end.aborted) {
    try {
      await readOnce(options, last, end)
    } catch (error) {
      if (!end.aborted) console.error('The stream was lost', error)
    }
    if (end.aborted) return
    if (!options.reconnect) return options.onState('lost')
    options.onState('reconnecting')
    await delay(STREAM_RECONNECT_DELAY, end)
  }
}

async function readOnce(options: StreamOptions, last: { id: string }, end: AbortSignal): Promise<void> {
  const silence = new AbortController()
  const watch = () => setTimeout(() => silence.abort(), STREAM_SILENCE_LIMIT)
  let timer = watch()
  try {
    const response = await fetch(options.url(), {
      headers: { accept: 'text/event-stream', ...(last.id === '' ? {} : { 'last-event-id': last.id }) },
      signal: AbortSignal.any([end, silence.signal]),
    })
    if ([401, 403, 429].includes(response.status)) options.onRefused()
    if (!response.ok || !response.body) throw new Error(`The stream answered with status ${response.status}`)
    options.onState('live')
    const parse = createEventParser(STREAM_MESSAGE_LIMIT)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      clearTimeout(timer)
      timer = watch()
      for (const event of parse(chunk.value)) {
        if (event.id !== undefined) last.id = event.id
        options.onMessage(JSON.parse(event.data), event.name)
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

function delay(ms: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    end.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
