import { mkdir, readFile, realpath, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createExec, must, SYSTEM_PATH } from '@postern/host/processes/exec'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'
import type { HaproxyDriver } from '../driver.ts'
import { listOwnProcesses } from './running.ts'

let driver: HaproxyDriver
let upstream: Upstream
let warned: string[]
/** Where this edge looks for HAProxy first. */
let bin: string
let version: string

const lab = fresh(() => makeHaproxyLab())
beforeEach(async () => {
  const base = dirname(lab.serverSocket)
  bin = join(base, 'bin')
  await mkdir(bin)
  warned = []
  version = /version (\S+)/.exec(await must('haproxy', ['-v']))?.[1] ?? ''
  const exec = { ...createExec([], `${bin}:${SYSTEM_PATH}`), readFile: async () => undefined }
  const warn = (message: string) => void warned.push(message)
  driver = await lab.open({ exec, warn, newestVersion: join(base, 'newest') })
  upstream = await startUpstream()
})

afterEach(async () => {
  await upstream.close()
})

const route = () => makeLabRoute(2, upstream.port)
const status = async () => (await visit({ port: lab.httpsPort, host: 's2.example.com' })).status

/** A copy of this machine's HAProxy that shows another version of the same length. */
async function replaceProgram(other: string): Promise<void> {
  const folder = join(bin, '..', other)
  await mkdir(folder)
  const own = (await must('sh', ['-c', 'command -v haproxy'])).trim()
  // Except the path to its libraries, which may contain the version too.
  const named = new RegExp(`(?<!/)${RegExp.escape(version)}`, 'g')
  const program = (await readFile(await realpath(own), 'latin1')).replaceAll(named, other)
  await writeFile(join(folder, 'haproxy'), program, { encoding: 'latin1', mode: 0o755 })
  await linkTo(join(folder, 'haproxy'))
}

async function linkTo(program: string): Promise<void> {
  await symlink(program, join(bin, 'next'))
  await rename(join(bin, 'next'), join(bin, 'haproxy'))
}

test('another program on disk takes over, and connections stay', async () => {
  await lab.apply([route()])
  const before = await lab.pid()
  const socket = await openSocket({ port: lab.httpsPort, host: 's2.example.com' })
  const other = version.replace(/.$/, (last) => (last === '9' ? '8' : '9'))
  await replaceProgram(other)
  expect(await lab.apply([route()], [], true)).toEqual([])
  expect(await lab.pid()).toBe(before)
  expect(await lab.apply([route()])).toEqual([])
  expect(await lab.pid()).not.toBe(before)
  expect(await lab.command('show info')).toContain(`\nVersion: ${other}\n`)
  expect(await socket.echo('still here')).toBe(true)
  expect(await status()).toBe(200)
  socket.close()
  await until('the old one to end', async () => (await listOwnProcesses(lab.paths.config)).length === 1)
  const now = await lab.pid()
  expect(await lab.apply([route()])).toEqual([])
  expect(await lab.pid()).toBe(now)
})

test('one that is too old is refused with a message, and the running one goes on', async () => {
  await lab.apply([route()])
  const pid = await lab.pid()
  const old = join(bin, 'old')
  await writeFile(
    old,
    '#!/bin/sh\necho "HAProxy version 2.6.12-1+deb12u3 2026/02/03 - https://haproxy.org/"\n',
    {
      mode: 0o755,
    },
  )
  await linkTo(old)
  await lab.apply([route()])
  const refused = {
    state: 'failed',
    detail:
      'HAProxy 2.6.12 is too old: Postern needs 3.0 or later. npm start brings it to Debian 12 and Ubuntu 24.04, and so does the package postern-haproxy',
  }
  expect(await driver.check()).toEqual(refused)
  expect(await lab.pid()).toBe(pid)
  expect(await status()).toBe(200)
  process.kill(pid, 'SIGKILL')
  await until('the end', async () => (await listOwnProcesses(lab.paths.config)).length === 0)
  expect(await driver.check()).toEqual(refused)
  await lab.apply([route()])
  expect(driver.state()).toEqual(refused)
})

test('one that is newer than the tested ones runs, and the log says so once', async () => {
  const newer = version.replace(/^\d/, '9')
  await replaceProgram(newer)
  await lab.apply([route()])
  await lab.apply([route()])
  const [name] = newer.split('-')
  expect(await driver.check()).toEqual({ state: 'ok', detail: `HAProxy ${name}` })
  expect(warned).toEqual([`Postern was not tested with HAProxy ${name}, only up to 3.4`])
})

test('an update that waits is reported until it runs', async () => {
  await lab.apply([route()])
  const [name] = version.split('-')
  const newest = join(bin, '../newest')
  await writeFile(newest, `${version}\n`)
  expect((await driver.check()).detail).toBe(`HAProxy ${name}`)
  await writeFile(newest, '99.1.2-1+deb99u3\n')
  expect((await driver.check()).detail).toBe(`HAProxy ${name}, update to 99.1.2-1+deb99u3 waits`)
  await writeFile(newest, 'nonsense')
  expect((await driver.check()).detail).toBe(`HAProxy ${name}`)
})
