import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSettings } from '@postern/contract/settings'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** Name → default, as a page's table has them. */
function readTable(file: string): Record<string, string> {
  const rows = readFileSync(join(ROOT, file), 'utf8').matchAll(
    /^\| (?:<a id="[a-z-]+"><\/a>)?`(POSTERN_\w+)` \| (?:`(.*?)`)? ?\| \S.* \|$/gm,
  )
  return Object.fromEntries([...rows].map(([, name = '', value = '']) => [name, value]))
}

/** Name → default, as the programs have them, written the way a person sets them. */
function realDefaults(): Record<string, string> {
  const text = (value: unknown) => {
    if (value === null) return ''
    // The one setting with parts: the range of ports.
    if (typeof value === 'object') return Object.values(value as object).join('-')
    return String(value)
  }
  return Object.fromEntries(Object.entries(parseSettings({})).map(([name, value]) => [name, text(value)]))
}

test.each(['README.md', 'docs/settings.md'])('%s has exactly the settings that there are', (file) => {
  expect(readTable(file)).toEqual(realDefaults())
})

test('every default of the table is accepted as a value', () => {
  const given = Object.fromEntries(Object.entries(readTable('README.md')).filter(([, value]) => value))
  expect(parseSettings(given)).toEqual(parseSettings({}))
})

test('the first screen of the README has the two commands', () => {
  const top = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').slice(0, 12).join('\n')
  expect(top).toMatch(/^npm start .*\nnpm test /m)
})
