import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const TESTS = ['tests/deploy', 'tests/net', 'scripts/lib']

const textOf = (dir: string) =>
  readdirSync(join(ROOT, dir))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, dir, name), 'utf8'))
    .join('\n')

test('each way to deploy has a test that reads its files', () => {
  const texts = TESTS.map(textOf).join('\n')
  const ways = readdirSync(join(ROOT, 'deploy'))
  expect(ways).not.toEqual([])
  expect(ways.filter((way) => !texts.includes(`deploy/${way}`))).toEqual([])
})
