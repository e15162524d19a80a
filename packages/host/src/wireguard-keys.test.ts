import { randomBytes } from 'node:crypto'
import { isWireGuardKey } from '@postern/net/keys'
import { expect, test } from 'vitest'
import { run } from './processes/exec.ts'
import { createWireGuardKeys, publicKeyOf } from './wireguard-keys.ts'

test('the public key is the one that `wg pubkey` gives', () => {
  const privateKey = Buffer.from('77076d0a7318a57d3c16c17251b26645df4c2f92ebc0992ac177fba51db92c2a', 'hex')
  const publicKey = Buffer.from('f8a9535a2d2ff605e8e144d54f4ef5c62313a2055dbb21fddd3fd9c299eb015d', 'hex')
  expect(publicKeyOf(privateKey.toString('base64'))).toBe(publicKey.toString('base64'))
})

test('a new private key has the form that the kernel gives back', () => {
  for (const byte of [0, 0xff, 0x5a]) {
    const { privateKey, publicKey } = createWireGuardKeys(Buffer.alloc(32, byte))
    const bytes = Buffer.from(privateKey, 'base64')
    expect((bytes[0] ?? 0) & 7).toBe(0)
    expect((bytes[31] ?? 0) & 0xc0).toBe(0x40)
    expect(isWireGuardKey(privateKey) && isWireGuardKey(publicKey)).toBe(true)
  }
})

test('wg makes the same public key of ours', async () => {
  const { privateKey, publicKey } = createWireGuardKeys(randomBytes(32))
  const { stdout } = await run('wg', ['pubkey'], { input: `${privateKey}\n` })
  expect(stdout.trim()).toBe(publicKey)
})
