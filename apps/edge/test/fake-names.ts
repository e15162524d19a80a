import type { Names } from '../src/names.ts'

/** Names that nobody asks for. */
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
