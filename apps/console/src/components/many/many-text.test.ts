import { expect, test } from 'vitest'
import { countText, NOUNS, outcomeText, progressText } from './many-text.ts'

test('counts have their words', () => {
  expect(countText(1, NOUNS.token)).toBe('1 access token')
  expect(countText(1200, NOUNS.service)).toBe('1,200 services')
  expect(progressText('Disabling', 500, 1200)).toBe('Disabling 500 of 1,200…')
})

test.each([
  [{ done: 12, unchanged: 0, refused: 0 }, '12 services disabled.'],
  [{ done: 9, unchanged: 2, refused: 1 }, '9 services disabled. 2 already were. 1 could not be.'],
  [{ done: 1, unchanged: 1, refused: 0 }, '1 service disabled. 1 already was.'],
  [{ done: 0, unchanged: 3, refused: 0 }, '3 services already were disabled.'],
  [{ done: 0, unchanged: 0, refused: 2 }, '2 services could not be disabled.'],
  [{ done: 0, unchanged: 1, refused: 2 }, '1 service already was disabled. 2 could not be.'],
  [{ done: 0, unchanged: 0, refused: 0 }, '0 services disabled.'],
])('%j is said as %s', (counts, text) => {
  expect(outcomeText(counts, NOUNS.service, 'disabled')).toBe(text)
})
