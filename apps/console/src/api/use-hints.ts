import { endpoints } from '@postern/contract/endpoints'
import { HintNoun, Hints } from '@postern/contract/hints'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { type StreamState, useStream } from './stream.ts'

/** Reads again whatever the server says is other than before, and all of it once the stream is there (again). */
export function useHints(): StreamState {
  const queries = useQueryClient()
  const readAgain = (nouns: readonly HintNoun[]) =>
    void queries.invalidateQueries({
      predicate: ({ queryKey: [path] }) => nouns.some((noun) => String(path).startsWith(`/api/${noun}`)),
    })
  const state = useStream(endpoints.streamHints, {
    query: {},
    reconnect: true,
    // A page that nobody sees reads nothing, and leaves its connection to others.
    enabled: useSyncExternalStore(subscribeToVisibility, isVisible),
    onMessage: (data) => readAgain(Hints.parse(data)),
  })
  const readAll = useEffectEvent(() => readAgain(HintNoun.options))
  useEffect(() => {
    if (state === 'live') readAll()
  }, [state])
  return state
}

function isVisible(): boolean {
  return document.visibilityState === 'visible'
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
