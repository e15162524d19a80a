import type { Names } from '../src/names.ts'

/** Names for tests that look up none. */
export function makeFakeNames(): Names {
  return {
    find: () => ({ addresses: [], reason: null }),
    revision: () => 0,
    refresh: () => undefined,
    begin: () => undefined,
    answers: () => [],
    isBusy: () => false,
    settled: async () => undefined,
    close: () => undefined,
  }
}
