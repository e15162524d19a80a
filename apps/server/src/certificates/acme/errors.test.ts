import { expect, test } from 'vitest'
import { cleanWords, readProblem, readRetryAfter } from './errors.ts'

const NOW = Date.parse('2026-11-22T00:00:00.000Z')

test.each([
  ['120', 120_000],
  ['Sun, 22 Nov 2026 01:00:00 GMT', 3_600_000],
  ['Sat, 21 Nov 2026 00:00:00 GMT', 0],
  ['999999999', 7 * 86_400_000],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, wait) => {
  expect(readRetryAfter(header, NOW)).toBe(wait)
})

test("an authority's text becomes one short line without deceptive characters", () => {
  expect(cleanWords('a\r\n\u0000 b\u202Ec\u200B d')).toBe('a b c d')
  expect(cleanWords('x'.repeat(10_000))).toHaveLength(500)
})

test('of a problem with several parts, the first is shown too', () => {
  const type = 'urn:ietf:params:acme:error:compound'
  expect(readProblem({ type, detail: 'Two names failed', subproblems: [{ detail: 'CAA of b' }] })).toEqual({
    type: 'compound',
    detail: 'Two names failed CAA of b',
    identifiers: [],
  })
  expect(readProblem({ type: 'about:blank' })).toMatchObject({
    type: 'other',
    detail: 'The certificate authority gave no reason',
  })
})
