import type { Endpoint } from '@postern/contract/endpoint'
import { useEffect, useEffectEvent, useState } from 'react'
import { useApi } from './context.ts'
import { openStream, type StreamState } from './open-stream.ts'

interface Options {
  query: Record<string, string | number | undefined>
  /** Lists and logs come back after a second; the stream of one node does not. */
  reconnect: boolean
  /** Gets the parsed JSON of each message, not yet checked. */
  onMessage: (data: unknown) => void
  enabled?: boolean
}

/** Follows an event stream while the component is there; a new query opens a new stream. */
export function useStream(
  endpoint: Endpoint,
  { query, reconnect, onMessage, enabled = true }: Options,
): StreamState {
  const api = useApi()
  const [state, setState] = useState<StreamState>('connecting')
  const handle = useEffectEvent(onMessage)
  const key = JSON.stringify(query)
  useEffect(() => {
    if (!enabled) return
    return openStream({
      url: (isRefused) => api.streamUrl(endpoint, JSON.parse(key), isRefused),
      reconnect,
      onMessage: (data) => handle(data),
      onState: setState,
      onRefused: api.onRefused,
    })
  }, [api, endpoint, key, reconnect, enabled])
  return state
}
