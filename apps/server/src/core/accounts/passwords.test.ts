import { expect, test } from 'vitest'
import { hashPassword, isPassword } from './passwords.ts'

const COST = 2 ** 10

test('only the right password matches, in either Unicode form', async () => {
  const stored = await hashPassword('Gr\u00fc\u00dfe 1', COST)
  expect(stored).toMatch(/^scrypt\$1024\$[\w-]{22}\$[\w-]{43}$/)
  expect(await isPassword('Gr\u00fc\u00dfe 1', stored)).toBe(true)
  expect(await isPassword('Gru\u0308\u00dfe 1', stored)).toBe(true)
  expect(await isPassword('gr\u00fc\u00dfe 1', stored)).toBe(false)
  expect(await isPassword('', stored)).toBe(false)
})

test('the same password is never stored the same twice', async () => {
  expect(await hashPassword('x', COST)).not.toBe(await hashPassword('x', COST))
})

test('a stored value that cannot be read matches nothing', async () => {
  for (const stored of ['', 'x', 'scrypt$1024$AAAA$', 'scrypt$x$AAAA$AAAA', 'bcrypt$1024$AAAA$AAAA'])
    expect(await isPassword('', stored)).toBe(false)
})

test('the cost of production works within the memory that it may use', async () => {
  expect(await isPassword('x', await hashPassword('x', 2 ** 17))).toBe(true)
})
