import { spawn } from 'node:child_process'
import { connect as connectHttp2 } from 'node:http2'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, openH1Browser, openH2Browser } from '../../../../test/browser.ts'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'

/** Seconds without a byte of a body. */
const SILENCE = 5

let routes: ReturnType<typeof makeLabRoute>[]
const closing = { requests: 0 }
const resetting = { requests: 0 }
const ends: (() => void)[] = []

const lab = shared(() => makeHaproxyLab({ connectTimeout: 2, timeouts: { body: SILENCE } }))
const fine = shared(() => startUpstream())
beforeAll(async () => {
  routes = [
    makeLabRoute(2, fine.port),
    makeLabRoute(3, await findFreePort()),
    makeLabRoute(4, await startFull()),
    makeLabRoute(5, await startFailing(closing, (socket) => socket.end())),
    makeLabRoute(6, await startFailing(resetting, (socket) => socket.resetAndDestroy())),
  ]
  await lab.apply(routes)
})

afterAll(() => {
  for (const end of ends) end()
})

/**
 * A service that reads a request and then does something other than answer.
 * @returns its port
 */
async function startFailing(count: { requests: number }, fail: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      count.requests++
      fail(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}

async function startFull(): Promise<number> {
  const program = join(import.meta.dirname, '../../../../test/programs/full-listener.ts')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'ignore'] })
  ends.push(() => child.kill('SIGKILL'))
  return await new Promise((resolve) => child.stdout.once('data', (data: Buffer) => resolve(Number(data))))
}

const OPENERS: Record<string, (port: number) => Browser> = { h1: openH1Browser, h2: openH2Browser }
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']
const REPEATABLE = ['GET', 'HEAD', 'OPTIONS']

const FAILURES = [
  { id: 3, name: 'refuses', status: 503, reason: 'the service refused the connection' },
  { id: 4, name: 'never accepts', status: 503, reason: 'the connection to the service timed out' },
  {
    id: 5,
    name: 'closes',
    status: 502,
    reason: 'the service closed the connection without an answer',
    count: closing,
  },
  {
    id: 6,
    name: 'resets',
    status: 502,
    reason: 'the service closed the connection without an answer',
    count: resetting,
  },
]

test.each(Object.keys(OPENERS))(
  'what is answered before its end is not sent again over %s',
  async (version) => {
    const count = { requests: 0 }
    const refusing = await startFailing(count, (socket) => {
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      socket.destroy()
    })
    expect(await lab.apply([...routes, makeLabRoute(7, refusing)])).toEqual([])
    const browser = OPENERS[version]?.(lab.httpsPort)
    // The request must differ from the one over the other version a moment ago.
    const more = Number(version.slice(1))
    for (const size of [300_000, 5_000_000]) {
      count.requests = 0
      const page = await browser?.ask('s7.example.com', 'POST', 'x'.repeat(size + more))
      expect([413, 502, 504]).toContain(page?.status)
      expect(count.requests).toBe(1)
    }
    browser?.close()
  },
)

describe.each(Object.keys(OPENERS))('over %s', (version) => {
  describe.each(FAILURES)('a service that $name', ({ id, status, reason, count }) => {
    test.each([
      ...METHODS.map((method) => [method, 0] as const),
      ['POST', 20] as const,
      ['POST', 30_000] as const,
      // More than HAProxy and the kernel hold.
      ['POST', 300_000] as const,
      ['PUT', 5_000_000] as const,
    ])('%s with a body of %i bytes', async (method, size) => {
      const browser = OPENERS[version]?.(lab.httpsPort)
      if (!browser) throw new Error('no such version')
      // HAProxy treats the first request of a connection differently from all that follow.
      expect((await browser.ask('s2.example.com', 'GET')).status).toBe(200)
      lab.logs.length = 0
      if (count) count.requests = 0
      const page = await browser.ask(`s${id}.example.com`, method, 'x'.repeat(size))
      // HAProxy returns no window for the discarded part of a refused body; when none is left, the timeout's page
      // comes.
      expect(size > 30_000 ? [status, 504] : [status]).toContain(page.status)
      if (method !== 'HEAD') expect(page.text).toContain('<!doctype html>')
      if (count && !REPEATABLE.includes(method)) expect(count.requests).toBe(1)
      const lines = () => lab.logs.filter(({ service }) => service === id).map(({ text }) => text)
      await until('the line', () => lines().length > 0)
      // In the middle of a body HAProxy has no status for its line.
      const line = expect.stringMatching(
        `"${method} /" (${status}|${size > 30_000 ? '-' : status}) .*${reason}$`,
      )
      // A browser that was refused tries again, and each try has its line.
      for (const each of lines()) expect(each).toEqual(line)
      browser.close()
    })
  })
})

/**
 * A service that answers before the end of a body; a polite one then reads the rest.
 * @returns its port
 */
function startEarly(count: { requests: number }, isPolite: boolean): Promise<number> {
  return startFailing(count, (socket) => {
    socket.write(
      `HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n${isPolite ? '' : 'Connection: close\r\n'}\r\n`,
    )
    if (isPolite) socket.resume()
    else socket.destroy()
  })
}

