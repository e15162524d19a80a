import { readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { createExec, must, ProgramMissingError } from '@postern/host/processes/exec'
import { findFreePort } from '@postern/testkit/port'
import { suspend } from '@postern/testkit/processes/suspend'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'
import type { HaproxyDriver } from '../driver.ts'
import { haproxyArgv } from './rights.ts'
import { listOwnProcesses } from './running.ts'

let lab: HaproxyLab
let driver: HaproxyDriver
let upstream: Upstream
let blocker: Server | undefined

beforeEach(async () => {
  lab = await makeHaproxyLab()
  driver = await lab.open()
  upstream = await startUpstream()
})

afterEach(async () => {
  await freePort()
  await lab.close()
  expect(await listOwnProcesses(lab.paths.config)).toEqual([])
  await upstream.close()
})

const route = (id = 2) => makeLabRoute(id, upstream.port)
const status = async (id = 2) => (await visit({ port: lab.httpsPort, host: `s${id}.example.com` })).status

async function holdPort(port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', resolve),
  )
  blocker = server
}

async function freePort(): Promise<void> {
  const server = blocker
  blocker = undefined
  if (server) await new Promise((resolve) => server.close(resolve))
}

test('root that may not change users gives up all rights but low ports, also for the program it becomes', async () => {
  const may = { mayChangeUser: false, keepsLess: true }
  const [program, args] = haproxyArgv([], true, may)
  const argv = ['--no-new-privs', '--bounding-set=-setuid,-setgid', '--', program, ...args]
  const status = await must('setpriv', [...argv.with(argv.indexOf('haproxy'), 'cat'), '/proc/self/status'])
  expect(status).toMatch(/^CapPrm:\t0000000000000400$/m)
  expect(status).toMatch(/^CapEff:\t0000000000000400$/m)
})

describe('a HAProxy that runs', () => {
  test('is the only one, runs as its own user and keeps its files to itself', async () => {
    await lab.apply([route()])
    const pid = await lab.pid()
    expect(await listOwnProcesses(lab.paths.config)).toEqual([pid])
    expect(await driver.check()).toEqual({
      state: 'ok',
      detail: expect.stringMatching(/^HAProxy \d+\.\d+\.\d+$/),
    })
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).not.toMatch(/^Uid:\t0\t/m)
    const { stdout } = await createExec().run('find', [lab.paths.certificates, '-perm', '/077'], {
      timeoutMs: 60_000,
    })
    expect(stdout).toBe('')
  })

  test('is adopted by the next edge, with its connections', async () => {
    await lab.apply([route()])
    const pid = await lab.pid()
    const socket = await openSocket({ port: lab.httpsPort, host: 's2.example.com' })
    for (let i = 0; i < 3; i++) {
      const next = await lab.open()
      expect((await next.check()).state).toBe('ok')
      expect(await lab.apply([route(), route(3 + i)])).toEqual([])
      expect(await status(3 + i)).toBe(200)
    }
    expect(await lab.pid()).toBe(pid)
    expect(await listOwnProcesses(lab.paths.config)).toEqual([pid])
    expect(await socket.echo('still here')).toBe(true)
    socket.close()
  })

  test('is adopted also when its pid file is gone', async () => {
    await lab.apply([route()])
    const pid = await lab.pid()
    await rm(lab.paths.pid)
    await lab.open()
    expect(await lab.apply([route(), route(3)])).toEqual([])
    expect(await listOwnProcesses(lab.paths.config)).toEqual([pid])
  })

  test('goes on when the edge closes, and ends when it is told to', async () => {
    await lab.apply([route()])
    await driver.close()
    expect(await status()).toBe(200)
    await driver.stop()
    await expect(status()).rejects.toThrow()
    expect(await listOwnProcesses(lab.paths.config)).toEqual([])
  })

  test('is put right when its maps were changed behind its back', async () => {
    const routes = [route(), route(3), route(4)]
    await lab.apply(routes)
    const { routes: map } = lab.paths
    await lab.command(`del map ${map} s2.example.com/`)
    await lab.command(`set map ${map} s3.example.com/ 9|9|127.0.0.1|1||`)
    await lab.command(`add map ${map} s4.example.com/ 4|2|127.0.0.1|1||`)
    await lab.command(`add map ${map} evil.example.com/ 4|2|127.0.0.1|${upstream.port}||`)
    expect(await lab.apply(routes)).toEqual([])
    for (const id of [2, 3, 4]) expect(await status(id)).toBe(200)
    expect((await visit({ port: lab.httpsPort, host: 'evil.example.com' })).status).toBe(404)
    const lines = (await lab.command(`show map ${map}`)).trim().split('\n')
    expect(lines).toHaveLength(3)
  })
})

