import { readFile } from 'node:fs/promises'
import { findFreePort } from '@postern/testkit/port'
import { until } from '@postern/testkit/until'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../test/upstream.ts'
import { openSocket, sendRaw, visit } from '../../test/visitor.ts'
import { createExec } from '../exec.ts'

let lab: HaproxyLab
let upstream: Upstream

const routes = async (changes = {}) => [
  makeLabRoute(2, upstream.port, changes),
  makeLabRoute(3, upstream.port, { enabled: false }),
  makeLabRoute(4, upstream.port, { blockedIps: ['127.0.0.0/8'] }),
  makeLabRoute(5, await findFreePort()),
]

beforeAll(async () => {
  lab = await makeHaproxyLab()
  upstream = await startUpstream({
    answer: (request, response) => {
      const status = Number(request.url?.slice(1, 4)) || 200
      if (request.url === '/hang-up') response.writeHead(200, { 'content-length': 9 }).write('part')
      if (request.url === '/hang-up') setImmediate(() => request.socket.destroy())
      else response.writeHead(status).end('x'.repeat(2000))
    },
  })
  await lab.apply(await routes())
})

afterEach(() => {
  lab.logs.length = 0
})

afterAll(async () => {
  await lab.close()
  await upstream.close()
})

const ask = (id: number, path: string, more = {}) =>
  visit({ port: lab.httpsPort, host: `s${id}.example.com`, path, ...more })

/** The next line of a service, without the time and what the clock makes of it. */
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
    expect(JSON.stringify(lab.logs)).not.toContain('s3cr3t')
  })

  test('says in words what the proxy failed at', async () => {
    await ask(3, '/')
    expect(await line(3)).toMatch(/^\[ERROR\] .* 503 \d\.\dKB MS the service is disabled$/)
    await ask(4, '/')
    expect(await line(4)).toMatch(
      /^\[WARN\] .* 403 .* the IP list of the service does not allow this address$/,
    )
    await ask(5, '/', { method: 'POST' })
    expect(await line(5)).toMatch(/^\[ERROR\] .* "POST \/" 503 .* the service refused the connection$/)
    await ask(2, '/hang-up').catch(() => undefined)
    expect(await line(2)).toMatch(/^\[ERROR\] .* 200 .* the service broke off its answer$/)
  })

  test('is not written for visitors of nobody', async () => {
    await ask(99, '/')
    await sendRaw(lab.httpsPort, 'GET /%00 HTTP/1.1\r\nHost: s2.example.com\r\nConnection: close\r\n\r\n')
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

describe('while the edge is away', () => {
  async function cpuTicks(): Promise<number> {
    const fields = (await readFile(`/proc/${await lab.pid()}/stat`, 'utf8')).split(' ')
    return Number(fields[13]) + Number(fields[14])
  }

  test('HAProxy is as fast, burns nothing, and tells what it kept, once', async () => {
    const driver = await lab.open()
    await lab.apply(await routes())
    await driver.close()
    const start = performance.now()
    for (let i = 0; i < 50; i++) expect((await ask(2, `/away-${i}`)).status).toBe(200)
    expect((performance.now() - start) / 50).toBeLessThan(100)
    const before = await cpuTicks()
    const idleFrom = performance.now()
    await until('a second of idleness', () => performance.now() - idleFrom > 1000, { everyMs: 100 })
    // A hundred ticks are a second of one core.
    expect((await cpuTicks()) - before).toBeLessThan(10)

    await lab.open()
    await lab.apply(await routes())
    await until('the last line', () => lab.logs.some(({ text }) => text.includes('"GET /away-49"')))
    const away = lab.logs.flatMap(({ text }) => /"GET \/away-(\d+)"/.exec(text)?.[1] ?? [])
    expect(away).toEqual(Array.from({ length: 50 }, (_, i) => String(i)))
  })
})

test('nobody else can write a line', async () => {
  const port = await readFile(lab.paths.logPort, 'utf8')
  const forged = 'U|2|1795252758000|6.6.6.6|GET /forged'
  const program = `require('net').connect(${port},'127.0.0.1',function(){this.write('${forged}\\n')}).on('close',()=>process.exit(7)).on('error',()=>process.exit(7))`
  const other = ['--reuid=65534', '--clear-groups', '--', '/usr/bin/env', 'node', '-e', program]
  const { code } = await createExec().run('setpriv', other, { timeoutMs: 10_000 })
  expect(code).toBe(7)
  await ask(2, '/last')
  expect(await line(2)).toContain('/last')
  expect(JSON.stringify(lab.logs)).not.toContain('forged')
})
