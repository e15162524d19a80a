import { expect, test } from 'vitest'
import { nextScheme, parseScheme } from './preference.ts'

test('the toggle goes through all three', () => {
  const first = nextScheme('auto')
  const second = nextScheme(first)
  expect([first, second, nextScheme(second)]).toEqual(['light', 'dark', 'auto'])
})

test('a scheme that does not exist follows the system', () => {
  expect(parseScheme('sepia')).toBe('auto')
})
