import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { HintNoun, Hints } from '@postern/contract/hints'
import { useQueryClient } from '@tanstack/react-query'
import { reload } from './queries.ts'
import { type StreamState, useStream } from './stream.ts'

/** Endpoints that depend on all of them. */
const OF_ALL: readonly string[] = [endpoints.getOverview.path, endpoints.listAttention.path, '/api/history']

/** Reloads what the server hints at, and everything when the stream connects again. */
export function useHints(): StreamState {
  const queries = useQueryClient()
  const reloadOf = (nouns: readonly HintNoun[]) =>
    void reload(queries, {
      predicate: ({ queryKey: [path] }) =>
        OF_ALL.some((all) => String(path).startsWith(all)) ||
        nouns.some((noun) => String(path).startsWith(`/api/${noun}`)),
    })
  return useStream(endpoints.streamHints, {
    query: {},
    reconnect: true,
    onMessage: (data) => reloadOf(Hints.parse(data)),
    onLive: () => reloadOf(HintNoun.options),
  })
}
