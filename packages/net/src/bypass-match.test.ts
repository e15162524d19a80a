import { expect, test } from 'vitest'
import { parseBypass } from './bypass.ts'
import { isBypassed } from './bypass-match.ts'

const matches = (lines: string, path: string) => isBypassed(parseBypass(lines).bypass, path)

test.each([
  ['/health', '/health', true],
  ['/health', '/health/', false],
  ['/health', '/healthy', false],
  ['^/api', '/apix/y', true],
  ['^/api$', '/api/y', false],
  ['^/api/?$', '/api/', true],
  ['^/v[0-9]+/open$', '/v12/open', true],
  ['^/v[0-9]+/open$', '/v/open', false],
  ['^/a*b*$', '/aaabb', true],
  ['^/a*b*$', '/', true],
  ['^/a*b*$', '/aba', false],
  ['^/(css|js)/', '/js/x', true],
  ['^/(css|js)/', '/img/x', false],
  ['^/x{2,3}$', '/xx', true],
  ['^/x{2,3}$', '/xxxx', false],
  ['^/', '/%41', false],
  ['^/', `/${'x'.repeat(1100)}`, false],
])('%s and %s', (lines, path, expected) => {
  expect(matches(lines, path)).toBe(expected)
})

test('an expression that backtracking would take long for takes no longer than others', () => {
  const since = performance.now()
  matches('^/a*a*a*a*a*a*a*a*a*a*a*a*$', `/${'a'.repeat(1000)}b`)
  expect(performance.now() - since).toBeLessThan(500)
})
