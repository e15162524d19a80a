import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { startLab } from '@postern/testkit/lab/network'
import { isProcessAlive, readProcessFile } from '@postern/testkit/processes/process-file'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
/**
 * How long `npm start` takes when there is nothing to install or to build, in ms: five times what is promised for an
 * idle machine.
 */
const WARM = 5 * 3000
/** A busy machine needs longer, even for npm alone: five times the idle time. */
const SLOWER_THAN_NPM = 5 * 8

const dir = tempDir()
let env: Record<string, string>

const lab = shared(startLab)
beforeAll(async () => {
  chmodSync(dir, 0o755)
  env = {
    // Without this repository's own Node: npm start begins with the machine's.
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: dir,
    POSTERN_DATA_DIR: join(dir, 'data'),
    POSTERN_PUBLIC_HOST: lab.server.address,
    POSTERN_TUNNEL_INTERFACE: `pn${lab.id.slice(-10)}`,
  }
})

afterAll(() => lab.server.run(...inShell('npm stop')))

const inShell = (line: string) => [
  'env',
  '-i',
  ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  'sh',
  '-c',
  `cd ${ROOT} && ${line}`,
]

interface Terminal {
  said(): string
  press(key: string): void
  exited: Promise<number | null>
}

/** Types a line on a terminal of the server. */
function type(line: string): Terminal {
  const command = inShell(`exec script -qefc '${line}' /dev/null`)
  const [program = '', ...args] = lab.server.argv(...command)
  const child: ChildProcess = spawn(program, args, { stdio: 'pipe' })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += String(chunk)
    })
  return {
    said: () => said,
    press: (key) => child.stdin?.write(key),
    exited: new Promise((resolve) => child.once('close', resolve)),
  }
}

/** @returns how long it took until everything runs, in ms */
async function untilComplete(terminal: Terminal): Promise<number> {
  const start = performance.now()
  let isOver = false
  void terminal.exited.then(() => {
    isOver = true
  })
  await until('npm start', () => isOver || terminal.said().includes('Ctrl-C'), { timeoutMs: 120_000 })
  expect(terminal.said()).toContain('Ctrl-C stops server and edge')
  return performance.now() - start
}

async function timeOfNpm(): Promise<number> {
  const start = performance.now()
  await lab.server.must(...inShell('npm --version'))
  return performance.now() - start
}

const haproxyPid = () =>
  Number(readFileSync(join(installationPaths(env.POSTERN_DATA_DIR ?? '').haproxyDir, 'haproxy.pid'), 'utf8'))

describe('on a terminal', () => {
  test('Ctrl-C, which every program of the terminal gets, ends npm start but not the traffic', async () => {
    const terminal = type('npm start')
    await untilComplete(terminal)
    const proxy = haproxyPid()
    terminal.press('\x03')
    await terminal.exited
    expect(terminal.said()).not.toMatch(/starts again|error|Error/)
    expect(isProcessAlive(proxy)).toBe(true)
    const left = (await lab.server.listPids()).filter(isProcessAlive)
    expect(left.map((pid) => readProcessFile(pid, 'cmdline')).join('\n')).not.toMatch(/\.mjs/)
  })

  test('a warm start is quick, and continues where it was', async () => {
    const proxy = haproxyPid()
    const times: number[] = []
    let limit = WARM
    while (Math.min(...times) > limit && times.length < 5) {
      limit = Math.max(WARM, SLOWER_THAN_NPM * (await timeOfNpm()))
      const terminal = type('npm start')
      times.push(await untilComplete(terminal))
      terminal.press('\x03')
      await terminal.exited
    }
    console.info('ms of a warm start', times, limit)
    expect(Math.min(...times)).toBeLessThan(limit)
    expect(haproxyPid()).toBe(proxy)
  })

  test('npm start -- --down ends server, edge and traffic', async () => {
    const running = type('npm start')
    await untilComplete(running)
    const proxy = haproxyPid()
    const down = await lab.server.run(...inShell('npm start -- --down'))
    expect(down.stdout).toContain('HAProxy, the tunnel and the firewall rules are removed')
    expect(down.code).toBe(0)
    await running.exited
    expect(isProcessAlive(proxy)).toBe(false)
  })

  test('a failed start is a failure for the shell, too', async () => {
    const { code, stderr } = await lab.server.run(...inShell('POSTERN_HTTP_PORT=eighty npm start'))
    expect(stderr).toContain('postern: POSTERN_HTTP_PORT must be a port from 1 to 65535\n')
    expect(code).toBe(1)
  })
})

describe('a system package that is missing', () => {
  /** The machine without fping, and with an apt-get that does this; nothing outside the test sees either change. */
  function withoutFping(apt: string): string {
    const bin = mkdtempSync(join(dir, 'bin-'))
    const sbin = join(bin, 'sbin')
    cpSync('/usr/sbin', sbin, { recursive: true, verbatimSymlinks: true })
    // Many containers have one of their own, which would stay in place.
    rmSync(join(sbin, 'policy-rc.d'), { force: true })
    writeFileSync(join(bin, 'apt-get'), `#!/bin/sh\n${apt}\n`)
    chmodSync(join(bin, 'apt-get'), 0o755)
    const hide = `mount --bind ${sbin} /usr/sbin && mount --bind /dev/null $(command -v fping)`
    return `PATH=${bin}:$PATH exec unshare --mount sh -c "${hide} && npm run --silent install-service -- --print && test ! -e /usr/sbin/policy-rc.d"`
  }

  test('is named and installed, and no service starts with it', async () => {
    const asked = join(dir, 'asked')
    const apt = `echo "$@" >>${asked}; /usr/sbin/policy-rc.d; echo "policy $?" >>${asked}; umount /usr/bin/fping`
    const { code, stdout } = await lab.server.run(...inShell(withoutFping(apt)))
    expect(stdout).toMatch(
      /^Installing the system packages fping …\n# \/etc\/systemd\/system\/postern-server/,
    )
    expect(code).toBe(0)
    const said = readFileSync(asked, 'utf8')
    expect(said).toMatch(/^\S.* install -y --no-install-recommends fping\npolicy 101\n$/)
  })

  test('that cannot be installed is reported in one line with the reason', async () => {
    const { code, stderr } = await lab.server.run(
      ...inShell(withoutFping('echo "E: Unable to locate package fping"; exit 100')),
    )
    expect(stderr).toBe(
      'postern: apt-get could not install fping: E: Unable to locate package fping. Install them yourself, then try again\n',
    )
    expect(code).toBe(1)
  })
})
