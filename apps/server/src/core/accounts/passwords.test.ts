import { expect, test } from 'vitest'
import { hashPassword, isOutdated, isPassword, PASSWORD_COST } from './passwords.ts'

const COST = { memory: 8, passes: 1 }

/** `Grüße 1`, as versions before Argon2id stored it. */
const SCRYPT = 'scrypt$1024$AAECAwQFBgcICQoLDA0ODw$7foxY7idiSrCl22_DafcemvDt_M3bTlW_Bdm7Vo7aUY'
/** `password`, by Debian's `argon2`. */
const FOREIGN =
  '$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$Gpj7qOY5RCXJvcMzqcdQqvgR3wcPX7SleI4c9NtXk6E'

test('only the right password matches, in either Unicode form', async () => {
  const stored = await hashPassword('Gr\u00fc\u00dfe 1', COST)
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  for (const each of [stored, SCRYPT]) {
    expect(await isPassword('Gr\u00fc\u00dfe 1', each)).toBe(true)
    expect(await isPassword('Gru\u0308\u00dfe 1', each)).toBe(true)
    expect(await isPassword('gr\u00fc\u00dfe 1', each)).toBe(false)
    expect(await isPassword('', each)).toBe(false)
  }
  expect([stored, SCRYPT].map(isOutdated)).toEqual([false, true])
})

test('the same password is never stored the same twice', async () => {
  expect(await hashPassword('x', COST)).not.toBe(await hashPassword('x', COST))
})

test('a hash of another program is read', async () => {
  expect(await isPassword('password', FOREIGN)).toBe(true)
})

test('a stored value that cannot be read matches nothing', async () => {
  const stored = await hashPassword('', COST)
  const broken = [stored.slice(0, -1), stored.replace('m=8', 'm=x'), stored.replace('argon2id', 'argon2i')]
  for (const each of ['', 'x', 'scrypt$1024$AAAA$', 'scrypt$x$AAAA$AAAA', 'bcrypt$1024$AAAA$AAAA', ...broken])
    expect(await isPassword('', each)).toBe(false)
})

test('the cost of production works', async () => {
  expect(await isPassword('x', await hashPassword('x', PASSWORD_COST))).toBe(true)
})
