import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONSOLE_SETTINGS } from '@postern/contract/settings/console-settings'
import { parseSettings } from '@postern/contract/settings/settings'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = 'docs/settings.md'

/** Name → default, as in a page's table. */
function readTable(file: string): Record<string, string> {
  const rows = readFileSync(join(ROOT, file), 'utf8').matchAll(
    /^\| (?:<a id="[a-z-]+"><\/a>)?`(POSTERN_\w+)` \| (?:`(.*?)`)? ?\| \S.* \|$/gm,
  )
  return Object.fromEntries([...rows].map(([, name = '', value = '']) => [name, value]))
}

/** Name → default, as in the programs, written the way a person sets them. */
function realDefaults(): Record<string, string> {
  const text = (value: unknown) => {
    if (value === null) return ''
    // The one setting with parts: the range of ports.
    if (typeof value === 'object') return Object.values(value as object).join('-')
    return String(value)
  }
  return Object.fromEntries(Object.entries(parseSettings({})).map(([name, value]) => [name, text(value)]))
}

test('the page has exactly the settings that exist', () => {
  expect(readTable(PAGE)).toEqual(realDefaults())
})

test('docs/settings.md says which of them the console has', () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8')
  const section = page.split('## In the console')[1]?.split('\n## ')[0] ?? ''
  const named = [...section.matchAll(/`(POSTERN_\w+)`/g)].map(([, name]) => name)
  expect(named).toEqual([...CONSOLE_SETTINGS])
})

test('every default in the table is accepted as a value', () => {
  const given = Object.fromEntries(Object.entries(readTable(PAGE)).filter(([, value]) => value))
  expect(parseSettings(given)).toEqual(parseSettings({}))
})
