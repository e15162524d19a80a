import type { KeptFilter } from '@postern/contract/requests/kept'
import { makeKept } from '@postern/testkit/kept-requests'
import { expect, test } from 'vitest'
import { type Field, makeBlock, readField } from './block.ts'
import { createMatcher } from './filter.ts'

const ALL: KeptFilter = {
  ...{ from: null, to: null, services: null, type: null, status: null, method: null },
  ...{ source: null, path: null, person: null, reason: null, minTotal: null },
}

test('a visitor whose paths have a part a thousand times does not hold up who looks for it', async () => {
  const paths = Array.from({ length: 8192 }, (_, n) => '/'.repeat(1490) + n)
  const { head, body } = makeBlock(paths.map((path) => makeKept({ path })))
  const read = async (field: Field) => {
    const [from, size] = head.fields[field] ?? [0, 0]
    return readField(body.subarray(from, from + size), 0)
  }
  const look = async (path: string) => {
    const began = performance.now()
    const rows = await createMatcher({ ...ALL, path }).match({ read }, head, 0, head.rows)
    return { rows, ms: performance.now() - began }
  }
  const none = await look('/absent')
  const all = await look('/')
  expect([none.rows.length, all.rows.length]).toEqual([0, 8192])
  // Each place of it would take a hundred times as long.
  expect(all.ms).toBeLessThan(20 * none.ms + 100)
})
