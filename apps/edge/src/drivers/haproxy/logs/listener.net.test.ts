import { readFile, stat } from 'node:fs/promises'
import { createExec } from '@postern/host/processes/exec'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { processorMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'

const routes = async (changes = {}) => [
  makeLabRoute(2, upstream.port, changes),
  makeLabRoute(3, upstream.port, { enabled: false }),
  makeLabRoute(4, upstream.port, { blockedIps: ['127.0.0.0/8'] }),
  makeLabRoute(5, await findFreePort()),
  makeLabRoute(6, upstream.port, { backend: { proto: 'https', host: null, port: upstream.port } }),
]

const lab = shared(() => makeHaproxyLab())
const upstream = shared(() =>
  startUpstream({
    answer: (request, response) => {
      const status = Number(request.url?.slice(1, 4)) || 200
      if (request.url === '/hang-up') response.writeHead(200, { 'content-length': 9 }).write('part')
      if (request.url === '/hang-up') setImmediate(() => request.socket.destroy())
      else response.writeHead(status).end('x'.repeat(2000))
    },
  }),
)
beforeAll(async () => {
  await lab.apply(await routes())
})

afterEach(() => {
  lab.logs.length = 0
})

const ask = (id: number, path: string, more = {}) =>
  visit({ port: lab.httpsPort, host: `s${id}.example.com`, path, ...more })

/** The next line of a service, without times and durations. */
async function line(service: number, what = '"'): Promise<string> {
  const found = await until('the line', () =>
    lab.logs.find((log) => log.service === service && log.text.includes(what)),
  )
  const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/.exec(found.text)?.[0] ?? ''
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(20_000)
  return found.text.replace(time, 'TIME').replace(/ \d+ms|\d+\.\ds/, ' MS')
}

describe('a line of the log', () => {
  test.each([
    ['/a/b?token=s3cr3t&x=1', '[INFO] TIME 127.0.0.1 "GET /a/b" 200 2.1KB MS'],
    ['/404', '[WARN] TIME 127.0.0.1 "GET /404" 404 2.1KB MS'],
    ['/500', '[ERROR] TIME 127.0.0.1 "GET /500" 500 2.1KB MS'],
    ['/a%22b%0A"', '[INFO] TIME 127.0.0.1 "GET /a%22b%0A%22" 200 2.1KB MS'],
    ['/|x|y', '[INFO] TIME 127.0.0.1 "GET /|x|y" 200 2.1KB MS'],
  ])('for %s', async (path, expected) => {
    await ask(2, path)
    expect(await line(2)).toBe(expected)
    expect(lab.logs.map(({ text }) => text).join()).not.toContain('s3cr3t')
  })

  test('says in words why the proxy failed', async () => {
    await ask(3, '/')
    expect(await line(3)).toMatch(/^\[ERROR\] .* 503 (0B|\d\.\dKB) MS the service is disabled$/)
    await ask(4, '/')
    expect(await line(4)).toMatch(
      /^\[WARN\] .* 403 .* the IP list of the service does not allow this address$/,
    )
    await ask(5, '/', { method: 'POST' })
    expect(await line(5)).toMatch(/^\[ERROR\] .* "POST \/" 503 .* the service refused the connection$/)
    await ask(6, '/')
    expect(await line(6)).toMatch(/^\[ERROR\] .* "GET \/" 503 .* TLS to the service could not be started$/)
    await ask(2, '/hang-up').catch(() => undefined)
    expect(await line(2)).toMatch(/^\[ERROR\] .* 200 .* the service broke off its answer$/)
  })

  test('is not written for visitors of no service', async () => {
    await ask(99, '/')
    await sendRaw(lab.httpsPort, 'GET / HTTP/1.1\r\nHost: s2.example.com/\r\nConnection: close\r\n\r\n')
    await ask(2, '/last')
    expect(await line(2)).toContain('/last')
    expect(lab.logs.map(({ text }) => text)).toEqual([expect.stringContaining('/last')])
  })

  test('is written when a WebSocket opens and when it closes', async () => {
    const socket = await openSocket({ port: lab.httpsPort, host: 's2.example.com', path: '/ws?x=1' })
    expect(await line(2)).toBe('[INFO] TIME 127.0.0.1 "GET /ws" 101 websocket opened')
    expect(lab.logs).toHaveLength(1)
    socket.close()
    expect(await line(2, 'closed')).toMatch(
      /^\[INFO\] TIME 127\.0\.0\.1 "GET \/ws" 101 \d+B MS websocket closed$/,
    )
  })

  test('says when the service was switched off under it', async () => {
    await openSocket({ port: lab.httpsPort, host: 's2.example.com', path: '/ws' })
    await lab.apply(await routes({ enabled: false }))
    expect(await line(2, 'no longer admits')).toContain('"GET /ws" 101')
    await lab.apply(await routes())
  })
})

describe('what is kept of a request', () => {
  /** Of the next that ended at a service; the clock makes the times. */
  async function kept(service: number) {
    const log = await until('the line', () => lab.logs.find((line) => line.service === service && line.kept))
    return log.kept
  }
  const ms = expect.any(Number)
  const nobody = { person: null, query: null, detail: null }

  test('all that is known of it', async () => {
    await ask(2, '/a/b?token=s3cr3t&x=1')
    expect(await kept(2)).toEqual({
      ...nobody,
      ...{ at: ms, type: 'http', service: 2, source: '127.0.0.1', method: 'GET', path: '/a/b', status: 200 },
      ...{ received: ms, sent: ms, connect: ms, response: ms, total: ms, reason: null },
      target: `127.0.0.1:${upstream.port}`,
    })
    expect((await kept(2))?.sent).toBeGreaterThan(2000)
  })

  test('what decided, and no target that it was not sent to', async () => {
    await ask(4, '/')
    expect(await kept(4)).toMatchObject({ status: 403, reason: 'blocked', target: null, connect: null })
    await ask(5, '/', { method: 'POST' })
    expect(await kept(5)).toMatchObject({ status: 503, reason: 'refused', method: 'POST' })
    await ask(6, '/')
    expect(await kept(6)).toMatchObject({ status: 503, reason: 'tls' })
  })

  test('its path, however long the visitor makes the method', async () => {
    const method = 'X'.repeat(8000)
    await sendRaw(
      lab.httpsPort,
      `${method} /hidden HTTP/1.1\r\nHost: s2.example.com\r\nConnection: close\r\n\r\n`,
    )
    expect(await kept(2)).toMatchObject({ method: method.slice(0, 40), path: '/hidden' })
  })

  test('its query only where that is wanted, without the sessions of the console', async () => {
    lab.logQuery = true
    await lab.apply(await routes())
    for (const path of ['/a?x=1&y=|2', '/b?token=pts_s3cr3t&z=3', '/c', '/d?']) {
      lab.logs.length = 0
      await ask(2, path)
      const { query = '', path: asked } = (await kept(2)) ?? {}
      expect([asked, query]).toEqual(
        { '/a': ['/a', 'x=1&y=|2'], '/b': ['/b', 'z=3'] }[path.slice(0, 2)] ?? [path.slice(0, 2), null],
      )
      expect(lab.logs.map(({ text }) => text).join()).not.toContain('?')
    }
    await lab.open()
    await lab.apply(await routes())
  })
})

describe('while the edge is away', () => {
  test('HAProxy is as fast, uses no extra processor time, and later sends what it kept, once', async () => {
    const driver = await lab.open()
    await lab.apply(await routes())
    await driver.close()
    const times: number[] = []
    for (let i = 0; i < 50; i++) {
      const start = performance.now()
      expect((await ask(2, `/away-${i}`)).status).toBe(200)
      times.push(performance.now() - start)
    }
    // At least half of them: the machine may be busy meanwhile.
    expect(times.sort((a, b) => a - b)[25]).toBeLessThan(250)
    const before = processorMs(await lab.pid())
    const idleFrom = performance.now()
    await until('a second of idleness', () => performance.now() - idleFrom > 1000, { everyMs: 100 })
    expect(processorMs(await lab.pid()) - before).toBeLessThan(100)

    await lab.open()
    await lab.apply(await routes())
    await until('the last line', () => lab.logs.some(({ text }) => text.includes('"GET /away-49"')))
    const away = lab.logs.flatMap(({ text }) => /"GET \/away-(\d+)"/.exec(text)?.[1] ?? [])
    expect(away).toEqual(Array.from({ length: 50 }, (_, i) => String(i)))
  })
})

describe('nobody else can write a line', () => {
  const forged = 'U|2|1795252758000|6.6.6.6|GET /forged'
  const endless = `E|2|${'9'.repeat(30)}|6.6.6.6|1|200|1|1|--||GET /forged`

  /** Sends lines over many short connections: the kernel lists a closing one as root's, whatever its user. */
  async function forge(user: number, lines: readonly string[], times: number): Promise<void> {
    const port = await readFile(lab.paths.logPort, 'utf8')
    const text = JSON.stringify(`${lines.join('\n')}\n`)
    const program = `let left=${times};const next=()=>{if(!left--)return;const s=require('net').connect(${port},'127.0.0.1',()=>s.end(${text}));s.on('close',next).on('error',()=>0)};next()`
    const other = [`--reuid=${user}`, '--clear-groups', '--', '/usr/bin/env', 'node', '-e', program]
    expect((await createExec().run('setpriv', other, { timeoutMs: 120_000 })).code).toBe(0)
  }

  test.each([
    ['another user', 65534],
    ['root', 0],
  ])('not %s', async (_, user) => {
    await forge(user, [forged, endless], 100)
    await ask(2, '/last')
    expect(await line(2)).toContain('/last')
    expect(lab.logs.map(({ text }) => text).join()).not.toContain('forged')
  })

  test('not even a process of the user that HAProxy runs as', async () => {
    await forge(Number(await proxyUser()), [forged, endless], 20)
    await ask(2, '/last')
    expect(await line(2)).toContain('/last')
    expect(lab.logs.map(({ text }) => text).join()).not.toContain('forged')
  })

  test('the mark that distinguishes them is only for root, outlives the edge, and is in no line', async () => {
    const secret = await readFile(lab.paths.logSecret, 'utf8')
    expect(secret).toMatch(/^[0-9a-f]{32}$/)
    for (const file of [lab.paths.logSecret, lab.paths.config])
      expect((await stat(file)).mode & 0o777).toBe(0o600)
    const pid = await lab.pid()
    await lab.open()
    await lab.apply(await routes())
    expect(await lab.pid()).toBe(pid)
    await ask(2, '/last')
    await line(2)
    expect(lab.logs.map(({ text }) => text).join()).not.toContain(secret)
  })
})

/** The user that HAProxy has become. */
async function proxyUser(): Promise<string | undefined> {
  return /^Uid:\t(\d+)/m.exec(await readFile(`/proc/${await lab.pid()}/status`, 'utf8'))?.[1]
}
