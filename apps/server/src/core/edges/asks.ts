import type { EdgeHint } from '@postern/contract/edge/edge-messages'
import type { FoundRequests, KeptSearch } from '@postern/contract/requests/kept'

export type Search = Omit<KeptSearch, 'ask'>

/** Searches that edges have not answered yet. */
export interface Asks {
  /** @returns null when the edge gives no answer in time, or goes, or nobody waits any more */
  ask(
    edgeId: number,
    send: (hint: EdgeHint) => void,
    search: Search,
    signal: AbortSignal,
  ): Promise<FoundRequests | null>
  receive(edgeId: number, found: FoundRequests): void
  /** The edge answers none of them any more. */
  dropAll(edgeId: number): void
}

/** In ms: an edge takes less than half of it by itself. */
const PATIENCE = 5000

export function createAsks(): Asks {
  const waiting = new Map<number, { edgeId: number; end: (found: FoundRequests | null) => void }>()
  let last = 0
  return {
    ask(edgeId, send, search, signal) {
      if (signal.aborted) return Promise.resolve(null)
      last++
      const ask = last
      return new Promise((resolve) => {
        const end = (found: FoundRequests | null) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', give)
          waiting.delete(ask)
          resolve(found)
        }
        const give = () => {
          send({ type: 'forget', ask })
          end(null)
        }
        const timer = setTimeout(give, PATIENCE)
        signal.addEventListener('abort', give)
        waiting.set(ask, { edgeId, end })
        send({ type: 'search', ask, ...search })
      })
    },
    receive(edgeId, found) {
      const asked = waiting.get(found.ask)
      if (asked?.edgeId === edgeId) asked.end(found)
    },
    dropAll(edgeId) {
      for (const asked of [...waiting.values()]) if (asked.edgeId === edgeId) asked.end(null)
    },
  }
}
