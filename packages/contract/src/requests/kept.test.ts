import { expect, test } from 'vitest'
import { KeptSearch } from './kept.ts'

const search = (status: unknown) => ({
  ...{ ask: 1, limit: 10, before: null, after: null },
  filter: {
    ...{ from: null, to: null, services: null, type: null, status, method: null },
    ...{ source: null, path: null, person: null, reason: null, minTotal: null },
  },
})

test.each<[unknown, boolean]>([
  [null, true],
  [[404, 404], true],
  [[400, 499], true],
  // An edge would go through all that is between them.
  [[-1e300, 1e300], false],
  [[100.5, 200], false],
])('an edge takes a search for the statuses %j: %s', (status, isTaken) => {
  expect(KeptSearch.safeParse(search(status)).success).toBe(isTaken)
})

test('nor for nothing in a path, which is everywhere without end', () => {
  const { filter, ...rest } = search(null)
  const looking = (path: string) => KeptSearch.safeParse({ ...rest, filter: { ...filter, path } }).success
  expect([looking('/'), looking('')]).toEqual([true, false])
})
