import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { writeAtomic } from './files.ts'

let dir: string
beforeEach(() => {
  dir = tempDir()
})

test('replaces a file as a whole, with its mode, also after a crash left a part behind', async () => {
  const path = `${dir}/keys`
  writeFileSync(path, 'old and much longer', { mode: 0o644 })
  writeFileSync(`${path}.tmp`, 'half', { mode: 0o644 })
  await writeAtomic(path, 'new', 0o600)
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(dir)).toEqual(['keys'])
})

test('a reader never sees a part', async () => {
  const path = `${dir}/state`
  const texts = ['a'.repeat(200_000), 'b'.repeat(100_000)]
  await writeAtomic(path, texts[0] ?? '', 0o600)
  let writing = true
  const seen = new Set<string>()
  const writes = (async () => {
    for (let i = 0; i < 20; i++) await writeAtomic(path, texts[i % 2] ?? '', 0o600)
    writing = false
  })()
  while (writing) {
    seen.add(readFileSync(path, 'utf8'))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await writes
  for (const text of seen) expect(texts).toContain(text)
})
