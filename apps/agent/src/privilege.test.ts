import { expect, test } from 'vitest'
import { canAdminister } from './privilege.ts'

test('a user with NET_ADMIN may change network settings, root or not', () => {
  const statusWith = (effective: string) => `Name:\tnode\nCapPrm:\t0\nCapEff:\t${effective}\nCapBnd:\t0\n`
  expect(canAdminister(statusWith('000001ffffffffff'))).toBe(true)
  expect(canAdminister(statusWith('0000000000001000'))).toBe(true)
  expect(canAdminister(statusWith('000001ffffffefff'))).toBe(false)
  expect(canAdminister(statusWith('0000000000000000'))).toBe(false)
  expect(canAdminister('')).toBe(false)
})
