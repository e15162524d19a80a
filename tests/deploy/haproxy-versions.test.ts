import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must, run } from '@postern/testkit/processes/exec'
import { afterAll, expect, test } from 'vitest'
import { installHaproxy } from '../../scripts/bootstrap/haproxy/install.mjs'

const place = mkdtempSync(join(tmpdir(), 'haproxy-versions-'))
const cache = join(place, 'cache')
afterAll(() => rmSync(place, { recursive: true }))
const program = join(place, 'bin/haproxy')
const folders = () => readdirSync(join(place, 'haproxy'))

/** Pretends that a day has passed. */
const forgetAsking = () => utimesSync(join(cache, 'asked'), 0, 0)

test("Debian 13's HAProxy runs with its own libraries, and is installed once", async () => {
  expect(await installHaproxy(place, cache)).toEqual({
    version: expect.stringMatching(/^3\.0\./),
    isNew: true,
  })
  expect(await must([program, '-v'])).toMatch(/^HAProxy version 3\.0\./)
  expect(await must(['ldd', program])).toContain(`${place}/haproxy/${folders()[0]}/lib/libssl.so.3`)
  const { mtimeMs } = statSync(program)
  expect(await installHaproxy(place, cache)).toMatchObject({ isNew: false })
  forgetAsking()
  expect(await installHaproxy(place, cache)).toMatchObject({ isNew: false })
  expect(statSync(program).mtimeMs).toBe(mtimeMs)
  expect(folders()).toHaveLength(1)
})

test('an updated library gets a new folder, and the old one is removed', async () => {
  const [before = ''] = folders()
  const manifest = join(place, 'haproxy', before, 'packages')
  writeFileSync(manifest, 'haproxy_3.0.11-1_amd64.deb\nlibssl3t64_3.5.1-1_amd64.deb\n')
  await must(['mv', join(place, 'haproxy', before), join(place, 'haproxy/earlier')])
  await must(['ln', '-sfn', '../haproxy/earlier/haproxy', program])
  forgetAsking()
  expect(await installHaproxy(place, cache)).toMatchObject({ isNew: true })
  expect(folders()).toEqual([before])
  expect(await must([program, '-v'])).toMatch(/^HAProxy version 3\.0\./)
})

test('without access to the archive it fails, and is tried again', async () => {
  forgetAsking()
  const module = join(import.meta.dirname, '../../scripts/bootstrap/haproxy/install.mjs')
  const program = `import(process.argv[1]).then((it) => it.installHaproxy(...process.argv.slice(2)))`
  const { code } = await run(['unshare', '--net', process.execPath, '-e', program, module, place, cache], {
    timeoutMs: 300_000,
  })
  expect(code).not.toBe(0)
  expect(statSync(join(cache, 'asked')).mtimeMs).toBe(0)
})

test('a package list that Debian did not sign is refused, and nothing changes', async () => {
  const link = readlinkSync(program)
  const mirror = `file://${await makeArchive(join(place, 'mirror'))}`
  const other = join(place, 'other')
  const asked = installHaproxy(other, join(other, 'cache'), 'trixie', { debian: mirror, security: mirror })
  await expect(asked).rejects.toThrow(/NO_PUBKEY|Missing key|signature/i)
  expect(existsSync(join(other, 'bin/haproxy'))).toBe(false)
  forgetAsking()
  await expect(installHaproxy(place, cache, 'no-such-release')).rejects.toThrow()
  expect(readlinkSync(program)).toBe(link)
  expect(folders()).toHaveLength(1)
})

/** An archive whose lists a stranger has signed. @returns its folder */
async function makeArchive(folder: string): Promise<string> {
  const home = join(folder, 'gnupg')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const gpg = (...args: string[]) => must(['gpg', '--homedir', home, '--batch', '--passphrase', '', ...args])
  await gpg('--quick-generate-key', 'stranger@example.com', 'default', 'sign')
  for (const suite of ['trixie', 'trixie-security']) {
    const dist = join(folder, 'dists', suite)
    const packages = 'main/binary-amd64/Packages'
    mkdirSync(join(dist, 'main/binary-amd64'), { recursive: true })
    writeFileSync(join(dist, packages), '')
    const sum = createHash('sha256').update('').digest('hex')
    const release = `Suite: ${suite}\nCodename: ${suite}\nArchitectures: amd64\nComponents: main\nDate: ${new Date().toUTCString()}\nSHA256:\n ${sum} 0 ${packages}\n`
    writeFileSync(join(dist, 'Release'), release)
    await gpg('--output', join(dist, 'InRelease'), '--clearsign', join(dist, 'Release'))
  }
  return folder
}
