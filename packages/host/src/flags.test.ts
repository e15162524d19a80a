import { expect, test } from 'vitest'
import { readFlags, UsageError } from './flags.ts'

test('flags that a program has are read', () => {
  expect(readFlags(['--down', '--once'], ['--once'])).toEqual(new Set(['--once']))
  expect(readFlags([], [])).toEqual(new Set())
})

test.each([
  [['--down'], ['--dwon'], '--dwon is not an option of this program, which has only --down'],
  [['--a', '--b'], ['--a', 'c'], 'c is not an option of this program, which has only --a, --b'],
  [[], ['--help'], '--help is not an option of this program, which has none'],
])('of %j, %j is refused in one line that says which there are', (known, args, message) => {
  expect(() => readFlags(known, args)).toThrow(new UsageError(message))
})
