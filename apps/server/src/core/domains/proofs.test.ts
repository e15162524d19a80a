import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createProofs } from './proofs.ts'

const [key, next] = [randomBytes(32), randomBytes(32)]
let now = Date.parse('2026-11-22T12:00:00.900Z')
const clock = () => now
const server = (...keys: [Buffer, ...Buffer[]]) => createProofs({ keys: () => keys, clock, randomBytes })

test('a proof is answered by whatever server has its key, and is never the same', () => {
  const proofs = server(key)
  const { nonce, secret } = proofs.begin()
  // The pattern that HAProxy lets pass, whatever the random bytes.
  for (let i = 0; i < 100; i++) expect(proofs.begin().nonce).toMatch(/^[0-9a-f]{32}$/)
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  expect(proofs.begin().secret).not.toBe(secret)
  expect(proofs.find(nonce)).toBe(secret)
  expect(server(key).find(nonce)).toBe(secret)
  expect(server(next, key).find(nonce)).toBe(secret)
  expect(server(next).find(nonce)).toBeUndefined()
})

test('it ends after ten seconds', () => {
  const proofs = server(key)
  const { nonce, secret } = proofs.begin()
  now += 9000
  expect(proofs.find(nonce)).toBe(secret)
  now += 2000
  expect(proofs.find(nonce)).toBeUndefined()
})

test('no other question is answered', () => {
  const proofs = server(key)
  const { nonce } = proofs.begin()
  const changed = [...nonce].map(
    (digit, at) => nonce.slice(0, at) + (digit === '0' ? '1' : '0') + nonce.slice(at + 1),
  )
  const others = [
    '',
    'x',
    nonce.slice(1),
    `${nonce}0`,
    `${nonce}00`,
    nonce.toUpperCase(),
    `${nonce.slice(0, 30)}zz`,
  ]
  for (const other of [...changed, ...others.filter((each) => each !== nonce)])
    expect(proofs.find(other), other).toBeUndefined()
})
