import { expect, test } from 'vitest'
import { isReservedPath } from './reserved-paths.ts'

test.each(['/', '', '//api', '/api', '/api/', '/api/x', '/API/auth', '/assets/a.js', '/.well-known/x'])(
  '%s belongs to the console',
  (path) => expect(isReservedPath(path)).toBe(true),
)

test.each(['/apiary', '/api-v2', '/x/api', '/doc', '/docs.html', '/.well-known-x'])('%s does not', (path) =>
  expect(isReservedPath(path)).toBe(false),
)
