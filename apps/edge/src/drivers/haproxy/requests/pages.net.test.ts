import { findFreePort } from '@postern/testkit/port'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { type Answer, visit } from '../../../../test/visitor.ts'
import type { HaproxyDriver } from '../driver.ts'

let lab: HaproxyLab
let driver: HaproxyDriver
let upstream: Upstream
let mute: Upstream
let broken: Upstream

beforeAll(async () => {
  lab = await makeHaproxyLab()
  driver = await lab.open({ timeouts: { idle: 1 } })
  upstream = await startUpstream()
  mute = await startUpstream({ answer: () => undefined })
  broken = await startUpstream({ answer: (request) => void request.socket.end('SMTP ready\r\n') })
  const to = (id: number, name: string, port: number, changes = {}) =>
    makeLabRoute(id, port, { domain: `${name}.example.com`, ...changes })
  const problems = await lab.apply([
    makeConsoleRoute(),
    to(2, 'fine', upstream.port),
    to(3, 'disabled', upstream.port, { enabled: false }),
    to(4, 'tunnel', upstream.port, { node: { kind: 'plain', id: 7, address4: '10.64.0.7' } }),
    to(5, 'unresolved', upstream.port, { address: null }),
    to(6, 'refusing', await findFreePort()),
    to(7, 'mute', mute.port),
    to(8, 'broken', broken.port),
    to(9, 'blocked', upstream.port, { blockedIps: ['127.0.0.0/8'] }),
  ])
  expect(problems).toEqual([])
  await driver.setNodeStates(
    new Map([
      [2, 'up'],
      [7, 'down'],
    ]),
  )
})

afterAll(async () => {
  await lab.close()
  for (const each of [upstream, mute, broken]) await each.close()
})

const ask = (name: string, method = 'GET') =>
  visit({ port: lab.httpsPort, host: `${name}.example.com`, method })

function expectOwnPage(answer: Answer): void {
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
  expect(answer.text).toContain('<!doctype html>')
  expect(answer.text).toContain('prefers-color-scheme:dark')
  expect(answer.text.replace(LINK, '')).not.toMatch(/<script|<img|<link|url\(|https?:/)
}

/** To the console, for who runs the server. */
const LINK = /<a href="https:\/\/[^/"]+\/why" referrerpolicy="unsafe-url" rel="nofollow">[^<]+<\/a>/

describe('a page of our own', () => {
  test.each([
    ['nowhere', 404, 'Nothing is published here'],
    ['disabled', 503, 'This service is turned off at the moment'],
    ['tunnel', 502, 'The private network is not connected'],
    ['unresolved', 502, "This service can't be reached right now"],
    ['refusing', 503, 'The service does not answer'],
    ['mute', 504, 'The service took too long'],
    ['broken', 502, 'The service gave no valid answer'],
    ['blocked', 403, 'Not allowed from here'],
  ])('%s is answered with %i', async (name, status, title) => {
    for (const method of ['GET', 'POST']) {
      const answer = await ask(name, method)
      expect(answer.status).toBe(status)
      expect(answer.text).toContain(`<h1>${title}</h1>`)
      expectOwnPage(answer)
    }
  })

  test('leads who runs the server to the console, in the same way whether there is a service or not', async () => {
    const names = ['nowhere', 'disabled', 'tunnel', 'unresolved', 'refusing', 'mute', 'broken', 'blocked']
    const pages = await Promise.all(names.map((name) => ask(name)))
    const links = pages.map(({ text }) => LINK.exec(text)?.[0])
    expect(new Set(links).size).toBe(1)
    expect(links[0]).toContain(`"https://console.example.com:${lab.httpsPort}/why"`)
    const odd = await visit({ port: lab.httpsPort, host: 'nowhere.example.com', path: '/<script>?x="y"' })
    expect(odd.text).not.toMatch(/<script|x=/)
  })

  test('for a request that cannot be read', async () => {
    const answer = await sendRaw(lab.httpsPort, 'GET /%00 HTTP/1.1\r\nHost: fine.example.com\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('<h1>This request cannot be read</h1>')
    const garbage = await sendRaw(lab.httpsPort, 'GET\u0001 / HTTP/1.1\r\nHost: fine.example.com\r\n\r\n')
    expect(garbage).toMatch(/^HTTP\/1\.[01] 400 /)
  })

  test('while the server of the console is away', async () => {
    const answer = await visit({ port: lab.httpsPort, host: '127.0.0.1' })
    expect(answer.status).toBe(503)
    expectOwnPage(answer)
  })

  test('has no body for HEAD', async () => {
    const bytes = 'HEAD / HTTP/1.1\r\nHost: disabled.example.com\r\nConnection: close\r\n\r\n'
    const answer = await sendRaw(lab.httpsPort, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(answer.split('\r\n\r\n')[1]).toBe('')
  })

  test('goes away with its reason', async () => {
    await driver.setNodeStates(new Map([[7, 'up']]))
    expect((await ask('tunnel')).status).toBe(200)
    await driver.setNodeStates(new Map([[7, 'down']]))
    expect((await ask('tunnel')).status).toBe(502)
    expect((await ask('fine')).status).toBe(200)
  })
})