describe('a quick apply', () => {
  const lines = async () => (await lab.command(`show map ${lab.paths.routes}`)).trim().split('\n').length

  test('makes its own changes, and leaves foreign ones to the next full check', async () => {
    const quick = (...ids: number[]) => lab.apply(ids.map(route), [], true)
    await lab.apply([route(), route(3), route(4)])
    await lab.command(`del map ${lab.paths.routes} s3.example.com/`)
    expect(await quick(2, 3, 5)).toEqual([])
    for (const [id, expected] of [
      [2, 200],
      [3, 404],
      [4, 404],
      [5, 200],
    ] as const)
      expect(await status(id)).toBe(expected)
    expect(await lab.apply([route(), route(3), route(5)])).toEqual([])
    expect(await status(3)).toBe(200)
    expect(await lines()).toBe(3)
  })

  test('recognises another HAProxy, and reads back what it changes', async () => {
    await lab.apply([route(), route(3)])
    process.kill(await lab.pid(), 'SIGKILL')
    await driver.check()
    await lab.command(`del map ${lab.paths.routes} s3.example.com/`)
    expect(await lab.apply([route(), route(3)], [], true)).toEqual([])
    expect(await status(3)).toBe(200)
    await lab.command(`clear map ${lab.paths.routes}`)
    const moved = { ...route(3), enabled: false }
    expect(await lab.apply([route(), moved], [], true)).toEqual([
      { scope: { kind: 'service', id: 3 }, message: "HAProxy couldn't load this route" },
    ])
    expect(await lab.apply([route(), moved], [], true)).toEqual([])
    expect(await lines()).toBe(2)
  })
})

/** The parent process answers for a moment longer. */
const untilAlone = () =>
  until('one alone', async () => String(await listOwnProcesses(lab.paths.config)) === String(await lab.pid()))

describe('a HAProxy that was killed', () => {
  test('is back within 10 s with 100 services, also when the edge has just been started', async () => {
    const routes = Array.from({ length: 100 }, (_, index) => route(index + 2))
    await lab.apply(routes)
    for (const isNewEdge of [false, true]) {
      if (isNewEdge) driver = await lab.open()
      const start = performance.now()
      process.kill(await lab.pid(), 'SIGKILL')
      expect((await driver.check()).state).toBe('ok')
      expect(await status(101)).toBe(200)
      // Two seconds on an idle machine.
      expect(performance.now() - start).toBeLessThan(10_000)
      for (const id of [2, 50, 100]) expect(await status(id)).toBe(200)
      await untilAlone()
    }
    expect(await lab.apply(routes)).toEqual([])
  })

  test('keeps what was known of the nodes', async () => {
    await lab.apply([route()])
    await driver.setNodeStates(new Map([[2, 'down']]))
    process.kill(await lab.pid(), 'SIGKILL')
    await driver.check()
    expect(await status()).toBe(502)
  })

  test('and one that hangs are replaced', async () => {
    await lab.apply([route()])
    const stuck = await lab.pid()
    await suspend(stuck)
    expect((await driver.check()).state).toBe('ok')
    expect(await lab.pid()).not.toBe(stuck)
    await untilAlone()
    expect(await status()).toBe(200)
  })

  test('and one that no longer answers', async () => {
    await lab.apply([route()])
    const lost = await lab.pid()
    await rm(lab.paths.socket)
    expect(await lab.apply([route()])).toEqual([])
    expect(await lab.pid()).not.toBe(lost)
    await untilAlone()
  })
})

describe('a port that somebody else holds', () => {
  test('is named in a message, and taken when it is free', async () => {
    await holdPort(lab.httpsPort)
    await lab.apply([route()])
    expect(await driver.check()).toEqual({
      state: 'failed',
      detail: `Port ${lab.httpsPort} is held by another program`,
    })
    expect(await listOwnProcesses(lab.paths.config)).toEqual([])
    await freePort()
    await until('HAProxy to start', async () => (await driver.check()).state === 'ok', { everyMs: 200 })
    expect(await status()).toBe(200)
  })

  test('is not shared with another HAProxy', async () => {
    await lab.apply([route()])
    const pid = await lab.pid()
    const other = await makeHaproxyLab({ httpPort: lab.httpPort, httpsPort: lab.httpsPort })
    const second = await other.open()
    await other.apply([])
    expect((await second.check()).detail).toBe(
      `Ports ${[lab.httpPort, lab.httpsPort].sort((a, b) => a - b).join(' and ')} are held by another program`,
    )
    await other.close()
    expect(await lab.pid()).toBe(pid)
    for (let i = 0; i < 20; i++) expect(await status()).toBe(200)
  })
})

