import type { TraceHint, TraceSight } from '@postern/contract/why/trace'

/** What the edge is asked: see `TraceHint`. */
export type TraceRequest = Omit<TraceHint, 'type' | 'id'>

/** Questions to one connected edge whose answers are still coming. */
export interface Traces {
  /** @returns what ends the listening */
  begin(request: TraceRequest, onSight: (sight: TraceSight) => void): () => void
  receive(id: number, sight: TraceSight): void
  /** The edge is gone: no answer comes any more. */
  end(): void
}

/** @param nextId never the same twice, so that a late answer is nobody else's */
export function createTraces(nextId: () => number, send: (hint: TraceHint) => void): Traces {
  const open = new Map<number, (sight: TraceSight) => void>()
  return {
    begin(request, onSight) {
      const id = nextId()
      open.set(id, onSight)
      send({ type: 'trace', id, ...request })
      return () => void open.delete(id)
    },
    receive: (id, sight) => open.get(id)?.(sight),
    end() {
      for (const onSight of open.values())
        onSight({ step: 'end', problem: 'The edge lost its connection meanwhile. Try again in a moment.' })
      open.clear()
    },
  }
}
