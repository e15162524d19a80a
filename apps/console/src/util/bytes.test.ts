import { expect, test } from 'vitest'
import { formatBytes, formatKilobytes } from './bytes.ts'

test.each([
  [0, '-'],
  [null, '-'],
  [undefined, '-'],
  [1, '1 Bytes'],
  [1023, '1023 Bytes'],
  [1024, '1.00 KB'],
  [9_871_360, '9.41 MB'],
  [1024 ** 3, '1.00 GB'],
  [5000 * 1024 ** 4, '5000.00 TB'],
])('%s bytes read as %s in their best unit', (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words)
})

test.each([
  [0, '-'],
  [null, '-'],
  [512, '0.50'],
  [1024, '1.00'],
  [994_000_000, '970,703.13'],
])('%s bytes read as %s KB', (bytes, words) => {
  expect(formatKilobytes(bytes)).toBe(words)
})
