import { randomBytes } from 'node:crypto'
import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'

const HOST = 'a.example.com'
const LONG = `/${'x'.repeat(254)}`

let root: Upstream
let wiki: Upstream

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  ;[root, wiki] = await Promise.all([
    startUpstream(),
    startUpstream({
      answer: (request, response) =>
        response.writeHead(302, { location: '/login', 'x-url': request.url ?? '' }).end(),
    }),
  ])
  const below = (id: number, path: string, changes = {}) =>
    makeLabRoute(id, wiki.port, { domain: HOST, path, stripPath: true, ...changes })
  lab.signInKeys = [{ id: 'k1', secret: randomBytes(32).toString('base64url') }]
  lab.signIns = [{ id: 9, domain: HOST, members: [7] }]
  const problems = await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, root.port, { domain: HOST }),
    below(3, '/wiki'),
    below(4, '/deep/er'),
    below(5, '/tool', { domain: null }),
    below(6, '/private', { signIn: { paths: ['/private/open'], expressions: [] } }),
    below(7, '/kept', { stripPath: false }),
    below(8, LONG),
  ])
  expect(problems).toEqual([])
})

afterAll(async () => {
  for (const each of [root, wiki]) await each.close()
})

/** Sends a request as bytes. @returns the status, and what the service behind the path was asked for. */
async function ask(target: string, { method = 'GET', host = HOST, lines = [] as string[] } = {}) {
  wiki.seen.length = 0
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...lines, '', '']
  const answer = await sendRaw(lab.httpsPort, head.join('\r\n'))
  return { status: Number(answer.split(' ')[1]), answer, ...wiki.seen[0] }
}

const PATHS: [target: string, got: string, prefix: string][] = [
  ['/wiki', '/', '/wiki'],
  ['/wiki?', '/?', '/wiki'],
  ['/wiki/', '/', '/wiki'],
  ['/wiki/a?b', '/a?b', '/wiki'],
  ['/wiki?q=/wiki/x', '/?q=/wiki/x', '/wiki'],
  ['/wiki/wiki/a', '/wiki/a', '/wiki'],
  ['/wiki/a|b$1', '/a|b$1', '/wiki'],
  ['/wiki/a%2Fb%20c%C3%A9/%zz', '/a%2Fb%20c%C3%A9/%zz', '/wiki'],
  ['/wiki/x//y;v=1/', '/x//y;v=1/', '/wiki'],
  ['/wiki/x/../y', '/x/../y', '/wiki'],
  ['/deep/er/a', '/a', '/deep/er'],
  [LONG + LONG, LONG, LONG],
]

describe('the backend gets the path without its prefix', () => {
  test.each(PATHS)('%s is %s', async (target, got, prefix) => {
    const seen = await ask(target)
    expect([seen.url, seen.headers?.['x-forwarded-prefix']]).toEqual([got, prefix])
  })

  test.each(PATHS)('%s is %s over HTTP/2', async (target, got, prefix) => {
    wiki.seen.length = 0
    await askHttp2(lab.httpsPort, [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', target],
    ])
    const [seen] = wiki.seen
    expect([seen?.url, seen?.headers['x-forwarded-prefix']]).toEqual([got, prefix])
  })

  test('without a domain, and with a body', async () => {
    expect((await ask('/tool/a', { host: '127.0.0.1' })).url).toBe('/a')
    const sent = await ask('/wiki/a?b', { method: 'POST', lines: ['Content-Length: 0'] })
    expect([sent.method, sent.url, sent.headers?.['x-forwarded-prefix']]).toEqual(['POST', '/a?b', '/wiki'])
    const long = await visit({ port: lab.httpsPort, host: HOST, path: '/wiki/up', method: 'PUT', body: 'x' })
    expect(long.headers['x-url']).toBe('/up')
  })

  test('of a WebSocket too', async () => {
    const socket = await openSocket({ port: lab.httpsPort, host: HOST, path: '/wiki/socket' })
    expect(await socket.echo('hello')).toBe(true)
    socket.close()
    expect(wiki.upgrades.at(-1)).toMatchObject({ url: '/socket', headers: { 'x-forwarded-prefix': '/wiki' } })
  })

  // A service that redirects to the path of a directory would send the visitor to another host.
  test.each(['/wiki//evil.example', '/wiki/\\evil.example', '/wiki///evil.example'])(
    '%s names no host',
    async (target) => expect((await ask(target)).url).toBe('/evil.example'),
  )
})

describe('what is not its prefix stays', () => {
  test.each(['/wikipedia/a', '/WIKI/a', '/x/wiki/a'])('%s', async (target) => {
    root.seen.length = 0
    await ask(target)
    expect([root.seen[0]?.url, root.seen[0]?.headers['x-forwarded-prefix']]).toEqual([target, undefined])
  })

  test('and the whole path, where the service does not ask for less', async () => {
    const seen = await ask('/kept/a', { lines: ['X-Forwarded-Prefix: /forged'] })
    expect([seen.url, seen.headers?.['x-forwarded-prefix']]).toEqual(['/kept/a', undefined])
  })

  test('and a visitor cannot set the prefix', async () => {
    const seen = await ask('/wiki/a', {
      lines: ['X-Forwarded-Prefix: /forged', 'X_Forwarded_Prefix: /forged'],
    })
    expect(seen.headers?.['x-forwarded-prefix']).toBe('/wiki')
    expect(JSON.stringify(seen.headers)).not.toContain('forged')
  })

  test.each([
    '/%77iki/a',
    '/x/../wiki/a',
    '//wiki/a',
    '/wiki;x/a',
    '/wiki/../wiki/a',
    '/wiki/x/../../wiki/a',
    '/wiki/..',
  ])('%s is refused: it is another path in another reading', async (target) => {
    expect(await ask(target)).toMatchObject({ status: 400 })
    expect(wiki.seen).toEqual([])
  })
})

test('sign-in and its bypass go by the whole path', async () => {
  expect(await ask('/private/secret')).toMatchObject({ status: 401 })
  expect(await ask('/private/open')).toMatchObject({ status: 302, url: '/open' })
  const page = await ask('/private/a?b', { lines: ['Accept: text/html'] })
  expect(page.answer).toContain('location: /.postern/sign-in?to=%2Fprivate%2Fa%3Fb')
  expect(page.url).toBeUndefined()
})

test("the service's answer stays unchanged, and the log has the visitor's path", async () => {
  lab.logs.length = 0
  expect((await ask('/wiki/go')).answer).toContain('location: /login')
  await ask('/wiki/sent', { method: 'POST', lines: ['Content-Length: 0'] })
  const logged = (line: string) => lab.logs.some(({ text }) => text.includes(line))
  await until('both lines', () => logged('GET /wiki/go') && logged('POST /wiki/sent'))
})
