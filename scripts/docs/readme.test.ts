import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OUTLINE } from '../../apps/server/docs/outline.ts'

const README = readFileSync(join(import.meta.dirname, '../..', 'README.md'), 'utf8')

test('its first screen says what Postern is, shows it, and has all commands from an empty server to a start', () => {
  const top = README.split('\n').slice(0, 14).join('\n')
  expect(top).toMatch(/^# Postern\n\nPostern publishes services .*\n\n!\[/)
  expect(top).toMatch(/^```\napt-get update && .* git nodejs npm\ngit clone ADDRESS .*\n.*npm start$/m)
})

test('it has the two commands of people who work on it', () => {
  expect(README).toMatch(/^npm start .*\nnpm test /m)
})

test('it leads to each page of the guide, apart from those that others lead to', () => {
  const elsewhere = ['domain-or-path', 'common-questions', 'why', 'programs-and-files', 'security', 'terms']
  const names = OUTLINE.flatMap(({ pages }) => pages.map(({ name }) => name))
  const linked = names.filter((name) => README.includes(`](docs/${name}.md`))
  expect(names.filter((name) => !linked.includes(name) && !elsewhere.includes(name))).toEqual([])
})
