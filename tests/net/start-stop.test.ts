import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import type { Running } from '@postern/testkit/exec'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAMS = { start: 'scripts/dist/start.mjs', stop: 'scripts/stop.ts' }
const script = (name: keyof typeof PROGRAMS, ...args: string[]) => [
  process.execPath,
  join(ROOT, PROGRAMS[name]),
  ...args,
]

let lab: Lab
let dir: string
let paths: InstallationPaths
let env: Record<string, string>
let starts = 0

beforeAll(async () => {
  lab = await startLab()
  dir = mkdtempSync(join(tmpdir(), 'pt-start-'))
  chmodSync(dir, 0o755)
  paths = installationPaths(join(dir, 'data'))
  env = {
    POSTERN_DATA_DIR: join(dir, 'data'),
    POSTERN_PUBLIC_HOST: lab.server.address,
    POSTERN_TUNNEL_INTERFACE: `ps${lab.id.slice(-10)}`,
  }
})

afterAll(async () => {
  await finish(script('stop'))
  await lab.close()
  rmSync(dir, { recursive: true, force: true })
})

/** A command that goes on, like `npm start` on a terminal. */
function begin(command: string[], more: Record<string, string> = {}): Running {
  const logFile = join(dir, `start-${starts++}.log`)
  return lab.server.start(command, { logFile, env: { ...env, ...more }, cwd: ROOT })
}

/** A command that ends by itself. @returns its exit code and what it said */
async function finish(command: string[], more: Record<string, string> = {}) {
  const running = begin(command, more)
  const code = await running.exited
  return { code, said: running.output() }
}

async function untilRunning(starter: Running): Promise<void> {
  const isDone = () => !starter.isRunning() || starter.output().includes('Ctrl-C')
  await until('the start to be complete', isDone, { timeoutMs: 120_000 })
  expect(starter.output()).toContain('Ctrl-C')
}

/** The pid of a program that the starter runs. */
async function childOf(starter: Running, name: 'server' | 'edge'): Promise<number> {
  const { stdout } = await lab.server.run('ps', '-o', 'pid=,args=', '--ppid', String(starter.pid))
  const line = stdout.split('\n').find((each) => each.includes(`apps/${name}/dist/${name}.mjs`))
  if (!line) throw new Error(`no ${name} among: ${stdout}`)
  return Number.parseInt(line, 10)
}

/** What only the server needs. */
const SECRETS = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'a-secret-of-the-provider',
  POSTERN_ACME_EAB_KID: 'key-1',
  POSTERN_ACME_EAB_HMAC: 'a-secret-of-the-authority',
}

const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8')
const environmentOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
/** A process that has ended may stay in the table until somebody asks for its exit code. */
const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(statusOf(pid))

