import { createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { isPublicKey } from './keys.ts'

const PRIME = 2n ** 255n - 19n
const ORDER_8 = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map((hex) => Buffer.from(hex, 'hex'))
const withHighBit = (key: Buffer) => Buffer.from(key.map((byte, index) => (index === 31 ? byte | 128 : byte)))
const littleEndian = (number: bigint) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse()

const own = generateKeyPairSync('x25519').privateKey

/** What OpenSSL says: it refuses a shared secret that is zero. */
function isUsable(key: Buffer): boolean {
  const der = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), key])
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
  try {
    return diffieHellman({ privateKey: own, publicKey }).length === 32
  } catch {
    return false
  }
}

test.each([...ORDER_8, ...ORDER_8.map(withHighBit)])('%s, a point of low order, is no public key', (key) => {
  expect(isUsable(key)).toBe(false)
  expect(isPublicKey(key.toString('base64'))).toBe(false)
})

test.each([2n * PRIME - 1n, 2n * PRIME, 2n * PRIME + 1n])(
  'nor is %s, for programs that read the highest bit',
  (number) => expect(isPublicKey(littleEndian(number).toString('base64'))).toBe(false),
)

test('every other key is one', () => {
  for (let round = 0; round < 200; round++) {
    const der = generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' })
    const key = der.subarray(-32)
    expect(isUsable(key)).toBe(true)
    expect(isPublicKey(key.toString('base64'))).toBe(true)
    expect(isPublicKey(withHighBit(key).toString('base64'))).toBe(true)
  }
  expect(isPublicKey(littleEndian(2n).toString('base64'))).toBe(true)
  expect(isPublicKey('not a key')).toBe(false)
})
