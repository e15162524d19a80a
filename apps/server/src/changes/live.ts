/** A service and its node, so that followers of a node need not look it up. */
export interface ServiceRef {
  id: number
  nodeId: number
}

/** What a change was about. Ids of removed things too. */
export interface Touched {
  nodes?: readonly number[]
  services?: readonly ServiceRef[]
  domains?: readonly number[]
}

/**
 * `changed`: rows changed and are committed. `reported`: an edge reported the state of these services.
 * `ordered`: the orders of certificates for these domains are further. `edges`: an edge came, went or reported.
 * `figures`: live figures or problems of these nodes are new, and the status of those in `turned`; `isReport`: an agent
 * told problems. `session-ended`: its streams must end.
 */
export type Hint =
  | { kind: 'changed'; revision: number; touched: Touched }
  | { kind: 'reported'; services: readonly ServiceRef[] }
  | { kind: 'ordered'; domains: readonly number[] }
  | { kind: 'edges' }
  | { kind: 'figures'; nodes: readonly number[]; turned?: readonly number[]; isReport?: boolean }
  | { kind: 'session-ended'; sessionId: number }

export type Listener = (hint: Hint) => void

/** Hints within the process; they carry no data, and losing one must never matter for long. */
export interface LiveBus {
  emit(hint: Hint): void
  /** @returns how to stop listening. */
  listen(listener: Listener): () => void
}

/** What a listener throws goes to `onError`; the other listeners are called all the same. */
export function createLiveBus(onError: (error: unknown) => void): LiveBus {
  const listeners = new Set<Listener>()
  return {
    emit(hint) {
      for (const listener of [...listeners]) {
        try {
          listener(hint)
        } catch (error) {
          onError(error)
        }
      }
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
