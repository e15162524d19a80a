import { createHmac } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { parseBypass } from '@postern/net/bypass'
import type { ResolvedHttpRoute } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute, PUBLIC_HOST } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'

const KEY = { id: 'a', secret: 'a'.repeat(43) }
const POINTS = ['new', 'old'].map((id) => ({ id, x: `${id}${'x'.repeat(40)}`, y: `-_${'y'.repeat(41)}` }))
const HOST = 'a.example.com'
const PAGE = { accept: 'text/html,application/xhtml+xml' }

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

let upstream: Upstream
let server: Upstream

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  lab.identityKeys = POINTS
  upstream = await startUpstream()
  server = await startUpstream({ path: lab.serverSocket })
  await lab.apply(routes())
})
afterAll(async () => {
  await upstream.close()
  await server.close()
})
beforeEach(async () => {
  signIn([7, 8])
  await lab.apply(routes())
  upstream.seen.length = server.seen.length = 0
})

function signIn(members: number[], keys = [KEY]): void {
  lab.signIns = [
    { id: 1, domain: HOST, members },
    { id: 2, domain: 'other.example.com', members: [9] },
  ]
  lab.signInKeys = keys
}

const routes = (changes: Partial<ResolvedHttpRoute> = {}) => [
  makeConsoleRoute(),
  makeLabRoute(2, upstream.port, { domain: HOST, signIn: bypassOf('/open\n^/api/v[0-9]+/'), ...changes }),
  makeLabRoute(3, upstream.port, { domain: HOST, path: '/free' }),
  makeLabRoute(4, upstream.port, { domain: 'other.example.com', signIn: bypassOf('/closed') }),
]
const bypassOf = (text: string) => parseBypass(text).bypass

