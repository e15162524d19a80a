import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '@postern/testkit/exec'
import { afterAll, expect, test } from 'vitest'
import { fetchHaproxy } from '../../scripts/haproxy/fetch.ts'

const folder = mkdtempSync(join(tmpdir(), 'haproxy-versions-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('HAProxy of Debian 13 runs with its own libraries, and is fetched once', async () => {
  const program = await fetchHaproxy('trixie', folder)
  expect(await must([program, '-v'])).toMatch(/^HAProxy version 3\.0\./)
  const loaded = await must(['ldd', program])
  expect(loaded).toContain(`${folder}/lib/libssl.so.3`)
  const { mtimeMs } = statSync(program)
  expect(await fetchHaproxy('trixie', folder)).toBe(program)
  expect(statSync(program).mtimeMs).toBe(mtimeMs)
})
