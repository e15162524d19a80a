import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecrets, PLACES, SecretsError } from './secrets.ts'

const PLACE = PLACES.node(3, 'private_key')

test('a sealed text opens again, and is never the same twice', () => {
  const secrets = createSecrets(randomBytes(32))
  for (const text of ['', 'key', 'ключ 🔑']) expect(secrets.open(secrets.seal(text, PLACE), PLACE)).toBe(text)
  expect(secrets.seal('key', PLACE)).not.toBe(secrets.seal('key', PLACE))
})

test('another key, or one changed character, opens nothing', () => {
  const sealed = createSecrets(randomBytes(32)).seal('the private key', PLACE)
  expect(() => createSecrets(randomBytes(32)).open(sealed, PLACE)).toThrow(SecretsError)
  const key = randomBytes(32)
  const own = createSecrets(key).seal('the private key', PLACE)
  const [version, iv, tag, body = ''] = own.split('.')
  const changed = [version, iv, tag, (body[0] === 'A' ? 'B' : 'A') + body.slice(1)].join('.')
  expect(() => createSecrets(key).open(changed, PLACE)).toThrow(SecretsError)
  for (const text of ['', 'v1', 'v1.a.b.c', `v1.${own.slice(3)}`, own.slice(0, own.lastIndexOf('.'))])
    expect(() => createSecrets(key).open(text, PLACE)).toThrow(SecretsError)
})

test('a shortened tag is refused, not compared in part', () => {
  const secrets = createSecrets(randomBytes(32))
  const [version, iv, tag = '', body] = secrets.seal('x', PLACE).split('.')
  const short = Buffer.from(tag, 'base64url').subarray(0, 4).toString('base64url')
  expect(() => secrets.open([version, iv, short, body].join('.'), PLACE)).toThrow(SecretsError)
})

test('a text sealed for one place opens at no other', () => {
  const secrets = createSecrets(randomBytes(32))
  const sealed = secrets.seal('x', PLACE)
  for (const place of [PLACES.node(30, 'private_key'), PLACES.node(3, 'preshared_key'), PLACES.order(3), ''])
    expect(() => secrets.open(sealed, place)).toThrow(
      'a stored secret cannot be opened with this key, or not in this row',
    )
})
