import type { RefusedRecord } from './run-parts.ts'

/** What could not be done, to be read: also on another page than the one where it was asked for. */
export interface Refusals {
  title: string
  records: readonly RefusedRecord[]
}

let current: Refusals | null = null
const listeners = new Set<() => void>()

export const refusedStore = {
  get: () => current,
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  show(next: Refusals | null) {
    current = next
    for (const listener of listeners) listener()
  },
}
