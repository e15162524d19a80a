import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const TESTS = ['tests', 'scripts']

const textOf = (dir: string) =>
  readdirSync(join(ROOT, dir), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, dir, name), 'utf8'))
    .join('\n')

test('each way to deploy has a test that uses its files', () => {
  const texts = TESTS.map(textOf).join('\n')
  const ways = readdirSync(join(ROOT, 'deploy'))
  expect(ways).not.toEqual([])
  expect(ways.filter((way) => !texts.includes(`deploy/${way}`))).toEqual([])
})
