import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { useEffect, useEffectEvent, useState } from 'react'
import { STREAM_MESSAGE_LIMIT, STREAM_RECONNECT_DELAY, STREAM_SILENCE_LIMIT } from '../util/constants.ts'
import { readError } from './answers.ts'
import { ApiError } from './api-error.ts'
import { useApi } from './context.ts'
import { whenVisible, whileVisible } from './visibility.ts'

interface Options {
  query: Record<string, string | number | undefined>
  /** Streams of lists and logs reconnect after a second; the stream of one node does not. */
  reconnect: boolean
  /** Gets the parsed JSON of each message, not yet checked. */
  onMessage: (data: unknown) => void
  /** Called when the stream opens, before queries that wait for it begin. */
  onLive?: () => void
  enabled?: boolean
}

/** Follows an event stream while the component is mounted and the page is visible; a new query opens a new stream. */
export function useStream(
  endpoint: Endpoint,
  { query, reconnect, onMessage, onLive, enabled = true }: Options,
): StreamState {
  const api = useApi()
  const [state, setState] = useState<StreamState>('connecting')
  const handle = useEffectEvent(onMessage)
  const show = useEffectEvent((now: StreamState) => {
    if (now === 'live') onLive?.()
    setState(now)
  })
  const key = JSON.stringify(query)
  useEffect(() => {
    if (!enabled) return
    return openStream({
      url: (isRefused) => api.streamUrl(endpoint, JSON.parse(key), isRefused),
      reconnect,
      onMessage: (data) => handle(data),
      onState: (now) => show(now),
      onRefused: api.onRefused,
    })
  }, [api, endpoint, key, reconnect, enabled])
  return state
}

/** `lost` is final: the stream ended and is not opened again. */
export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'lost'

export interface StreamOptions {
  /** Called for each attempt: the address carries the current ticket, or a new one when that was refused. */
  url: (isRefused: boolean) => Promise<string>
  reconnect: boolean
  /** Gets the parsed JSON of each message. */
  onMessage: (data: unknown) => void
  onState: (state: StreamState) => void
  onRefused: (error: ApiError) => void
}

/**
 * Follows an event stream until the returned function is called. It is read with fetch and not with
 * EventSource: that hides the status, so that it would retry an ended session forever,
 * and forgets the last event's id when it has to be reopened.
 */
function openStream(options: StreamOptions): () => void {
  const end = new AbortController()
  void follow(options, end.signal)
  return () => end.abort()
}

async function follow(options: StreamOptions, end: AbortSignal): Promise<void> {
  const last = { id: '' }
  options.onState('connecting')
  while (!end.aborted) {
    try {
      await whenVisible(end)
      const wasSeen = await whileVisible(end, (signal) => readOnce(options, last, signal))
      if (!wasSeen) {
        options.onState('connecting')
        continue
      }
    } catch (error) {
      if (!end.aborted && !isSessionOver(error)) console.error('The stream was lost', error)
      if (isFinal(error)) return options.onState('lost')
    }
    if (end.aborted) return
    if (!options.reconnect) return options.onState('lost')
    options.onState('reconnecting')
    await delay(STREAM_RECONNECT_DELAY, end)
  }
}

/** The client has already shown it. */
function isSessionOver(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.code === 'second_factor')
}

/** The session is over, or the record does not exist: repeating does not help. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}

async function readOnce(options: StreamOptions, last: { id: string }, end: AbortSignal): Promise<void> {
  const silence = createSilenceTimer()
  try {
    const signal = AbortSignal.any([end, silence.signal])
    let response = await ask(await options.url(false), last.id, signal)
    // The ticket may be too old. If the next one is refused too, the session is over.
    if (response.status === 401) response = await ask(await options.url(true), last.id, signal)
    if (!response.ok) {
      const error = await readError(response)
      if ([401, 403, 429].includes(error.status)) options.onRefused(error)
      throw error
    }
    if (!response.body) throw new Error('The stream answered without a body')
    options.onState('live')
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(
        new EventSourceParserStream({ maxBufferSize: STREAM_MESSAGE_LIMIT, onComment: silence.end }),
      )
      .getReader()
    for (let next = await events.read(); !next.done; next = await events.read()) {
      silence.end()
      last.id = next.value.id ?? last.id
      options.onMessage(JSON.parse(next.value.data))
    }
  } finally {
    silence.stop()
  }
}

/** Its signal aborts after too long a silence. */
function createSilenceTimer() {
  const tooLong = new AbortController()
  const start = () => setTimeout(() => tooLong.abort(), STREAM_SILENCE_LIMIT)
  let timer = start()
  return {
    signal: tooLong.signal,
    end() {
      clearTimeout(timer)
      timer = start()
    },
    stop: () => clearTimeout(timer),
  }
}

function ask(url: string, lastId: string, signal: AbortSignal): Promise<Response> {
  const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) }
  return fetch(url, { headers, signal })
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
