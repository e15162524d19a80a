import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../../../test/haproxy-lab.ts'
import { linesOf, type RawUpstream, startRawUpstream } from '../../../../test/raw-upstream.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket } from '../../../../test/visitor.ts'

let lab: HaproxyLab
let service: RawUpstream
let echo: Upstream

beforeAll(async () => {
  lab = await makeHaproxyLab()
  service = await startRawUpstream()
  echo = await startUpstream()
  await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, service.port, { domain: 'app.example.com' }),
    makeLabRoute(3, service.port, { domain: null, path: '/tool' }),
    makeLabRoute(4, echo.port, { domain: 'ws.example.com' }),
  ])
})

beforeEach(() => {
  service.heads.length = 0
})

afterAll(async () => {
  await lab.close()
  for (const each of [service, echo]) await each.close()
})

function ask(lines: string[], { first = 'GET / HTTP/1.1', host = 'app.example.com' } = {}): Promise<string> {
  return sendRaw(lab.httpsPort, [first, `Host: ${host}`, 'Connection: close', ...lines, '', ''].join('\r\n'))
}

/** @returns the names of the fields that the service gets, as they came. */
async function namesOf(lines: string[], options = {}): Promise<string[]> {
  await ask(lines, options)
  const [head = ''] = service.heads
  return head
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.slice(0, line.indexOf(':')))
}

