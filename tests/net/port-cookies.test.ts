import { type Browser, chromium } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeHaproxyLab,
  makeLabPort,
  makeLabRoute,
} from '../../apps/edge/test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../apps/edge/test/upstream.ts'

/** Not localhost, whose plain HTTP browsers trust. */
const WIKI = 'wiki.example.com'
const port = 29_000 + (process.pid % 900)

let lab: HaproxyLab
let wiki: Upstream
let stranger: Upstream
let browser: Browser

beforeAll(async () => {
  lab = await makeHaproxyLab({ portRange: { from: port, to: port } })
  const cookies = ['sid=secret; Path=/; HttpOnly', 'theme=dark; SameSite=Lax; Max-Age=9999', 'a=1; SECURE']
  wiki = await startUpstream({
    answer: (request, response) => {
      response.setHeader('content-type', 'text/html')
      if (request.url === '/sign-in') response.setHeader('set-cookie', cookies)
      response.end('<!doctype html><title>wiki</title>')
    },
  })
  stranger = await startUpstream({
    answer: (_, response) => void response.setHeader('content-type', 'text/html').end('<!doctype html>hello'),
  })
  const services = [makeLabRoute(2, wiki.port, { domain: WIKI }), makeLabPort(3, port, stranger.port)]
  expect(await lab.apply(services)).toEqual([])
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.example.com 127.0.0.1'],
  })
})
afterAll(async () => {
  await browser?.close()
  await lab?.close()
  for (const each of [wiki, stranger]) await each?.close()
})

test('a TCP service without TLS gets no cookie that a service of the same host has set', async () => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  await page.goto(`https://${WIKI}:${lab.httpsPort}/form`)
  // What changes something takes another way through HAProxy.
  await page.evaluate(() => fetch('/sign-in', { method: 'POST', body: 'user=ann' }))
  // The service itself gets all of them.
  await page.goto(`https://${WIKI}:${lab.httpsPort}/page`)
  const own = wiki.seen.find(({ url }) => url === '/page')?.headers.cookie ?? ''
  expect(own.split('; ').toSorted()).toEqual(['a=1', 'sid=secret', 'theme=dark'])
  await page.goto(`http://${WIKI}:${port}/of-a-stranger`)
  const seen = stranger.seen.filter(({ url }) => url === '/of-a-stranger')
  expect(seen.map(({ headers }) => headers.cookie)).toEqual([undefined])
  await context.close()
})
