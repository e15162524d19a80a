import { createServer, type Socket } from 'node:net'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../apps/edge/test/haproxy-lab.ts'
import { startUpstream } from '../../apps/edge/test/upstream.ts'

const HOST = 's2.example.com'

let browser: Browser
let page: Page
/** Seconds without a byte of a body. */
const SILENCE = 6
let requests = 0
const ends: (() => void)[] = []

const lab = shared(() => makeHaproxyLab({ timeouts: { body: SILENCE } }))
const fine = shared(() => startUpstream({ answer: (_, response) => response.end('here') }))
beforeAll(async () => {
  const early = 'HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  const at = (id: number, path: string, port: number) => makeLabRoute(id, port, { domain: HOST, path })
  const routes = [
    makeLabRoute(2, fine.port),
    at(3, '/resets', await startFailing((socket) => socket.resetAndDestroy())),
    at(4, '/closes', await startFailing((socket) => socket.end())),
    at(5, '/refuses', await findFreePort()),
    at(6, '/early', await startFailing((socket) => socket.end(early, () => socket.destroy()))),
  ]
  expect(await lab.apply(routes)).toEqual([])
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--host-resolver-rules=MAP * 127.0.0.1'],
  })
})

// Each has its own connection: HAProxy does not give back window for the discarded part of a refused body.
beforeEach(async () => {
  page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  await page.goto(`https://${HOST}:${lab.httpsPort}/`)
})
afterEach(() => page.context().close())

afterAll(async () => {
  await browser.close()
  for (const end of ends) end()
})

/** @returns the port of a service that fails inside a request */
async function startFailing(fail: (socket: Socket) => void): Promise<number> {
  const port = await findFreePort()
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      requests++
      fail(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  ends.push(() => server.close())
  return port
}

const FAILURES = [
  { path: '/resets', status: 502, times: 1 },
  { path: '/closes', status: 502, times: 1 },
  { path: '/refuses', status: 503, times: 0 },
  { path: '/early', status: 413, times: 1 },
]

test.each([0, 300_000, 5_000_000].flatMap((size) => FAILURES.map((each) => ({ ...each, size }))))(
  'Chromium sends $size bytes to $path once, and gets an answer',
  async ({ path, status, times, size }) => {
    requests = 0
    const got = await page.evaluate(
      async ([url = '', length = '']) =>
        (await fetch(url, { method: 'POST', body: 'x'.repeat(Number(length)) })).status,
      [path, String(size)],
    )
    // The answer of a service that then disconnects may be lost. Without window the rest of the body never arrives,
    // and a timeout has its own page.
    const silent = size > 0 ? [504] : []
    expect([...(path === '/early' ? [413, 502] : [status]), ...silent]).toContain(got)
    expect(requests).toBe(times)
  },
)
