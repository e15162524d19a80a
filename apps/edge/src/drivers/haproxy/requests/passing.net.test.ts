import { connect as connectH2 } from 'node:http2'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeRealCertificate } from '../../../../test/certificate.ts'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { type Seen, startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

let plain: Upstream
let secure: Upstream
let own: Upstream
let server: Upstream

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  const certificate = await makeRealCertificate(9, ['inner.example.com'])
  plain = await startUpstream()
  secure = await startUpstream({ tls: certificate })
  own = await startUpstream({
    answer: (request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { 'x-own': 'yes', 'cache-control': 'max-age=9' })
      response.end('the own answer')
    },
  })
  server = await startUpstream({ path: lab.serverSocket })
  const https = (port: number) => ({ backend: { proto: 'https' as const, host: null, port } })
  await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, plain.port, { domain: 'plain.example.com' }),
    makeLabRoute(3, 0, { domain: 'secure.example.com', ...https(secure.port) }),
    makeLabRoute(4, 0, { domain: null, path: '/secure', ...https(secure.port) }),
    makeLabRoute(5, own.port, { domain: 'own.example.com' }),
    makeLabRoute(6, plain.port, { domain: null, path: '/tool' }),
  ])
})

afterAll(async () => {
  for (const each of [plain, secure, own, server]) await each.close()
})

async function through(host: string, path = '/', more: Partial<Parameters<typeof visit>[0]> = {}) {
  const answer = await visit({ port: lab.httpsPort, host, path, ...more })
  const seen = answer.text.startsWith('{') ? (JSON.parse(answer.text) as Seen) : undefined // what the upstream echoes
  return { ...answer, seen }
}

describe('what a service learns about its visitor', () => {
  test('is the truth', async () => {
    const { seen } = await through('plain.example.com:8443')
    expect(seen?.headers).toMatchObject({
      host: 'plain.example.com:8443',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'plain.example.com:8443',
      'x-forwarded-port': String(lab.httpsPort),
    })
  })
})

describe("the console's session", () => {
  test('is out of the reach of pages at its own host', async () => {
    const policy = async (host: string, path: string) =>
      (await through(host, path)).headers['content-security-policy']
    expect(await policy('127.0.0.1', '/tool')).toMatch(/^sandbox /)
    expect(await policy('127.0.0.1', '/tool')).not.toContain('allow-same-origin')
    expect(await policy('127.0.0.1', '/nodes')).toBe(undefined)
    expect(await policy('plain.example.com', '/')).toBe(undefined)
  })
})

describe('an answer of the service', () => {
  test.each([204, 304, 400, 404, 418, 500, 502, 503, 504])('%i passes untouched', async (status) => {
    const answer = await through('own.example.com', `/${status}`)
    expect(answer).toMatchObject({ status, headers: { 'x-own': 'yes', 'cache-control': 'max-age=9' } })
    if (status !== 204 && status !== 304) expect(answer.text).toBe('the own answer')
  })
})

describe('a service that speaks https', () => {
  test('gets the requested server name, whatever certificate it has', async () => {
    expect((await through('secure.example.com')).seen?.serverName).toBe('secure.example.com')
    const posted = await through('secure.example.com', '/', { method: 'POST', body: 'x' })
    expect(posted.seen).toMatchObject({ method: 'POST', serverName: 'secure.example.com' })
  })

  test('and none for an address', async () => {
    expect((await through('127.0.0.1', '/secure')).seen?.serverName).toBe('false')
  })
})

describe('connections to a service', () => {
  test('are used again by safe methods, over all visitors', async () => {
    await through('plain.example.com')
    const before = plain.connections
    for (let i = 0; i < 10; i++) await through('plain.example.com', `/${i}`)
    expect(plain.connections - before).toBeLessThanOrEqual(2)
  })

  test('never carry a request to another service', async () => {
    const session = connectH2(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
    const ask = (authority: string, path: string) =>
      new Promise<string>((resolve, reject) => {
        let text = ''
        const stream = session.request({ ':authority': authority, ':path': path })
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        stream.on('end', () => resolve(text)).on('error', reject)
      })
    const hosts = Array.from({ length: 60 }, (_, i) => (i % 2 ? 'plain' : i % 4 ? 'secure' : 'own'))
    const answers = await Promise.all(hosts.map((host) => ask(`${host}.example.com`, '/200')))
    for (const [index, answer] of answers.entries()) {
      const expected = { plain: /plain\.example/, secure: /secure\.example/, own: /^the own answer$/ }
      expect(answer).toMatch(expected[hosts[index] as keyof typeof expected]) // one of the three above
    }
    await new Promise<void>((resolve) => session.close(resolve))
  })

  test('a visitor never sees that the service had closed one', async () => {
    const closing = await startUpstream({
      answer: (request, response) => {
        response.end('fine')
        // After the answer, without a notice, like a service that closes idle connections.
        setImmediate(() => request.socket.destroy())
      },
    })
    await lab.apply([makeLabRoute(2, closing.port, { domain: 'plain.example.com' })])
    const statuses = new Set<number>()
    for (let i = 0; i < 60; i++) statuses.add((await through('plain.example.com')).status)
    expect([...statuses]).toEqual([200])
    await closing.close()
    await restore()
  })

  test('no POST is ever sent twice', async () => {
    let received = 0
    const dying = await startUpstream({
      answer: (request) => {
        received++
        request.socket.destroy()
      },
    })
    await lab.apply([makeLabRoute(2, dying.port, { domain: 'plain.example.com' })])
    const post = await through('plain.example.com', '/', { method: 'POST', body: 'x' })
    expect([post.status, received]).toEqual([502, 1])
    const get = await through('plain.example.com')
    expect(get.status).toBe(502)
    expect(received).toBeGreaterThan(2)
    await dying.close()
    await restore()
  })
})

/** Brings back the route that a test had replaced. */
function restore() {
  return lab.apply([makeLabRoute(2, plain.port, { domain: 'plain.example.com' })])
}
