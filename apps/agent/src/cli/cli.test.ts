import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createExec } from '@postern/host/processes/exec'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterEach, expect, test } from 'vitest'
import { readEnvironment } from '../config.ts'
import { EXIT_CODES } from '../errors.ts'
import { writePrivate } from '../files.ts'
import { renderHelp, runCli } from './cli.ts'
import type { Context } from './command.ts'
import { renderUnit } from './service.ts'
import { formatSize } from './status.ts'

const directory = tempDir()
afterEach(() => rmSync(directory, { recursive: true, force: true }))
const exec = createExec()

async function run(isPrivileged: boolean, ...args: string[]) {
  const out: string[] = []
  const err: string[] = []
  const context: Context = {
    io: {
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      colour: false,
      readInput: async () => '',
    },
    environment: readEnvironment({ POSTERN_AGENT_DIR: directory }),
    exec,
    version: '1.2.3',
    self: { program: 'node', args: [] },
    isPrivileged,
    now: Date.now,
    random: Math.random,
    signal: new AbortController().signal,
  }
  const code = await runCli(context, args)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

test('help, version and failures; nothing but data on standard output', async () => {
  expect(await run(false, '--version')).toEqual({ code: 0, out: '1.2.3', err: '' })
  expect((await run(false, 'connect', '--help')).out).toContain('--fingerprint')
  expect(await run(false, 'connect')).toMatchObject({ code: 3, out: '' })
  expect(await run(false, 'toString')).toMatchObject({ code: 2, out: '' })
  expect(await run(false)).toMatchObject({ code: 2, out: '' })
  expect(JSON.parse((await run(false, 'status', '--json')).out).error.code).toBe('not-root')
})

test('why takes one address, and says what is wrong with another', async () => {
  const cases: [string[], number, RegExp][] = [
    [[], 2, /Give an address/],
    [['ftp://x'], 2, /ftp:\/\/x is not an address/],
    [['https://user:secret@app.example.com/'], 2, /is not an address/],
    [['app.example.com', 'other'], 2, /Unexpected argument 'other'/],
    [['app.example.com', '--visitor', '10.0.0.0/8'], 2, /--visitor takes one IP address/],
    [['app.example.com'], 12, /Run postern connect first/],
  ]
  for (const [args, code, words] of cases) {
    const outcome = await run(true, 'why', ...args)
    expect([outcome.code, outcome.out]).toEqual([code, ''])
    expect(outcome.err).toMatch(words)
  }
  expect((await run(false, 'why', 'app.example.com')).code).toBe(3)
  expect((await run(true, 'status', 'extra')).code).toBe(2)
})

test('status with nothing stored', async () => {
  const { code, out } = await run(true, 'status', '--json')
  expect(code).toBe(12)
  expect(JSON.parse(out)).toMatchObject({ state: 'not-connected', server: null })
})

test('a directory to which another user can write is refused', async () => {
  mkdirSync(`${directory}/run`, { recursive: true })
  for (const path of [directory, `${directory}/run`]) {
    chmodSync(path, 0o777)
    for (const command of ['connect', 'disconnect', 'status', 'why', 'run']) {
      const outcome = await run(true, command, ...(command === 'why' ? ['app.example.com'] : []))
      expect(outcome.code).toBe(1)
      expect(outcome.err).toBe(`postern: ${path} must belong to this user and be writable by no other`)
    }
    chmodSync(path, 0o755)
  }
  expect((await run(true, 'status')).code).toBe(12)
})

test('the help fits a terminal', async () => {
  expect(Math.max(...(await renderHelp()).split('\n').map((line) => line.length))).toBeLessThanOrEqual(90)
})

test('the guide has the exit codes of the help', () => {
  const guide = readFileSync(new URL('../../../../docs/cli.md', import.meta.url), 'utf8')
  const rows = [...guide.replaceAll('`', '').matchAll(/^\| (\d+) \| (.*) \|$/gm)]
  expect(rows.map(([, code, meaning]) => [Number(code), meaning])).toEqual(Object.values(EXIT_CODES))
})

test('sizes', () => {
  expect([0, 1023, 1024, 1.5 * 1024 ** 2].map(formatSize)).toEqual(['0 B', '1023 B', '1.0 KB', '1.5 MB'])
})

test('private files', async () => {
  await writePrivate(`${directory}/new/secret`, 'x')
  expect(statSync(`${directory}/new/secret`).mode & 0o777).toBe(0o600)
  expect(statSync(`${directory}/new`).mode & 0o777).toBe(0o700)
  expect(readFileSync(`${directory}/new/secret`, 'utf8')).toBe('x')
})

test('systemd accepts the unit', async () => {
  const unit = `${directory}-postern-agent.service`
  const command = ['/usr/bin/env', '/opt/a b/%n$x', 'run', '--config-dir', '/etc/postern']
  writeFileSync(unit, renderUnit(command, { configDir: '/opt/a b/%n' }))
  const { code, stderr } = await exec.run('systemd-analyze', ['verify', '--man=no', unit])
  rmSync(unit)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('the memory of the agent, with its keys, is never dumped to the disk', () => {
  expect(renderUnit(['postern'], undefined)).toContain('\nLimitCORE=0\n')
})

/** systemd's exposure score of a unit, from 0 (best) to 10; without the confinement it is 9.4. */
test('the unit is as confined as it can be', async () => {
  const unit = `${directory}-postern-agent.service`
  writeFileSync(unit, renderUnit(['/usr/bin/env', 'run'], { configDir: '/etc/postern' }))
  const args = ['security', '--offline=yes', '--threshold=32', '--no-pager', unit]
  const { code, stdout } = await exec.run('systemd-analyze', args)
  rmSync(unit)
  expect(code, stdout).toBe(0)
})
