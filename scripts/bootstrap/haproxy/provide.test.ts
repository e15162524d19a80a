import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HAPROXY_BIN } from '@postern/host/haproxy-place'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { couldHaveOwnHaproxy, hasOwnHaproxy } from './provide.mjs'

const dir = mkdtempSync(join(tmpdir(), 'own-haproxy-'))
afterAll(() => rmSync(dir, { recursive: true }))
beforeEach(() => {
  for (const name of ['haproxy', 'apt-cache']) rmSync(join(dir, name), { force: true })
})

const env = { PATH: `${HAPROXY_BIN}:${dir}:/usr/bin:/bin` }
const put = (name: string, text: string) =>
  writeFileSync(join(dir, name), `#!/bin/sh\ncat <<'E'\n${text}\nE\n`, { mode: 0o755 })

test('the machine’s own HAProxy counts from 3.0 on', async () => {
  put('haproxy', 'HAProxy version 2.8.5-1ubuntu3 2024/04/01 - https://haproxy.org/')
  expect(await hasOwnHaproxy(env)).toBe(false)
  put('haproxy', 'HAProxy version 3.0.11-1+deb13u5 2026/11/18 - https://haproxy.org/')
  expect(await hasOwnHaproxy(env)).toBe(true)
})

test('ours is not the machine’s own, wherever the path leads to it', async () => {
  expect(await hasOwnHaproxy({ PATH: HAPROXY_BIN })).toBe(false)
  symlinkSync(join(HAPROXY_BIN, 'haproxy'), join(dir, 'haproxy'))
  expect(await hasOwnHaproxy({ PATH: dir })).toBe(false)
})

test('what apt could install counts from 3.0 on', async () => {
  const policy = (version: string) =>
    put('apt-cache', `haproxy:\n  Installed: (none)\n  Candidate: ${version}\n  Version table:\n`)
  const found = () => couldHaveOwnHaproxy({ PATH: `${dir}:/usr/bin:/bin` })
  policy('2.6.12-1+deb12u4')
  expect(await found()).toBe(false)
  policy('(none)')
  expect(await found()).toBe(false)
  policy('3.0.11-1+deb13u5')
  expect(await found()).toBe(true)
})
