import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const TEXT = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')

interface NamedTest {
  file: string
  title: string
}

/** Each as `path › title`. */
const named: NamedTest[] = [...TEXT.matchAll(/`([\w./-]+\.test\.tsx?) › ([^`]+)`/g)].map(
  ([, file = '', title = '']) => ({ file, title }),
)
/** Each entry of a list or of the table of intruders is a claim. */
const claims = TEXT.split('\n').filter((line) => /^\| \*\*|^- \*\*/.test(line))

test.each(named)('$file › $title exists', ({ file, title }) => {
  const source = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'")
  const starts = ["'", '"', '`'].map((quote) => `(${quote}${title}${quote}`)
  // A long title is on its own line.
  expect(starts.some((start) => source.replace(/\(\s+/g, '(').includes(start))).toBe(true)
})

test('every claim names a test', () => {
  expect(claims.length).toBeGreaterThan(20)
  expect(claims.filter((claim) => !/\.test\.tsx?/.test(claim))).toEqual([])
})
