import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterEach, expect, test } from 'vitest'
import { findHolder, parseMark, parseStartTime, releaseLock, takeLock } from './lock.ts'

const dir = tempDir()
const file = join(dir, 'starter.pid')
afterEach(() => rmSync(file, { force: true }))

test('the first takes the lock, the second learns who has it', () => {
  expect(takeLock(file)).toBeUndefined()
  expect(takeLock(file)?.pid).toBe(process.pid)
  releaseLock(file)
  expect(findHolder(file)).toBeUndefined()
})

test('a mark of a process that is gone is replaced', async () => {
  const child = spawn('true')
  await new Promise((resolve) => child.once('exit', resolve))
  writeFileSync(file, `${child.pid} 12345\n`)
  expect(takeLock(file)).toBeUndefined()
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d+\n$`))
})

test('a pid that now belongs to another process holds nothing', () => {
  writeFileSync(file, `${process.pid} 1\n`)
  expect(findHolder(file)).toBeUndefined()
  expect(takeLock(file)).toBeUndefined()
})

test('a damaged file holds nothing', () => {
  writeFileSync(file, 'not a pid')
  expect(takeLock(file)).toBeUndefined()
  // What these numbers mean to a signal: everybody, and our own group.
  expect(parseMark('-1 5')).toBeUndefined()
  expect(parseMark('0 ')).toBeUndefined()
})

test('the start time is read past a name with blanks and brackets', () => {
  const fields = Array.from({ length: 30 }, (_, index) => String(index + 4))
  expect(parseStartTime(`7 (a) b (c) S ${fields.join(' ')}`)).toBe('22')
})

test('a process that has ended counts as gone even before its parent has heard of it', () => {
  expect(parseStartTime(`7 (a) Z ${'1 '.repeat(30)}`)).toBe('')
})
