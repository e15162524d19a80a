import { expect, test } from 'vitest'
import { authenticatorUri, codeAt, findStep, STEP_MS, toBase32 } from './totp.ts'

const SECRET = Buffer.from('12345678901234567890')

test.each([
  // Of RFC 6238, whose codes have eight digits.
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code at %i s is that of the standard', (seconds, code) => {
  expect(codeAt(SECRET, Math.floor((seconds * 1000) / STEP_MS))).toBe(code)
})

test('a code is right for a step before and after its own, and no longer', () => {
  const step = 50_000_000
  const code = codeAt(SECRET, step)
  const found = [-2, -1, 0, 1, 2].map((drift) => findStep(SECRET, code, (step + drift) * STEP_MS))
  expect(found).toEqual([undefined, step, step, step, undefined])
  for (const wrong of ['', '1', `${code}0`, 'ééé'])
    expect(findStep(SECRET, wrong, step * STEP_MS)).toBeUndefined()
})

test.each([
  ['', ''],
  ['fooba', 'mzxw6ytb'],
  ['12345678901234567890', 'gezdgnbvgy3tqojqgezdgnbvgy3tqojq'],
])('%j in base32 is that of the standard', (text, encoded) => {
  expect(toBase32(Buffer.from(text))).toBe(encoded)
})

test('an app gets the name of the account and of the installation, whatever they hold', () => {
  const uri = authenticatorUri('abcd', 'a:b&c', 'console.example.com')
  expect(uri).toBe('otpauth://totp/Postern:a%3Ab%26c%40console.example.com?secret=ABCD&issuer=Postern')
})
