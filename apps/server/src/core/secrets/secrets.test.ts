import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecrets, SecretsError } from './secrets.ts'

test('what is sealed opens again, and is never the same twice', () => {
  const secrets = createSecrets(randomBytes(32))
  for (const text of ['', 'key', 'ключ 🔑']) expect(secrets.open(secrets.seal(text))).toBe(text)
  expect(secrets.seal('key')).not.toBe(secrets.seal('key'))
})

test('another key, or one changed character, opens nothing', () => {
  const sealed = createSecrets(randomBytes(32)).seal('the private key')
  expect(() => createSecrets(randomBytes(32)).open(sealed)).toThrow(SecretsError)
  const key = randomBytes(32)
  const own = createSecrets(key).seal('the private key')
  const [version, iv, tag, body = ''] = own.split('.')
  const changed = [version, iv, tag, (body[0] === 'A' ? 'B' : 'A') + body.slice(1)].join('.')
  expect(() => createSecrets(key).open(changed)).toThrow(SecretsError)
  for (const text of ['', 'v1', 'v1.a.b.c', `v2.${own.slice(3)}`, own.slice(0, own.lastIndexOf('.'))])
    expect(() => createSecrets(key).open(text)).toThrow(SecretsError)
})

test('a shortened tag is refused, not compared in part', () => {
  const secrets = createSecrets(randomBytes(32))
  const [version, iv, tag = '', body] = secrets.seal('x').split('.')
  const short = Buffer.from(tag, 'base64url').subarray(0, 4).toString('base64url')
  expect(() => secrets.open([version, iv, short, body].join('.'))).toThrow(SecretsError)
})
