import { connect } from 'node:http2'
import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'

let root: Upstream
let admin: Upstream
let deep: Upstream
let tool: Upstream
let server: Upstream

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  ;[root, admin] = await Promise.all([startUpstream(), startUpstream()])
  ;[deep, tool] = await Promise.all([startUpstream(), startUpstream()])
  server = await startUpstream({ path: lab.serverSocket })
  const problems = await lab.apply([
    makeConsoleRoute({ allowedIps: ['192.0.2.1/32'] }),
    makeLabRoute(2, root.port, { domain: 'a.example.com' }),
    makeLabRoute(3, admin.port, { domain: 'a.example.com', path: '/admin' }),
    makeLabRoute(4, deep.port, { domain: 'a.example.com', path: '/a/b' }),
    makeLabRoute(5, tool.port, { domain: null, path: '/tool' }),
    makeLabRoute(6, root.port, { domain: 'plain.example.com' }),
    makeLabRoute(7, tool.port, { domain: 'only.example.com', path: '/tool' }),
    makeLabRoute(8, tool.port, { domain: 'long.example.com', path: `/${'x'.repeat(254)}` }),
  ])
  expect(problems).toEqual([])
})

afterAll(async () => {
  for (const each of [root, admin, deep, tool, server]) await each.close()
})

const upstreams = () => ({ root, admin, deep, tool, server })

/** Sends a request over TLS as bytes. @returns the status, and who answered it with which address. */
async function raw(target: string, host = 'a.example.com', method = 'GET') {
  for (const each of Object.values(upstreams())) each.seen.length = 0
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', '']
  const answer = await sendRaw(lab.httpsPort, lines.join('\r\n'))
  const by = Object.entries(upstreams()).find(([, each]) => each.seen.length > 0)
  return [Number(answer.split(' ')[1]), by?.[0], by?.[1].seen[0]?.url]
}

describe('a path reaches its service as the visitor spelled it', () => {
  test.each([
    ['/', 'root'],
    ['/admin', 'admin'],
    ['/admin/', 'admin'],
    ['/admin/y', 'admin'],
    ['/admin?q=/../', 'admin'],
    ['/administrator', 'root'],
    ['/ADMIN', 'root'],
    ['/x/../y', 'root'],
    ['/admin/../admin/z', 'admin'],
    ['/../../y/.', 'root'],
    ['/a%20b%25%C3%A9', 'root'],
    ['/a%2525', 'root'],
    ['/a%', 'root'],
    ['/a%zz/%u0041', 'root'],
    ['/%2%66x', 'root'],
    ['/y//z/', 'root'],
    ['/a/b//c;v=1/d%2Fe', 'deep'],
    ['/x;jsessionid=1', 'root'],
    ['/x%3Bv=1/%41', 'root'],
    ['/x%5Cy', 'root'],
    ['/x\\y', 'root'],
    ['/x/...', 'root'],
    ['/x/..y/.z', 'root'],
    ['/x./y%20/z.', 'root'],
    ['/admin/a%20/b...', 'admin'],
    // npm, GitLab, RabbitMQ, Jenkins
    ['/@scope%2fname', 'root'],
    ['/@scope%2Fname/-/name-1.0.0.tgz', 'root'],
    ['/api/v4/projects/group%2Fproject/repository/files/src%2Fa%2Eb?ref=main', 'root'],
    ['/api/queues/%2F/name', 'root'],
    ['/job/app/job/feature%252Fx/', 'root'],
    ['/x?', 'root'],
    ['/admin/?', 'admin'],
  ])('%s → %s', async (target, who) => {
    expect(await raw(target)).toEqual([200, who, target])
  })

  test('also where there is nothing but the one service', async () => {
    const paths = ['//admin', '//x/admin', '/%61dmin', '/admin;/x%2F', '/a%2Fb', '/admin.', '/x/..%20/admin']
    for (const path of paths) expect(await raw(path, 'plain.example.com')).toEqual([200, 'root', path])
  })

  test('and by a route as long as one can be', async () => {
    const path = `/${'x'.repeat(254)}`
    expect((await raw(`${path}/y`, 'long.example.com'))[1]).toBe('tool')
    expect((await raw(`${path}y`, 'long.example.com'))[0]).toBe(404)
  })
})

/** Other spellings of a path that belongs to another service, another list or no service. */
const CROSSING = [
  '//admin',
  '//x/admin',
  '/\\x/admin',
  '//x@y:80/admin/z',
  '/%2fx/admin',
  '/%61dmin',
  '/%61%64%6d%69%6E/x',
  '/x/../admin',
  '/x/./../admin/y',
  '/../admin',
  '/./admin',
  '/admin/..',
  '/admin/../x',
  '/admin;',
  '/admin;x=1/',
  '/admin%3b',
  '/admin%3Bx/y',
  '/;x/admin',
  '/x;/../admin',
  '/\\admin',
  '/%5cadmin',
  '/admin\\x',
  '/admin%2f',
  '/admin%2Fx',
  '/%2Fadmin',
  '/admin%252Fx',
  '/%2561dmin',
  '/a%2Fb',
  '/a;%2Fx/b',
  '/a;x=%2F/b',
  '/a//b',
  '/a%2f%2fb/c',
  '/admin.',
  '/admin./y',
  '/admin%20',
  '/a./b%20',
  '/x/..%20/admin',
  '/x/.../admin',
]

/** A dot segment that does not look like one, or one where the order of resolving matters. */
const HIDDEN_DOTS = [
  '/x/%2e%2e/y',
  '/x/.%2E/y',
  '/x/%2e/y',
  '/x/%252e%252e/y',
  '/x/..;/admin',
  '/x/..;v=1/y',
  '/x/..%2fy',
  '/x/..%5cy',
  '/y%5c..%5cx',
  '/y\\..\\x',
  '/x//../y',
  '/x%2f../y',
  '/x/../a%2fb',
  '/x/..%3b/y',
]

