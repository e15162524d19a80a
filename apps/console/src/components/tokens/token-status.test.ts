import { expect, test } from 'vitest'
import { tokenStatus } from './token-status.ts'

const expireAt = '2027-01-05T22:59:59.999Z'
const end = Date.parse(expireAt)

test.each([
  [{ revoked: true, expireAt }, end + 1, 'Revoked'],
  [{ revoked: true, expireAt: null }, end, 'Revoked'],
  [{ revoked: false, expireAt }, end + 1, 'Expired'],
  [{ revoked: false, expireAt }, end - 1, 'Active'],
  [{ revoked: false, expireAt: null }, end, 'Active'],
] as const)('%j is at %i %s', (token, now, status) => {
  expect(tokenStatus(token, now)).toBe(status)
})
