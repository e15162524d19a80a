import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StatedTables } from '../db/schema.ts'

const SOURCES = join(import.meta.dirname, '..')
const TABLES = Object.keys({
  nodes: true,
  domains: true,
  certificates: true,
  challenges: true,
  services: true,
} satisfies Record<keyof StatedTables, true>).join('|')
const DELETES = new RegExp(`deleteFrom\\(\\s*'(${TABLES})'|DELETE\\s+FROM\\s+(${TABLES})\\b`, 'i')

test('rows that reach the edges are deleted by removeStated alone', () => {
  const found = globSync('**/*.ts', { cwd: SOURCES })
    .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('db/migrations/'))
    .filter((file) => DELETES.test(readFileSync(join(SOURCES, file), 'utf8')))
  expect(found).toEqual([])
  expect(DELETES.test("await tx.deleteFrom('services').where('id', '=', 1)")).toBe(true)
  expect(DELETES.test('sql`DELETE FROM challenges`')).toBe(true)
})