/** A session as the server makes it. */
function sessionOf(claims: Record<string, unknown> = {}, { id, secret } = KEY): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 12 * 3600
  const head = part({ alg: 'HS256', kid: id })
  const text = `${head}.${part({ member: '7', email: 'ann@example.com', exp, ...claims })}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
const cookieOf = (session: string) => ({ cookie: `__Host-postern=${session}` })
const go = (path: string, headers: Record<string, string> = {}, host = HOST) =>
  visit({ port: lab.httpsPort, host, path, headers })

describe('a visitor without a session', () => {
  test('is sent to the sign-in from a page, with the address that was wanted', async () => {
    const { status, headers } = await go('/deep/page?x=1&y=a%2Fb', PAGE)
    expect(status).toBe(302)
    expect(headers.location).toMatch(/^\/\.postern\/sign-in\?to=/)
    const wanted = new URLSearchParams(headers.location?.split('?')[1]).get('to')
    expect(wanted).toBe('/deep/page?x=1&y=a%2Fb')
    expect(headers['cache-control']).toBe('no-store')
    const long = await go(`/${'x'.repeat(5000)}`, PAGE)
    expect(long.headers.location).toBe('/.postern/sign-in?to=%2F')
    expect(upstream.seen).toEqual([])
  })

  test.each([
    ['no Accept of pages', 'GET', {}],
    ['X-Requested-With', 'GET', { ...PAGE, 'x-requested-with': 'XMLHttpRequest' }],
    ['POST', 'POST', PAGE],
    ['a WebSocket', 'GET', { ...PAGE, ...UPGRADE }],
  ])('gets 401 as JSON with %s', async (_, method, headers) => {
    const answer = await visit({ port: lab.httpsPort, host: HOST, path: '/', method, headers })
    expect(answer.status).toBe(401)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'sign_in' })
    expect(upstream.seen).toEqual([])
  })

  test('reaches the server only at the addresses of the flow, and only at domains with sign-in', async () => {
    for (const path of ['/.postern/sign-in', '/.postern/arrive?ticket=1']) await go(path)
    expect(server.seen.map(({ url }) => url)).toEqual(['/.postern/sign-in', '/.postern/arrive?ticket=1'])
    for (const path of ['/.postern/other', '/.postern/sign-in/x', '/api/nodes', '/.postern/callback'])
      expect((await go(path)).status).toBe(401)
    expect(server.seen).toHaveLength(2)
  })
})

describe('a visitor with a session', () => {
  test('comes in, by name, and without the cookie', async () => {
    const cookie = `a=1; __Host-postern=${sessionOf()}; __Host-postern-ab12=x; b=2`
    const { status } = await go('/x', {
      ...PAGE,
      cookie,
      'remote-user': 'root',
      'x-auth-request-email': 'r@x.y',
    })
    expect(status).toBe(200)
    const { headers } = upstream.seen[0] ?? {}
    expect(headers?.cookie).toBe('a=1; b=2')
    for (const name of ['x-auth-request-email', 'remote-email', 'remote-user'])
      expect(headers?.[name]).toBe('ann@example.com')
  })

  test('is anonymous on an open service, which does not get the cookie', async () => {
    expect((await go('/free', cookieOf(sessionOf()))).status).toBe(200)
    expect(upstream.seen[0]?.headers).not.toHaveProperty('cookie')
    expect(upstream.seen[0]?.headers).not.toHaveProperty('remote-user')
  })

  test('is recognised by a previous key, and not by a removed one', async () => {
    const session = cookieOf(sessionOf())
    signIn([7], [{ id: 'b', secret: 'b'.repeat(43) }, KEY])
    await lab.apply(routes())
    expect((await go('/', session)).status).toBe(200)
    signIn([7], [{ id: 'b', secret: 'b'.repeat(43) }])
    await lab.apply(routes())
    expect((await go('/', session)).status).toBe(401)
  })

  test('renews it on a page, past half of its life', async () => {
    const session = cookieOf(sessionOf({ exp: Math.floor(Date.now() / 1000) + 5 * 3600 }))
    expect((await go('/x', session)).status).toBe(200)
    const { status, headers } = await go('/x', { ...PAGE, ...session })
    expect([status, headers.location]).toEqual([302, '/.postern/renew?to=%2Fx'])
    expect((await go('/x', { ...PAGE, ...cookieOf(sessionOf()) })).status).toBe(200)
  })

  test('goes on past half of its life while the server is down', async () => {
    const session = cookieOf(sessionOf({ exp: Math.floor(Date.now() / 1000) + 5 * 3600 }))
    await server.close()
    await until(
      'the server to be missed',
      async () => (await go('/x', { ...PAGE, ...session })).status === 200,
    )
    server = await startUpstream({ path: lab.serverSocket })
    await until('the server to be back', async () => (await go('/x', { ...PAGE, ...session })).status === 302)
  })
})

describe('the identity for the service', () => {
  const identity = 'head.of-the.identity_'
  const headersOf = async (path: string, headers: Record<string, string>) => {
    upstream.seen.length = 0
    await go(path, headers)
    return upstream.seen[0]?.headers ?? {}
  }

  test('comes out of the session, and from nowhere else', async () => {
    const session = cookieOf(sessionOf({ identity }))
    const forged = {
      'x-postern-identity': 'forged',
      x_postern_identity: 'forged',
      'x.postern.other': 'forged',
    }
    const got = await headersOf('/x', { ...session, ...forged })
    expect(got).toMatchObject({ 'x-postern-identity': identity, 'remote-user': 'ann@example.com' })
    expect(JSON.stringify(got)).not.toContain('forged')
    for (const path of ['/open', '/free']) {
      const others = await headersOf(path, forged)
      expect(others).toMatchObject({ host: expect.any(String) })
      expect(JSON.stringify(others)).not.toMatch(/postern.identity|forged/)
    }
    expect(await headersOf('/free', session)).not.toHaveProperty('x-postern-identity')
    // A session from a release without identities.
    expect(await headersOf('/x', { ...cookieOf(sessionOf()), ...forged })).not.toHaveProperty(
      'x-postern-identity',
    )
  })

  test('may be as long as a session holds, and no longer', async () => {
    const sized = (length: number) => sessionOf({ identity: 'x'.repeat(length) })
    const longest = sized(2850)
    expect(longest.length).toBeGreaterThan(3900)
    expect(longest.length).toBeLessThanOrEqual(4000)
    const got = await headersOf('/x', cookieOf(longest))
    expect(got['x-postern-identity']).toHaveLength(2850)
    expect((await go('/x', cookieOf(sized(2950)))).status).toBe(401)
  })

  test('is verified by keys that HAProxy has itself, at each domain with sign-in and the console', async () => {
    const jwks = '/.postern/jwks.json'
    await server.close()
    for (const host of [HOST, 'other.example.com', '127.0.0.1', PUBLIC_HOST]) {
      const { status, text, headers } = await go(jwks, {}, host)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json')
      expect(headers['cache-control']).toBe('public, max-age=3600')
      const common = { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' }
      expect(JSON.parse(text)).toEqual({
        keys: POINTS.map(({ id, ...point }) => ({ ...common, kid: id, ...point })),
      })
    }
    server = await startUpstream({ path: lab.serverSocket })
    lab.identityKeys = POINTS.slice(0, 1)
    await lab.apply(routes())
    expect(JSON.parse((await go(jwks)).text).keys).toHaveLength(1)
    await lab.apply([...routes(), makeLabRoute(9, upstream.port, { domain: 'plain.example.com' })])
    await go(jwks, {}, 'plain.example.com')
    expect(upstream.seen.map(({ url }) => url)).toEqual([jwks])
    lab.identityKeys = POINTS
  })
})

describe('access ends', () => {
  const open = (headers: Record<string, string>) =>
    openSocket({ port: lab.httpsPort, host: HOST, path: '/', headers })

  test('with the entry in the list, also for an open WebSocket, and for nobody else', async () => {
    const [ann, bob] = [cookieOf(sessionOf()), cookieOf(sessionOf({ member: '8' }))]
    const [ofAnn, ofBob] = [await open(ann), await open(bob)]
    signIn([8])
    await lab.apply(routes())
    await until('the connection to end', () => !ofAnn.isOpen())
    expect((await go('/', ann)).status).toBe(401)
    expect((await go('/', bob)).status).toBe(200)
    expect(await ofBob.echo('still here')).toBe(true)
    ofBob.close()
  })

  test('for everybody with the list or the sign-in of the domain', async () => {
    const session = cookieOf(sessionOf())
    signIn([])
    await lab.apply(routes())
    expect((await go('/', session)).status).toBe(401)
    lab.signIns = []
    await lab.apply(routes())
    expect((await go('/', session)).status).toBe(401)
    expect((await go('/', { ...PAGE, ...session })).status).toBe(302)
  })

  test('for visitors from before sign-in was required, and at a bypass that was removed', async () => {
    await lab.apply(routes({ signIn: null }))
    const early = await open({})
    await lab.apply(routes())
    await until('the connection to end', () => !early.isOpen())
    const free = await openSocket({ port: lab.httpsPort, host: HOST, path: '/open' })
    await lab.apply(routes({ signIn: bypassOf('/other') }))
    await until('the connection at the bypass to end', () => !free.isOpen())
  })

  test('with the move of a service to another domain', async () => {
    const session = cookieOf(sessionOf())
    const socket = await open(session)
    const moved = makeLabRoute(2, upstream.port, {
      domain: 'other.example.com',
      path: '/m',
      signIn: bypassOf(''),
    })
    await lab.apply([...routes().filter(({ id }) => id !== 2), moved])
    await until('the connection to end', () => !socket.isOpen())
    expect((await go('/m', session, 'other.example.com')).status).toBe(401)
    const own = cookieOf(sessionOf({ member: '9' }))
    expect((await go('/m', own, 'other.example.com')).status).toBe(200)
  })
})

describe('without sign-in', () => {
  test('a bypassed path is reached, but not from an address that the list refuses', async () => {
    for (const path of ['/open', '/open?x=1', '/api/v1/x', '/api/v22/'])
      expect((await go(path)).status).toBe(200)
    expect(upstream.seen.every(({ headers }) => !('remote-user' in headers))).toBe(true)
    await lab.apply(routes({ blockedIps: ['127.0.0.1'] }))
    expect((await go('/open')).status).toBe(403)
    expect((await go('/', cookieOf(sessionOf()))).status).toBe(403)
  })

  test('expressions that together take too many steps open nothing, rather than keep others waiting', async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `^/[a-z/]*${at}[a-z/]*x$`)
    const path = `/${'a'.repeat(1000)}29x`
    await lab.apply(routes({ signIn: bypassOf([...lines, '/b'].join('\n')) }))
    expect((await visit({ port: lab.httpsPort, host: HOST, path })).status).toBe(401)
    expect((await visit({ port: lab.httpsPort, host: HOST, path: '/aa29x' })).status).toBe(200)
    expect((await visit({ port: lab.httpsPort, host: HOST, path: '/b' })).status).toBe(200)
  })

  test('the bypass of one service is none of another', async () => {
    expect((await go('/open', {}, 'other.example.com')).status).toBe(401)
    expect((await go('/closed', {}, 'other.example.com')).status).toBe(200)
    expect((await go('/closed')).status).toBe(401)
  })

  test('a service without a domain of its own is not published at all', async () => {
    const bare = makeLabRoute(5, upstream.port, { domain: null, path: '/bare', signIn: bypassOf('') })
    expect(await lab.apply([...routes(), bare])).toEqual([
      {
        scope: { kind: 'service', id: 5 },
        message: 'Only a service with a domain of its own can require sign-in',
      },
    ])
    await go('/bare', {}, '127.0.0.1')
    expect(upstream.seen).toEqual([])
  })
})

test('a service cannot plant a session, or an attempt', async () => {
  const planted = ['__Host-postern=x; Path=/; Secure', '__host-Postern-ab12=x; Path=/; Secure', 'own=1']
  const planter = await startUpstream({
    answer: (_, response) => response.setHeader('set-cookie', planted).end(),
  })
  await lab.apply([...routes(), makeLabRoute(6, planter.port, { domain: HOST, path: '/plant' })])
  expect((await go('/plant')).headers['set-cookie']).toEqual(['own=1; Secure'])
  await planter.close()
})

test('a HAProxy from a release without sign-in is replaced before it gets a route that requires it', async () => {
  await lab.apply([makeConsoleRoute()])
  const config = await readFile(lab.paths.config, 'utf8')
  const old = config
    .replace(/^.*sign-in\.map.*\n/gm, '')
    .replace(/description postern-\w+/, 'description postern-0')
  await writeFile(lab.paths.config, old)
  process.kill(await lab.pid(), 'SIGKILL')
  const driver = await lab.open()
  await driver.check()
  expect(await lab.command(`show map ${lab.paths.signIn}`)).toContain('Unknown map')
  expect(await lab.apply(routes())).toEqual([])
  const answer = await visit({ port: lab.httpsPort, host: HOST, path: '/', headers: PAGE })
  expect(answer.status).toBe(302)
  expect(upstream.seen).toEqual([])
})