/** What a process does not share with any file: its heaps, stacks and compiled code. */
function privateMegabytes(pid: number): number {
  const kilobytes = /^Pss_Anon: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

/** The pid of this installation's HAProxy, of which there must be exactly one. */
async function haproxyPid(): Promise<number> {
  const lines = (await lab.server.must('ps', '-eo', 'pid=,args=')).split('\n')
  const ours = lines.filter(
    (line) => /^ *\d+ \S*haproxy /.test(line) && line.includes(`${paths.haproxyDir}/`),
  )
  expect(ours).toHaveLength(1)
  return Number.parseInt(ours[0] ?? '', 10)
}

/** The processes behind the tunnel's interface; none where the kernel has WireGuard itself. */
async function tunnelPids(): Promise<number[]> {
  const { stdout } = await lab.server.run('pgrep', '-f', `^wireguard-go -f ${env.POSTERN_TUNNEL_INTERFACE}`)
  return stdout.split('\n').filter(Boolean).map(Number)
}

async function idOf(user: string): Promise<number> {
  return Number(await lab.server.must('id', '-u', user))
}

async function answers(): Promise<boolean> {
  const { stdout } = await lab.visitor.run(
    'curl',
    '-sk',
    '-m',
    '3',
    `https://${lab.server.address}/api/health`,
  )
  return stdout.includes('ok')
}

describe('an installation from the first start to the end of its traffic', () => {
  let starter: Running
  let proxy: number

  test('the first start prints addresses and the one password, and the console answers', async () => {
    // As on a machine that keeps what is left of crashed programs.
    starter = begin(['prlimit', '--core=unlimited', '--', ...script('start')], SECRETS)
    await untilRunning(starter)
    const said = starter.output()
    expect(said).toContain(`https://${lab.server.address}/`)
    expect(said).toContain('http://127.0.0.1:3000/')
    expect(said).toMatch(/Username +admin\n +Password +\S{12,} {2}\(shown only now\)/)
    expect(said).toMatch(/Data plane +HAProxy \d/)
    await until('the console at the public address', answers)
    proxy = await haproxyPid()
  })

  test('the password that was printed is the one that lets in', async () => {
    const password = /Password +(\S+)/.exec(starter.output())?.[1]
    const body = JSON.stringify({ username: 'admin', password })
    const login = ['-H', 'content-type: application/json', '-d', body, 'http://127.0.0.1:3000/api/auth/login']
    expect(await lab.server.must('curl', '-s', ...login)).toContain('"token"')
  })

  test('starter, server and edge have little memory for themselves alone', async () => {
    const pids = [starter.pid, await childOf(starter, 'server'), await childOf(starter, 'edge')]
    const [own = 0, ...programs] = pids.map(privateMegabytes)
    expect(own).toBeLessThan(30)
    expect(programs.reduce((sum, each) => sum + each, 0)).toBeLessThan(120)
  })

  test('the console without TLS is there for this machine only', async () => {
    const { code, stdout } = await lab.visitor.run(
      'curl',
      '-s',
      '-m',
      '3',
      `http://${lab.server.address}:3000/`,
    )
    expect(stdout).toBe('')
    expect(code).not.toBe(0)
  })

  test('the server is a user without groups, capabilities or a way to them', async () => {
    const server = await childOf(starter, 'server')
    const uid = await idOf('postern')
    const status = statusOf(server)
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'))
    expect(status).toMatch(/^Groups:\s*$/m)
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\t0+$`, 'm'))
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  })

  test('the edge is root, and neither it nor what it starts knows a secret of the server', async () => {
    const [edge, server] = [await childOf(starter, 'edge'), await childOf(starter, 'server')]
    expect(statusOf(edge)).toMatch(/^Uid:\t0\t/m)
    const names = environmentOf(edge).map((pair) => pair.split('=')[0])
    expect(names).toContain('POSTERN_DATA_DIR')
    expect(names).not.toContain('POSTERN_ADMIN_PASSWORD')
    expect(names).not.toContain('HOME')
    const secrets = Object.entries(SECRETS).map((pair) => pair.join('='))
    expect(environmentOf(server)).toEqual(expect.arrayContaining(secrets))
    for (const pid of [edge, proxy, ...(await tunnelPids())])
      for (const pair of environmentOf(pid)) expect(pair).not.toMatch(/^POSTERN_(OIDC|ACME|ADMIN)_/)
  })

  test('HAProxy is a user of its own', async () => {
    expect((await lab.server.must('ps', '-o', 'user:32=', '-p', String(proxy))).trim()).toBe('postern-proxy')
  })

  test('files belong to whom they should, and are closed to others', async () => {
    const owner = (path: string) => `${statSync(path).uid} ${(statSync(path).mode & 0o7777).toString(8)}`
    const server = await idOf('postern')
    expect(owner(paths.serverDir)).toBe(`${server} 700`)
    expect(owner(paths.edgeDir)).toBe('0 700')
    expect(owner(paths.runDir)).toBe(`${server} 2750`)
    expect(owner(paths.edgeToken)).toBe('0 640')
    expect(owner(paths.secretKey)).toBe(`${server} 600`)
    expect(statSync(paths.serverSocket).gid).toBe(Number(await lab.server.must('id', '-g', 'postern-proxy')))
    expect(statSync(paths.serverSocket).mode & 0o007).toBe(0)
  })

  test('no program of it leaves its memory on the disk, or opens a debugger', async () => {
    const [server, edge] = [await childOf(starter, 'server'), await childOf(starter, 'edge')]
    for (const pid of [server, edge, proxy, ...(await tunnelPids())])
      expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 +bytes/m)
    for (const pid of [server, edge]) process.kill(pid, 'SIGUSR1')
    process.kill(server, 'SIGABRT')
    await until('another server', async () => (await childOf(starter, 'server')) !== server)
    await until('the console to answer again', answers)
    expect(await lab.server.must('ss', '-Hltn', 'sport = :9229')).toBe('')
    expect(isAlive(edge)).toBe(true)
    expect(readdirSync('/').filter((name) => name.startsWith('core'))).toEqual([])
  })

  test('a start while one runs is one clear line', async () => {
    const second = await finish(script('start'))
    expect(second).toEqual({
      code: 1,
      said: `postern: Postern is already running (pid ${starter.pid}): press Ctrl-C there to stop it, or use npm stop to end its traffic too\n`,
    })
  })

  test('a server that is killed is started again', async () => {
    const server = await childOf(starter, 'server')
    process.kill(server, 'SIGKILL')
    const next = await until('another server', async () => {
      const pid = await childOf(starter, 'server')
      return pid !== server && pid
    })
    expect(next).not.toBe(server)
    await until('the console to answer again', answers)
    expect(starter.output()).toContain('the server ended (SIGKILL); it starts again')
  })

  test('Ctrl-C ends server and edge, and HAProxy goes on', async () => {
    const children = [await childOf(starter, 'server'), await childOf(starter, 'edge')]
    await starter.stop('SIGINT')
    expect(await starter.exited).toBe(0)
    expect(children.map(isAlive)).toEqual([false, false])
    expect(isAlive(proxy)).toBe(true)
    const { stdout } = await lab.visitor.run('curl', '-sk', '-m', '3', '-i', `https://${lab.server.address}/`)
    expect(stdout).toMatch(/^HTTP\/\S+ 503/)
  })

  test('a second start takes HAProxy over, and shows no password', async () => {
    starter = begin(script('start'))
    await untilRunning(starter)
    await until('the console at the public address', answers)
    expect(await haproxyPid()).toBe(proxy)
    expect(starter.output()).not.toContain('Password')
  })

  test('server and edge do not outlive a starter that is killed', async () => {
    const children = [await childOf(starter, 'server'), await childOf(starter, 'edge')]
    await starter.stop('SIGKILL')
    await until('both to end', () => !children.some(isAlive))
    expect(isAlive(proxy)).toBe(true)
    starter = begin(script('start'))
    await untilRunning(starter)
    expect(await haproxyPid()).toBe(proxy)
  })

  test('a start with another setting replaces HAProxy, and holds the older one until it was read', async () => {
    await starter.stop('SIGINT')
    starter = begin(script('start'), { POSTERN_CONNECTIONS_PER_SOURCE: '501' })
    const listLeaving = () => readdirSync(join(paths.haproxyDir, 'leaving'))
    await until('the older one to be held', () => listLeaving().includes(`${proxy}.sock`), { everyMs: 20 })
    await untilRunning(starter)
    await until('it to end', () => !isAlive(proxy))
    await until('its holder to end', () => listLeaving().length === 0)
    proxy = await haproxyPid()
  })

  test('npm stop ends the traffic too', async () => {
    const { code, said } = await finish(script('stop'))
    expect(said).toContain('HAProxy, the tunnel and the firewall rules are removed')
    expect(code).toBe(0)
    expect(await starter.exited).toBe(0)
    expect(isAlive(proxy)).toBe(false)
    expect((await lab.server.run('ip', 'link', 'show', env.POSTERN_TUNNEL_INTERFACE ?? '')).code).not.toBe(0)
    expect(await lab.server.must('nft', 'list', 'tables')).not.toContain('postern')
    expect(existsSync(paths.starterPid)).toBe(false)
  })

  test('npm stop with nothing to stop is no error', async () => {
    const { code, said } = await finish(script('stop'))
    expect(said).toContain('were not running')
    expect(code).toBe(0)
  })

  test('the next start brings the traffic of the last run back before there is a server', async () => {
    starter = begin(script('start'))
    const server = await until('the server to be started', () => childOf(starter, 'server'))
    process.kill(server, 'SIGSTOP')
    const visit = ['curl', '-sk', '-m', '3', '-o', '/dev/null', '-w', '%{http_code}']
    const isCarried = async () =>
      (await lab.visitor.run(...visit, `https://${lab.server.address}/`)).stdout === '503'
    await until('HAProxy to answer that the server does not', isCarried)
    expect(starter.output()).not.toContain('is running')
    process.kill(server, 'SIGCONT')
    await untilRunning(starter)
    await until('the console', answers)
    await starter.stop('SIGINT')
    expect((await finish(script('stop'))).code).toBe(0)
  })
})

describe('what cannot be started says so in one line', () => {
  test.each([
    [{ POSTERN_HTTP_PORT: '99999' }, 'postern: POSTERN_HTTP_PORT must be a port from 1 to 65535\n'],
    [
      { POSTERN_DATA_DIR: 'here' },
      'postern: POSTERN_DATA_DIR must be an absolute path of at most 70 plain characters\n',
    ],
    [
      { POSTERN_HTTPS_PORT: '80' },
      'postern: POSTERN_HTTPS_PORT and POSTERN_HTTP_PORT are both 80: choose two ports\n',
    ],
  ])('%j', async (setting, line) => {
    expect(await finish(script('start'), setting)).toEqual({ code: 1, said: line })
  })

  test('a misspelt setting', async () => {
    const { code, said } = await finish(script('start'), { POSTERN_HTP_PORT: '80' })
    expect(said).toMatch(/^postern: POSTERN_HTP_PORT is not a setting\. [^\n]*\n$/)
    expect(code).toBe(1)
  })

  test('a port of another program', async () => {
    const other = begin([process.execPath, '-e', "require('node:net').createServer().listen(443)"])
    await until(
      'it to listen',
      async () => (await lab.server.run('ss', '-Hltn', 'sport = :443')).stdout !== '',
    )
    const { code, said } = await finish(script('start'))
    await other.stop()
    expect(said).toMatch(
      /^postern: port 443 is taken by .*node -e .* \(pid \d+\): stop it, or set POSTERN_HTTPS_PORT [^\n]*\n$/,
    )
    expect(code).toBe(1)
    expect(existsSync(paths.starterPid)).toBe(false)
  })

  test('a container without the right to change networks', async () => {
    const without = ['setpriv', '--inh-caps=-net_admin', '--bounding-set=-net_admin', '--']
    const { code, said } = await finish([...without, ...script('start')])
    expect(said).toMatch(/^postern: root has no CAP_NET_ADMIN here: [^\n]*\n$/)
    expect(code).toBe(1)
  })
})

describe('without root', () => {
  test('the server starts, and what is missing is said', async () => {
    const home = mkdtempSync(join(dir, 'home-'))
    chownSync(home, 65534, 65534)
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
    const more = { HOME: home, POSTERN_DATA_DIR: '', POSTERN_CONSOLE_PORT: '3100' }
    const starter = begin([...nobody, ...script('start')], more)
    await untilRunning(starter)
    expect(starter.output()).toMatch(/Data plane +not running: .*need root.*sudo/)
    expect(starter.output()).not.toContain(lab.server.address)
    expect(existsSync(`${home}/.local/share/postern/server/postern.db`)).toBe(true)
    const health = await lab.server.must('curl', '-s', '-m', '3', 'http://127.0.0.1:3100/api/health')
    expect(health).toContain('ok')
    await starter.stop('SIGINT')
    expect(await starter.exited).toBe(0)
  })
})

describe('a clone in a closed home', () => {
  test('is shown to the server, and to nobody else, at a place of its own', async () => {
    const home = mkdtempSync(join(dir, 'closed-'))
    const clone = join(home, 'clone')
    mkdirSync(clone)
    // The repository is there as in a clone below /root: its own files are readable, the way to them is not.
    const bind = `mount --bind "${ROOT}" "${clone}" && exec "$@"`
    const inClone = ['unshare', '--mount', '--propagation=private', 'sh', '-c', bind, 'sh']
    const more = { POSTERN_CONSOLE_PORT: '3200', POSTERN_DATA_DIR: join(dir, 'other') }
    const starter = begin([...inClone, process.execPath, join(clone, PROGRAMS.start)], more)
    await untilRunning(starter)
    const server = await childOf(starter, 'server')
    expect(readFileSync(`/proc/${server}/cmdline`, 'utf8')).toContain(
      join(dir, 'other/program/apps/server/dist/server.mjs'),
    )
    expect(readFileSync(`/proc/${server}/mountinfo`, 'utf8')).toMatch(
      new RegExp(`${dir}/other/program ro[, ]`),
    )
    expect(readFileSync(`/proc/${starter.pid}/mountinfo`, 'utf8')).not.toContain('other/program')
    expect(
      (await lab.server.must('curl', '-s', '-m', '3', 'http://127.0.0.1:3200/')).toLowerCase(),
    ).toContain('<!doctype html')
    await starter.stop('SIGINT')
    expect(await starter.exited).toBe(0)
    expect((await finish(script('stop'), more)).code).toBe(0)
  })
})
