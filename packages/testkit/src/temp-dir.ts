import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

/**
 * A new directory. It is removed after the test in which, or before which, it is made; else after the surrounding
 * tests.
 */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pt-'))
  // Programs that a test ends may still write.
  const remove = () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  if (TestRunner.getCurrentTest()) onTestFinished(remove)
  else afterAll(remove)
  return dir
}