describe('an upload over HTTP/1.1', () => {
  const closes = (count: typeof closing) => startFailing(count, (socket) => socket.end())
  const answers = (count: typeof closing) => startEarly(count, false)
  test.each([
    { size: 10_000, how: 'closes', start: closes, status: 502 },
    { size: 300_000, how: 'closes', start: closes, status: 502 },
    { size: 300_000, how: 'answers and goes', start: answers, status: 413 },
    { size: 5_000_000, how: 'closes', start: closes, status: 502 },
    { size: 5_000_000, how: 'answers and goes', start: answers, status: 413 },
  ])('of $size bytes to a service that $how gets its answer', async ({ size, start, status }) => {
    const count = { requests: 0 }
    expect(await lab.apply([...routes, makeLabRoute(7, await start(count))])).toEqual([])
    const socket = connectTls({ port: lab.httpsPort, host: '127.0.0.1', rejectUnauthorized: false })
    let answer = ''
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        answer += chunk.toString()
      })
    socket.write(`PUT / HTTP/1.1\r\nHost: s7.example.com\r\nContent-Length: ${size}\r\n\r\n`)
    await until('the upload to arrive', () => count.requests === 1)
    const piece = 'x'.repeat(size / 1000)
    for (let sent = 1; sent < 1000; sent++) await new Promise((resolve) => socket.write(piece, resolve))
    await until('the answer', () => /\r\n\r\n/.test(answer))
    expect([`HTTP/1.1 ${status}`, 'HTTP/1.1 502']).toContain(answer.slice(0, 12))
    expect(count.requests).toBe(1)
    socket.destroy()
  })
})

describe.each(Object.keys(OPENERS))('over %s what was answered may be sent again at once', (version) => {
  test.each([
    { when: 'after', status: 200 },
    { when: 'before', status: 413 },
  ])('when the answer came $when the end of the body', async ({ when, status }) => {
    const count = { requests: 0 }
    const whole = await startUpstream({
      answer: (request, response) => {
        count.requests++
        request.resume().on('end', () => response.end('here'))
      },
    })
    const port = when === 'after' ? whole.port : await startEarly(count, true)
    expect(await lab.apply([...routes, makeLabRoute(7, port)])).toEqual([])
    const browser = OPENERS[version]?.(lab.httpsPort)
    const body = 'x'.repeat(1_000_000 + status)
    for (let round = 1; round <= 10; round++) {
      expect((await browser?.ask('s7.example.com', 'PUT', body))?.status).toBe(status)
      expect(count.requests).toBe(round)
    }
    browser?.close()
    await whole.close()
  })
})

test('the same upload may come from several visitors at once', async () => {
  const waiting: (() => void)[] = []
  const patient = await startUpstream({
    answer: (request, response) => {
      request.resume().on('end', () => waiting.push(() => response.end('here')))
    },
  })
  expect(await lab.apply([...routes, makeLabRoute(7, patient.port)])).toEqual([])
  const browsers = Object.values(OPENERS).flatMap((open) => [open(lab.httpsPort), open(lab.httpsPort)])
  const pages = browsers.map((browser) => browser.ask('s7.example.com', 'PUT', 'x'.repeat(1_500_000)))
  await until('all to arrive', () => waiting.length === browsers.length)
  for (const answer of waiting) answer()
  expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  for (const browser of browsers) browser.close()
  await patient.close()
})

test('an upload that its visitor gave up may begin again soon', async () => {
  const count = { requests: 0 }
  const reading = await startFailing(count, (socket) => socket.resume())
  expect(await lab.apply([...routes, makeLabRoute(7, reading)])).toEqual([])
  const upload = () => {
    const socket = connectTls({ port: lab.httpsPort, host: '127.0.0.1', rejectUnauthorized: false })
    const head = 'POST / HTTP/1.1\r\nHost: s7.example.com\r\nContent-Length: 300000\r\n\r\n'
    socket.on('error', () => undefined).write(head + 'x'.repeat(1000))
    return socket
  }
  const first = upload()
  await until('the upload to arrive', () => count.requests === 1)
  first.destroy()
  const second = upload()
  await until('it to arrive again', () => count.requests === 2)
  second.destroy()
})

test('a visitor who sends no body to a service that is down does not keep others from its page', async () => {
  const slow = connectHttp2(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
  slow.on('error', () => undefined)
  let told = 0
  for (let i = 0; i < 100; i++) {
    const head = { ':method': 'POST', ':authority': 's3.example.com', 'content-length': '100000' }
    const stream = slow.request(head)
    stream.on('error', () => undefined).once('response', () => told++)
    stream.write('x')
  }
  await until('the pages', () => told === 100)
  const start = performance.now()
  const browser = openH1Browser(lab.httpsPort)
  expect((await browser.ask('s3.example.com', 'POST', 'x')).status).toBe(503)
  expect(performance.now() - start).toBeLessThan(SILENCE * 1000)
  browser.close()
  slow.destroy()
})
