import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { start } from './exec.ts'

let dir: string
beforeEach(() => {
  dir = tempDir()
})

test('all output of a program is there once it has ended', async () => {
  const program = start(['sh', '-c', 'echo one; echo two >&2'], { logFile: join(dir, 'log') })
  expect(await program.exited).toBe(0)
  expect(program.output()).toBe('one\ntwo\n')
})
