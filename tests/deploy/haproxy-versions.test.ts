import {
  existsSync,
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
import { must } from '@postern/testkit/exec'
import { afterAll, expect, test } from 'vitest'
import { installHaproxy } from '../../scripts/bootstrap/haproxy/install.mjs'

const place = mkdtempSync(join(tmpdir(), 'haproxy-versions-'))
const cache = join(place, 'cache')
afterAll(() => rmSync(place, { recursive: true }))
const program = join(place, 'bin/haproxy')
const folders = () => readdirSync(join(place, 'haproxy'))

/** As if a day had passed. */
const forgetAsking = () => utimesSync(join(cache, 'asked'), 0, 0)

test('HAProxy of Debian 13 runs with its own libraries, and comes once', async () => {
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

test('a library with an update brings a new folder, and the old one goes', async () => {
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

test('where Debian’s signature is missing nothing changes', async () => {
  const link = readlinkSync(program)
  writeFileSync(join(place, 'haproxy', folders()[0] ?? '', 'packages'), 'haproxy_3.0.1_amd64.deb\n')
  rmSync(cache, { recursive: true })
  // Debian 13's keys did not sign sid of an earlier time, nor a stranger's archive.
  await expect(installHaproxy(place, cache, 'no-such-suite')).rejects.toThrow()
  expect(readlinkSync(program)).toBe(link)
  expect(existsSync(program)).toBe(true)
})
