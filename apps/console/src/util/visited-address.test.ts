import { expect, test } from 'vitest'
import { findVisitedAddress } from './visited-address.ts'

const CONSOLE = 'https://postern.example.com'

test.each([
  ['https://app.example.com/page?token=secret#x', 'https://app.example.com/page'],
  ['https://app.example.com/', 'https://app.example.com/'],
  ['https://postern.example.com/wiki/page', 'https://postern.example.com/wiki/page'],
  ['https://postern.example.com/', undefined],
  ['https://postern.example.com/login', undefined],
  ['https://postern.example.com/why?url=x', undefined],
  ['javascript:alert(1)', undefined],
  ['', undefined],
])('%s', (referrer, expected) => {
  expect(findVisitedAddress(referrer, CONSOLE)).toBe(expected)
})