describe('changed settings', () => {
  test('are taken over without a gap, and without a second HAProxy', async () => {
    await lab.apply([route()])
    const old = await lab.pid()
    const socket = await openSocket({ port: lab.httpsPort, host: 's2.example.com' })
    const httpPort = await findFreePort()
    driver = await lab.open({ httpPort })
    let failures = 0
    let isOver = false
    const visits = (async () => {
      while (!isOver) if ((await status().catch(() => 0)) !== 200) failures++
    })()
    expect(await lab.apply([route()])).toEqual([])
    isOver = true
    await visits
    expect(failures).toBe(0)
    expect((await driver.check()).state).toBe('ok')
    expect(await lab.pid()).not.toBe(old)
    expect(await socket.echo('still here')).toBe(true)
    socket.close()
    await until('the old one to end', async () => (await listOwnProcesses(lab.paths.config)).length === 1)
  })

  test('leave previous connections to their service, until something is taken away', async () => {
    const list = (blockedIps: string[]) => [{ ...route(), blockedIps }, route(3)]
    for (const taken of [[route(3)], [{ ...route(), enabled: false }, route(3)], list(['127.0.0.8'])]) {
      await lab.apply([route(), route(3)])
      const socket = await openSocket({ port: lab.httpsPort, host: 's2.example.com', from: '127.0.0.8' })
      await lab.open({ httpPort: await findFreePort() })
      await lab.apply([route(), route(3)])
      await lab.apply([{ ...route(), path: '/moved' }, route(3), route(4)])
      expect(await socket.echo('still here')).toBe(true)
      await lab.apply(taken)
      await until('the connection to end', () => !socket.isOpen())
      expect(await status(3)).toBe(200)
    }
  })

  test('leave no previous connection when the HAProxy that took over was killed', async () => {
    await lab.apply([route()])
    const socket = await openSocket({ port: lab.httpsPort, host: 's2.example.com' })
    driver = await lab.open({ httpPort: await findFreePort() })
    await lab.apply([route()])
    process.kill(await lab.pid(), 'SIGKILL')
    await lab.apply([{ ...route(), enabled: false }])
    await until('the connection to end', () => !socket.isOpen())
    await untilAlone()
  })

  test('that do not work leave the running one as it was, in traffic and on disk', async () => {
    await lab.apply([route()])
    const pid = await lab.pid()
    const config = await readFile(lab.paths.config, 'utf8')
    const httpPort = await findFreePort()
    await holdPort(httpPort)
    driver = await lab.open({ httpPort })
    await lab.apply([route(), route(3)])
    expect(await driver.check()).toEqual({
      state: 'failed',
      detail: `Port ${httpPort} is held by another program`,
    })
    expect(await lab.pid()).toBe(pid)
    expect(await readFile(lab.paths.config, 'utf8')).toBe(config)
    expect(await status(3)).toBe(200)
    await freePort()
    expect(await lab.apply([route()])).toEqual([])
    expect((await driver.check()).state).toBe('ok')
  })
})

test('without HAProxy on the machine the part is missing', async () => {
  const exec = createExec()
  driver = await lab.open({
    exec: {
      ...exec,
      run: async () => Promise.reject(new ProgramMissingError('haproxy')),
      startDetached: async () => Promise.reject(new ProgramMissingError('haproxy')),
    },
  })
  await lab.apply([route()])
  expect(await driver.check()).toEqual({ state: 'missing', detail: 'HAProxy is not installed' })
})

test('one bad route never blocks the others', async () => {
  const bad = [
    makeLabRoute(3, upstream.port, { domain: 'b.example.com;del' }),
    makeLabRoute(4, upstream.port, { domain: 'c.example.com\nx' }),
    makeLabRoute(5, upstream.port, { path: '/a b' }),
    makeLabRoute(6, upstream.port, { domain: 's2.example.com' }),
    makeLabRoute(7, upstream.port, { address: '127.0.0.1|80||' }),
  ]
  const problems = await lab.apply([...bad, route()])
  expect(problems.map(({ scope }) => scope)).toEqual([3, 4, 5, 6].map((id) => ({ kind: 'service', id })))
  expect(problems[3]?.message).toBe('The address is taken by service 2')
  expect(await status()).toBe(200)
  expect(await status(7)).toBe(502)
})
