import { expect, test } from 'vitest'
import { nextScheme, parseChartChoice, parseScheme } from './preference.ts'

test('the toggle goes through all three', () => {
  const first = nextScheme('auto')
  const second = nextScheme(first)
  expect([first, second, nextScheme(second)]).toEqual(['light', 'dark', 'auto'])
})

test('a scheme that does not exist follows the system', () => {
  expect(parseScheme('sepia')).toBe('auto')
})

test.each([
  ['', { metric: '', span: 'day', isTable: false }],
  ['bytes week table', { metric: 'bytes', span: 'week', isTable: true }],
  ['times year lines', { metric: 'times', span: 'day', isTable: false }],
])('of a chart, %j is read as what it can be', (text, choice) =>
  expect(parseChartChoice(text)).toEqual(choice),
)
