import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Running } from '@postern/testkit/processes/exec'
import { isProcessAlive, readProcessFile } from '@postern/testkit/processes/process-file'
import { suspend } from '@postern/testkit/processes/suspend'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { answers, haproxyPid, idOf, privateMegabytes, tunnelPids } from './starter-facts.ts'
import { script, startStarterLab, untilRunning } from './starter-lab.ts'

const at = shared(startStarterLab)

/** Settings that only the server needs. */
const SECRETS = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'a-secret-of-the-provider',
  POSTERN_ACME_EAB_KID: 'key-1',
  POSTERN_ACME_EAB_HMAC: 'a-secret-of-the-authority',
}

const statusOf = (pid: number) => readProcessFile(pid, 'status')
const environmentOf = (pid: number) => readProcessFile(pid, 'environ').split('\0')

describe('an installation from the first start to the end of its traffic', () => {
  let starter: Running
  let proxy: number

  test('the first start prints the addresses and the initial password, and the console answers', async () => {
    // As on a machine that keeps core dumps.
    starter = at.begin(['prlimit', '--core=unlimited', '--', ...script('start')], SECRETS)
    await untilRunning(starter)
    const said = starter.output()
    expect(said).toContain(`https://${at.lab.server.address}/`)
    expect(said).toContain('http://127.0.0.1:3000/')
    expect(said).toMatch(/Username +admin\n +Password +\S{12,} {2}\(shown only now\)/)
    expect(said).toMatch(/Data plane +HAProxy \d/)
    await until('the console at the public address', () => answers(at))
    proxy = await haproxyPid(at)
  })

  test('the password that was printed is the one that lets in', async () => {
    const password = /Password +(\S+)/.exec(starter.output())?.[1]
    const body = JSON.stringify({ username: 'admin', password })
    const login = ['-H', 'content-type: application/json', '-d', body, 'http://127.0.0.1:3000/api/auth/login']
    expect(await at.lab.server.must('curl', '-s', ...login)).toContain('"token"')
  })

  test('starter, server and edge use little private memory', async () => {
    const pids = [starter.pid, await at.childOf(starter, 'server'), await at.childOf(starter, 'edge')]
    const [own = 0, ...programs] = pids.map(privateMegabytes)
    expect(own).toBeLessThan(30)
    expect(programs.reduce((sum, each) => sum + each, 0)).toBeLessThan(120)
  })

  test('the console without TLS is for this machine only', async () => {
    const { code, stdout } = await at.lab.visitor.run(
      'curl',
      '-s',
      '-m',
      '3',
      `http://${at.lab.server.address}:3000/`,
    )
    expect(stdout).toBe('')
    expect(code).not.toBe(0)
  })

  test('the server runs as a user without groups, capabilities or a way to gain any', async () => {
    const server = await at.childOf(starter, 'server')
    const uid = await idOf(at, 'postern')
    const status = statusOf(server)
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'))
    expect(status).toMatch(/^Groups:\s*$/m)
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\t0+$`, 'm'))
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  })

  test('the edge runs as root, and neither it nor its children know a secret of the server', async () => {
    const [edge, server] = [await at.childOf(starter, 'edge'), await at.childOf(starter, 'server')]
    expect(statusOf(edge)).toMatch(/^Uid:\t0\t/m)
    const names = environmentOf(edge).map((pair) => pair.split('=')[0])
    expect(names).toContain('POSTERN_DATA_DIR')
    expect(names).not.toContain('POSTERN_ADMIN_PASSWORD')
    expect(names).not.toContain('HOME')
    const secrets = Object.entries(SECRETS).map((pair) => pair.join('='))
    expect(environmentOf(server)).toEqual(expect.arrayContaining(secrets))
    for (const pid of [edge, proxy, ...(await tunnelPids(at))])
      for (const pair of environmentOf(pid)) expect(pair).not.toMatch(/^POSTERN_(OIDC|ACME|ADMIN)_/)
  })

  test('HAProxy runs as a user of its own', async () => {
    expect((await at.lab.server.must('ps', '-o', 'user:32=', '-p', String(proxy))).trim()).toBe(
      'postern-proxy',
    )
  })

  test('files have the right owners, and are closed to others', async () => {
    const owner = (path: string) => `${statSync(path).uid} ${(statSync(path).mode & 0o7777).toString(8)}`
    const server = await idOf(at, 'postern')
    expect(owner(at.paths.serverDir)).toBe(`${server} 700`)
    expect(owner(at.paths.edgeDir)).toBe('0 700')
    expect(owner(at.paths.runDir)).toBe(`${server} 2750`)
    expect(owner(at.paths.edgeToken)).toBe('0 640')
    expect(owner(at.paths.secretKey)).toBe(`${server} 600`)
    expect(statSync(at.paths.serverSocket).gid).toBe(
      Number(await at.lab.server.must('id', '-g', 'postern-proxy')),
    )
    expect(statSync(at.paths.serverSocket).mode & 0o007).toBe(0)
  })

  test('none of its programs leaves its memory on the disk, or opens a debugger', async () => {
    const [server, edge] = [await at.childOf(starter, 'server'), await at.childOf(starter, 'edge')]
    for (const pid of [server, edge, proxy, ...(await tunnelPids(at))])
      expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 +bytes/m)
    for (const pid of [server, edge]) process.kill(pid, 'SIGUSR1')
    process.kill(server, 'SIGABRT')
    await until('another server', async () => (await at.childOf(starter, 'server')) !== server)
    await until('the console to answer again', () => answers(at))
    expect(await at.lab.server.must('ss', '-Hltn', 'sport = :9229')).toBe('')
    expect(isProcessAlive(edge)).toBe(true)
    expect(readdirSync('/').filter((name) => name.startsWith('core'))).toEqual([])
  })

  test('a second start is refused in one clear line', async () => {
    const second = await at.finish(script('start'))
    expect(second).toEqual({
      code: 1,
      said: `postern: Postern is already running (pid ${starter.pid}): press Ctrl-C there to stop it, or use npm stop to end its traffic too\n`,
    })
  })

  test('a killed server is restarted', async () => {
    const server = await at.childOf(starter, 'server')
    process.kill(server, 'SIGKILL')
    const next = await until('another server', async () => {
      const pid = await at.childOf(starter, 'server')
      return pid !== server && pid
    })
    expect(next).not.toBe(server)
    await until('the console to answer again', () => answers(at))
    expect(starter.output()).toContain(
      'the server ended (SIGKILL, most likely because memory ran out); it starts again',
    )
  })

  test('a server and an edge that hang are replaced', async () => {
    for (const name of ['server', 'edge'] as const) {
      const hung = await at.childOf(starter, name)
      await suspend(hung)
      await until(`another ${name}`, async () => {
        const pid = await at.childOf(starter, name).catch(() => hung)
        return pid !== hung && pid
      })
      await until('the log line about it', () =>
        starter.output().includes(`the ${name} ended (hung for 10 seconds)`),
      )
    }
    await until('the console to answer again', () => answers(at))
    expect(await haproxyPid(at)).toBe(proxy)
  }, 120_000)

  test('Ctrl-C ends server and edge, and HAProxy keeps running', async () => {
    const children = [await at.childOf(starter, 'server'), await at.childOf(starter, 'edge')]
    await starter.stop('SIGINT')
    expect(await starter.exited).toBe(0)
    expect(children.map(isProcessAlive)).toEqual([false, false])
    expect(isProcessAlive(proxy)).toBe(true)
    const { stdout } = await at.lab.visitor.run(
      'curl',
      '-sk',
      '-m',
      '3',
      '-i',
      `https://${at.lab.server.address}/`,
    )
    expect(stdout).toMatch(/^HTTP\/\S+ 503/)
  })

  test('a second start takes HAProxy over, and shows no password', async () => {
    starter = at.begin(script('start'))
    await untilRunning(starter)
    await until('the console at the public address', () => answers(at))
    expect(await haproxyPid(at)).toBe(proxy)
    expect(starter.output()).not.toContain('Password')
  })

  test('server and edge do not outlive a killed starter', async () => {
    const children = [await at.childOf(starter, 'server'), await at.childOf(starter, 'edge')]
    await starter.stop('SIGKILL')
    await until('both to end', () => !children.some(isProcessAlive))
    expect(isProcessAlive(proxy)).toBe(true)
    starter = at.begin(script('start'))
    await untilRunning(starter)
    expect(await haproxyPid(at)).toBe(proxy)
  })

  test('a start with another setting replaces HAProxy, and keeps the older one until its counts were read', async () => {
    await starter.stop('SIGINT')
    starter = at.begin(script('start'), { POSTERN_CONNECTIONS_PER_SOURCE: '501' })
    const listLeaving = () => readdirSync(join(at.paths.haproxyDir, 'leaving'))
    await until('the older one to be held', () => listLeaving().includes(`${proxy}.sock`), { everyMs: 20 })
    await untilRunning(starter)
    await until('it to end', () => !isProcessAlive(proxy))
    await until('its holder to end', () => listLeaving().length === 0)
    proxy = await haproxyPid(at)
  })

  test('a second installation takes nothing from the first, even when npm stop does not know its interface', async () => {
    const { id, server } = at.lab
    const own = `pt${id.slice(-10)}`
    const ports = { HTTP: '8080', HTTPS: '8443', CONSOLE: '3001', TUNNEL: '51821' }
    const second = {
      POSTERN_DATA_DIR: join(at.dir, 'second'),
      POSTERN_TUNNEL_NETWORK: '10.65.0.0/16',
      ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [`POSTERN_${name}_PORT`, port])),
    }
    const ours = async () => {
      const link = await server.must('ip', '-o', 'link', 'show', at.env.POSTERN_TUNNEL_INTERFACE ?? '')
      return [link, await server.must('nft', 'list', 'tables')]
    }
    const before = await ours()
    const refused = await at.finish(script('start'), second)
    expect(refused.said).toContain(
      `${at.env.POSTERN_TUNNEL_INTERFACE} is the tunnel of the installation in ${at.env.POSTERN_DATA_DIR}: set POSTERN_TUNNEL_INTERFACE to another name.`,
    )
    expect(refused.code).toBe(1)
    const other = at.begin(script('start'), { ...second, POSTERN_TUNNEL_INTERFACE: own })
    await untilRunning(other)
    expect(other.output()).toMatch(/Data plane +HAProxy \d/)
    expect(await server.must('nft', 'list', 'tables')).toContain(`inet postern_${own}\n`)
    expect((await at.finish(script('stop'), second)).code).toBe(0)
    expect(await other.exited).toBe(0)
    expect((await server.run('ip', 'link', 'show', own)).code).toBe(1)
    expect(await ours()).toEqual(before)
    expect(await haproxyPid(at)).toBe(proxy)
    expect(await answers(at)).toBe(true)
  })

  test('npm stop ends the traffic too', async () => {
    const { code, said } = await at.finish(script('stop'))
    expect(said).toContain('HAProxy, the tunnel and the firewall rules are removed')
    expect(code).toBe(0)
    expect(await starter.exited).toBe(0)
    expect(isProcessAlive(proxy)).toBe(false)
    expect(
      (await at.lab.server.run('ip', 'link', 'show', at.env.POSTERN_TUNNEL_INTERFACE ?? '')).code,
    ).not.toBe(0)
    expect(await at.lab.server.must('nft', 'list', 'tables')).not.toContain('postern')
    expect(existsSync(at.paths.starterPid)).toBe(false)
  })

  test('npm stop with nothing to stop is not an error', async () => {
    const { code, said } = await at.finish(script('stop'))
    expect(said).toContain('were not running')
    expect(code).toBe(0)
  })

  test("the next start restores the last run's traffic before the server is up", async () => {
    starter = at.begin(script('start'))
    const server = await until('the server to be started', () => at.childOf(starter, 'server'))
    await suspend(server)
    const visit = ['curl', '-sk', '-m', '3', '-o', '/dev/null', '-w', '%{http_code}']
    const isCarried = async () =>
      (await at.lab.visitor.run(...visit, `https://${at.lab.server.address}/`)).stdout === '503'
    await until('HAProxy to answer that the server does not', isCarried)
    expect(starter.output()).not.toContain('is running')
    process.kill(server, 'SIGCONT')
    await untilRunning(starter)
    await until('the console', () => answers(at))
    await starter.stop('SIGINT')
    expect((await at.finish(script('stop'))).code).toBe(0)
  })
})
