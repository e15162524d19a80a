import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { environmentOf, parseDuration, readCompose } from './compose.ts'

const dir = tempDir()

/** @param text with `@{` where the file has `${` */
function read(text: string, variables?: Record<string, string>) {
  const file = join(dir, 'compose.yaml')
  writeFileSync(file, text.replaceAll('@{', '$' + '{'))
  return readCompose(file, variables).services.one
}

test('anchors, merges and variables are resolved as by Docker', () => {
  const service = read(
    'x-name: &name here\nservices:\n  one:\n    environment: { A: *name, B: "@{B:-b}", C: $$x, D: "@{D}" }\n',
    { D: 'd' },
  )
  expect(environmentOf(service ?? {})).toEqual({ A: 'here', B: 'b', C: '$x', D: 'd' })
})

test('unknown keys are refused', () => {
  expect(() => read('services:\n  one:\n    privileged: true\n')).toThrow(/privileged/)
  expect(() => read('services:\n  one:\n    image: "@{IMAGE:?name it}"\n')).toThrow(
    'IMAGE is not set: name it',
  )
})

test('durations', () => {
  expect(['10s', '1m30s', '500ms'].map(parseDuration)).toEqual([10_000, 90_000, 500])
  expect(() => parseDuration('10')).toThrow('10')
})
