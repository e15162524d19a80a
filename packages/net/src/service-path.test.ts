import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isWireGuardKey } from './keys.ts'
import { isServicePath, normaliseServicePath } from './service-path.ts'

const hostile = fc.oneof(
  fc.string({ maxLength: 300, unit: 'binary' }),
  fc.webPath(),
  fc
    .array(fc.constantFrom('/', '.', '..', 'a', '~', '_', '-', '%2f', '?', '#', ' ', '\n', '\\', ';', '|'), {
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
)

it('lets through only paths that a URL parser leaves alone', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const path = normaliseServicePath(text)
      if (!isServicePath(path)) return
      expect(new URL(path, 'http://a.test').pathname).toBe(path)
      expect(path).toMatch(/^\/[A-Za-z0-9._~/-]*$/)
      expect(path.length).toBeLessThanOrEqual(255)
      expect(path === '/' || !path.endsWith('/')).toBe(true)
    }),
    { numRuns: 5000 },
  )
})

it.each([
  ['/', '/'],
  ['/a/', '/a'],
  [' /a/b ', '/a/b'],
  ['/a.b/..c', '/a.b/..c'],
])('%j is %s', (typed, path) => {
  expect(normaliseServicePath(typed)).toBe(path)
  expect(isServicePath(path)).toBe(true)
})

it.each([
  '',
  'a',
  '//',
  '/a//',
  '/a//b',
  '/.',
  '/..',
  '/a/../b',
  '/a?b',
  '/a%2fb',
  '/a b',
  '/ä',
  '/a\nb',
  `/${'a'.repeat(255)}`,
])('refuses %j', (text) => expect(isServicePath(normaliseServicePath(text))).toBe(false))

it('takes for a key exactly 32 bytes in their one spelling', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 30, maxLength: 34 }), (bytes) => {
      expect(isWireGuardKey(Buffer.from(bytes).toString('base64'))).toBe(bytes.length === 32)
    }),
  )
  const other = `${'A'.repeat(42)}B=`
  expect(Buffer.from(other, 'base64').length).toBe(32)
  expect(isWireGuardKey(other)).toBe(false)
  expect(isWireGuardKey(`${'A'.repeat(43)}=\n`)).toBe(false)
})
