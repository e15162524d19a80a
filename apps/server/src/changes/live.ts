import type { ConsoleSetting } from '@postern/contract/settings/console-settings'

/** A service and its node, so that followers of a node need not look it up. */
export interface ServiceRef {
  id: number
  nodeId: number
}

/** The things that changed, including ids of removed ones. */
export interface Touched {
  nodes?: readonly number[]
  services?: readonly ServiceRef[]
  domains?: readonly number[]
  settings?: readonly ConsoleSetting[]
  people?: readonly number[]
  edges?: readonly number[]
  /** Nodes have other edges to call, or call one at another address. */
  tunnelEnds?: true
}

/**
 * `changed`: rows changed and are committed. `reported`: an edge reported the state of these services.
 * `ordered`: the orders of certificates for these domains are further. `edges`: an edge came, went or reported.
 * `figures`: live figures or problems of these nodes are new, and the status of those in `turned`; `isReport`: an agent
 * told problems. `session-ended`: its streams must end. `access-changed`: a person may do and see other things, so that
 * their streams begin anew. `alerts`: alerts, their rules, channels or messages are others.
 */
export type Hint =
  | { kind: 'changed'; revision: number; touched: Touched }
  | { kind: 'reported'; services: readonly ServiceRef[] }
  | { kind: 'ordered'; domains: readonly number[] }
  | { kind: 'edges' }
  | { kind: 'figures'; nodes: readonly number[]; turned?: readonly number[]; isReport?: boolean }
  | { kind: 'session-ended'; sessionId: number }
  | { kind: 'access-changed'; userId: number }
  | { kind: 'alerts' }

export type Listener = (hint: Hint) => void

/** Hints within the process; they carry no data, and losing one must never matter for long. */
export interface LiveBus {
  emit(hint: Hint): void
  /** @returns a function that stops listening */
  listen(listener: Listener): () => void
}

/** A listener's error goes to `onError`; the other listeners are called all the same. */
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
