import { existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { describeSecurityUpdates, parseSecurityUpdates, refreshPackageLists } from './security-updates.mjs'

const dir = tempDir()

const SIMULATION = `Reading package lists...
Building dependency tree...
The following packages will be upgraded:
  haproxy nftables wireguard-go
Inst haproxy [2.6.12-1+deb12u3] (2.6.12-1+deb12u4 Debian-Security:12/oldstable-security [amd64])
Inst libnftables1 [1.0.6-2+deb12u2] (1.0.6-2+deb12u3 Debian-Security:12/oldstable-security [amd64])
Inst nftables [1.0.6-2] (1.0.6-2+deb12u2 Debian:12.12/oldstable [amd64])
Inst wireguard-go [0.0.1] (0.0.2 Ubuntu:24.04/noble-updates, Ubuntu:24.04/noble-security [amd64])
Conf haproxy (2.6.12-1+deb12u4 Debian-Security:12/oldstable-security [amd64])
`

test('a newer version in a security suite is named with both versions and the command', () => {
  const updates = parseSecurityUpdates(SIMULATION)
  expect(updates.map(({ name }) => name)).toEqual(['haproxy', 'wireguard-go'])
  expect(describeSecurityUpdates(updates)).toBe(
    'Security updates are waiting: haproxy (2.6.12-1+deb12u3 → 2.6.12-1+deb12u4), wireguard-go (0.0.1 → 0.0.2). ' +
      'Install them with: apt-get install --only-upgrade haproxy wireguard-go',
  )
})

test('nothing is reported when nothing waits', () => {
  expect(describeSecurityUpdates(parseSecurityUpdates('0 upgraded, 0 newly installed'))).toBeUndefined()
})

test('package lists are fetched once a day, and again after a failure', async () => {
  const stamp = join(dir, '.postern', 'package-lists')
  const calls: string[] = []
  let failure: string | undefined = 'E: no network'
  const run = async (_program: string, args: string[]) => {
    calls.push(args.at(-1) ?? '')
    return failure
  }
  const refresh = () => refreshPackageLists({}, { stamp, run })
  expect(await refresh()).toBe('E: no network')
  expect(existsSync(stamp)).toBe(false)
  failure = undefined
  await refresh()
  await refresh()
  expect(calls).toEqual(['update', 'update'])
  const dayBefore = Date.now() / 1000 - 25 * 3600
  utimesSync(stamp, dayBefore, dayBefore)
  await refresh()
  expect(calls).toEqual(['update', 'update', 'update'])
})