const OURS = ['x-forwarded-for', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port']

describe('headers in which a visitor describes itself do not pass', () => {
  const names = [
    'X-Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Server',
    'X-Forwarded-User',
    'X-ForwardedFor',
    'Forwarded',
    'X-Real-IP',
    'X-Client-IP',
    'Client-IP',
    'X-Cluster-Client-IP',
    'True-Client-IP',
    'CF-Connecting-IP',
    'X-Original-URL',
    'X-Rewrite-URL',
    'Script-Name',
    'X-Script-Name',
    'Path-Info',
    'Daphne-Root-Path',
    'X-Ingress-Path',
    'X-Traversal-Path',
    'X-Matched-Path',
    'X-Request-URI',
    'Proxy',
    'Remote-User',
    'Remote-Groups',
    'Remote-Email',
    'X-Auth-Request-Email',
    'X-Auth-Request-Access-Token',
    'X-WebAuth-User',
    'X-Postern-Key',
    'X-Postern-Identity',
  ]
  /** What PHP, CGI, WSGI and lighttpd make one variable of. */
  const spellings = (name: string) =>
    ['-', '_', '.', '~', '!', '*'].flatMap((gap) => {
      const spelt = name.replaceAll('-', gap)
      return [spelt, spelt.toLowerCase(), spelt.toUpperCase()]
    })

  test.each(names)('%s', async (name) => {
    const lines = [...new Set(spellings(name))].map((spelt) => `${spelt}: forged`)
    for (const [host, path] of [
      ['app.example.com', '/'],
      ['127.0.0.1', '/tool'],
    ]) {
      service.heads.length = 0
      expect(await namesOf(lines, { host, first: `GET ${path} HTTP/1.1` })).toEqual(['host', ...OURS])
      expect(service.heads[0]).not.toContain('forged')
    }
  })

  test('names that only look similar do', async () => {
    const alike = [
      'x-forward',
      'forwarded-x',
      'x-authorization',
      'x-auth-token',
      'x-auth-key',
      'x-auth-user',
      'x-auth-requests',
      'authorization',
      'remotes',
      'proxy-x',
      'x-url',
      'x-real',
      'x-request-id',
      'script',
      'path',
    ]
    expect(await namesOf(alike.map((name) => `${name}: 1`))).toEqual(['host', ...alike, ...OURS])
  })
})

test('headers between the parts of HAProxy do not arrive, and no visitor can set them', async () => {
  const forged = ['route', 'source', 'address', 'port'].map((fact) => `X-Postern-${fact}: 127.0.0.9`)
  for (const method of ['GET', 'POST', 'DELETE']) {
    service.heads.length = 0
    const lines = method === 'GET' ? forged : [...forged, 'Content-Length: 0']
    const names = await namesOf(lines, { first: `${method} / HTTP/1.1` })
    // A lane closes its connections, and releases differ in where they put that.
    const rest = names.filter((name) => name !== 'content-length' && name !== 'connection')
    expect(rest).toEqual(['host', ...OURS])
    expect(service.heads[0]).not.toContain('127.0.0.9')
  }
})

describe('hop by hop', () => {
  test('no name in Connection makes the next proxy drop a header', async () => {
    expect(await namesOf(['Connection: keep-alive, X-Forwarded-For, X-Real-IP'])).toEqual(['host', ...OURS])
    expect(await namesOf(['Connection: X-Forwarded-For', 'Connection: close'])).toEqual(['host', ...OURS])
  })

  test.each([
    'Keep-Alive: timeout=5',
    'Proxy-Connection: keep-alive',
    'TE: trailers',
    'TE: gzip',
    'HTTP2-Settings: AAMA',
  ])('%s ends here', async (line) => {
    expect(await namesOf([line, 'Connection: TE'])).toEqual(['host', ...OURS])
  })

  test('Upgrade passes only with Connection, and Connection only with Upgrade', async () => {
    const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    await ask(['Connection: Upgrade, X-Real-IP', 'Upgrade: websocket', ...key])
    expect(linesOf(service.heads[0], 'connection')).toEqual(['connection: upgrade'])
    expect(linesOf(service.heads[0], 'upgrade')).toEqual(['upgrade: websocket'])
    service.heads.length = 0
    expect(await namesOf(['Upgrade: websocket'])).toEqual(['host', ...OURS])
    service.heads.length = 0
    expect(await namesOf(['Connection: upgrade'])).toEqual(['host', ...OURS])
    service.heads.length = 0
    await ask(['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c'])
    expect([[], ['upgrade: websocket']]).toContainEqual(linesOf(service.heads[0], 'upgrade'))
  })

  test('a WebSocket opens whatever else Connection names', async () => {
    const socket = await openSocket({ port: lab.httpsPort, host: 'ws.example.com' })
    expect(await socket.echo('hello')).toBe(true)
    socket.close()
  })
})

describe('refused, and in the log of the service', () => {
  test.each([
    ['a NUL in a value', ['X-A: a\0b'], 'GET /nul HTTP/1.1'],
    ['a coding in HTTP/1.0', ['Transfer-Encoding: chunked', '', '0'], 'POST /coded HTTP/1.0'],
    ['a coding that is accepted in HTTP/1.0', ['TE: chunked'], 'GET /te HTTP/1.0'],
  ])('%s', async (_, lines, first) => {
    const answer = await ask(lines, { first })
    expect(answer).toMatch(/^HTTP\/1\.\d 400 /)
    expect(service.heads).toEqual([])
    // HAProxy refuses a NUL before the service is known.
    if (first.includes('/nul')) return
    expect(answer).toContain('This request cannot be read')
    const path = first.split(' ')[1] ?? ''
    const isOfIt = (log: { service: number; text: string }) =>
      log.service === 2 && log.text.includes(`${path}"`)
    const line = await until('the line', () => lab.logs.find(isOfIt))
    expect(line.text).toMatch(/^\[WARN\] .* "(GET|POST) \/\w+" 400 .* the request is malformed$/)
  })
})

describe("WebDAV's Destination", () => {
  const destination = async (value: string, host = 'app.example.com') => {
    service.heads.length = 0
    await ask([`Destination: ${value}`], { first: 'MOVE /a HTTP/1.1', host })
    return linesOf(service.heads[0], 'destination').map((line) => line.slice(13))
  }

  test.each([
    ['https://app.example.com/b%20c/?x', 'http://app.example.com/b%20c/?x'],
    ['HTTPS://App.Example.com/b', 'http://App.Example.com/b'],
    ['https://other.example.com/b', 'https://other.example.com/b'],
    ['https://app.example.com:444/b', 'https://app.example.com:444/b'],
    ['http://app.example.com/b', 'http://app.example.com/b'],
    ['/b', '/b'],
  ])('%s reaches a service that speaks http as %s', async (sent, got) => {
    expect(await destination(sent)).toEqual([got])
  })

  test('is of the port that the visitor came by', async () => {
    const host = 'app.example.com:8443'
    expect(await destination(`https://${host}/b`, host)).toEqual([`http://${host}/b`])
  })
})