describe('a path is refused', () => {
  test.each(CROSSING)('that other programs read as one of another service: %s', async (target) => {
    expect(await raw(target)).toEqual([400, undefined, undefined])
  })

  test.each(HIDDEN_DOTS)('that hides a dot segment: %s', async (target) => {
    expect(await raw(target)).toEqual([400, undefined, undefined])
    expect(await raw(target, 'plain.example.com')).toEqual([400, undefined, undefined])
  })

  test.each(['/a%00b', '/%00', '/a%2500', '/a\0b'])('with a NUL: %j', async (target) => {
    expect(await raw(target)).toEqual([400, undefined, undefined])
  })

  test.each(['/a#b', 'http://a.example.com/x', 'https://b.example.com/x', 'x', '*'])(
    'that is none: %s',
    async (target) => {
      expect(await raw(target)).toEqual([400, undefined, undefined])
    },
  )

  test("that would reach the console past its IP list by the agents' way", async () => {
    expect((await raw('/api/agent/connect', '127.0.0.1')).slice(0, 2)).toEqual([200, 'server'])
    expect((await raw('/api/nodes', '127.0.0.1'))[0]).toBe(403)
    for (const path of [
      '/api/agent/../nodes',
      '/api/agent/..%2fnodes',
      '/api/agent%2f..',
      '/api/nodes;/../agent',
    ])
      expect(await raw(path, '127.0.0.1')).toEqual([400, undefined, undefined])
  })

  test('that takes long to look at', async () => {
    expect((await raw(`/${'x'.repeat(20_000)}`))[0]).toBe(200)
    expect((await raw(`/${'%41'.repeat(340)}`))[0]).toBe(200)
    expect((await raw(`/${'%41'.repeat(345)}`))[0]).toBe(400)
    expect((await raw('/a.'.repeat(16)))[0]).toBe(200)
    expect((await raw('/a.'.repeat(17)))[0]).toBe(400)
  })

  test('a tunnel to anywhere too', async () => {
    expect(await raw('127.0.0.1:22', 'a.example.com', 'CONNECT')).toEqual([400, undefined, undefined])
  })
})

test('OPTIONS * goes to the whole host', async () => {
  expect(await raw('*', 'a.example.com', 'OPTIONS')).toEqual([200, 'root', '*'])
})

describe('over HTTP/2', () => {
  const ask = (path: string, changes: Record<string, string> = {}) => {
    const fields = {
      ':method': 'GET',
      ':scheme': 'https',
      ':authority': 'a.example.com',
      ':path': path,
      ...changes,
    }
    return askHttp2(lab.httpsPort, Object.entries(fields))
  }

  test('a path is read the same way', async () => {
    admin.seen.length = 0
    const session = connect(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
    const stream = session.request({ ':authority': 'a.example.com', ':path': '/admin/%7e//x%2Fy?' })
    await new Promise((resolve, reject) => stream.on('response', resolve).on('error', reject).resume().end())
    await new Promise<void>((resolve) => session.close(resolve))
    expect(admin.seen[0]?.url).toBe('/admin/%7e//x%2Fy?')
    for (const path of [...CROSSING, ...HIDDEN_DOTS]) expect([path, await ask(path)]).toEqual([path, 400])
    // Later releases of HAProxy refuse it by themselves.
    expect([400, 'reset']).toContain(await ask('/', { ':authority': 'a.example.com/x' }))
  })

  test('the scheme is one of the web, and nobody but OPTIONS is passed with *', async () => {
    expect(await ask('/', { ':scheme': 'http' })).toBe(200)
    expect(await ask('/', { ':scheme': 'HTTPS' })).toBe(200)
    expect(await ask('*', { ':method': 'OPTIONS' })).toBe(200)
    for (const scheme of ['ftp', 'javascript', 'httpsx', 'https://evil.example/x?', ''])
      expect([scheme, await ask('/', { ':scheme': scheme })]).toEqual([scheme, 400])
    root.seen.length = 0
    // HAProxy takes the whole host for its front page.
    for (const method of ['GET', 'POST', 'X'])
      expect([400, 200]).toContain(await ask('*', { ':method': method }))
    expect(root.seen.map(({ url }) => url)).not.toContain('*')
  })
})

describe('a refusal is in the log', () => {
  const refused = (service: number, text: string) =>
    until('the line', () => lab.logs.find((log) => log.service === service && log.text.includes(text)))

  test.each([
    [3, '/admin/..', 'the path can be read in more than one way'],
    [2, '/x/%2e%2e/y?token=s3cr3t', 'the path can be read in more than one way'],
    [2, '/n%00l', 'the path can be read in more than one way'],
    [4, '/a/b/%00', 'the path can be read in more than one way'],
    [2, 'http://a.example.com/form', 'the request is malformed'],
  ])('of service %i for %s', async (service, target, why) => {
    lab.logs.length = 0
    await raw(target)
    const { text } = await refused(service, why)
    expect(text).toMatch(/^\[WARN\] \S+ 127\.0\.0\.1 "GET \/\S*" 400 /)
    expect(text).not.toContain('s3cr3t')
  })

  test('also of a host whose routes only match another spelling', async () => {
    lab.logs.length = 0
    expect((await raw('//tool', 'only.example.com'))[0]).toBe(400)
    expect((await refused(7, 'more than one way')).text).toContain('"GET //tool" 400')
    expect((await raw('/x%00', 'only.example.com'))[0]).toBe(404)
  })
})
