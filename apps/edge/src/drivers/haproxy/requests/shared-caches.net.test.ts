import { createHmac } from 'node:crypto'
import { parseBypass } from '@postern/net/bypass'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

const KEY = { id: 'a', secret: 'a'.repeat(43) }
const HOST = 'a.example.com'
const LASTING = {
  'cache-control': 'public, max-age=600',
  'cdn-cache-control': 'max-age=600',
  'cloudflare-cdn-cache-control': 'max-age=600',
  'surrogate-control': 'max-age=600',
}

const lab = shared(() => makeHaproxyLab())
let upstream: Upstream
let said: Record<string, string> = {}

beforeAll(async () => {
  upstream = await startUpstream({ answer: (_request, response) => response.writeHead(200, said).end('x') })
  lab.signInKeys = [KEY]
  lab.signIns = [{ id: 1, domain: HOST, members: [7] }]
  const guarded = { domain: HOST, signIn: parseBypass('/open').bypass }
  const problems = await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, upstream.port, guarded),
    makeLabRoute(3, upstream.port, { domain: HOST, path: '/free' }),
  ])
  expect(problems).toEqual([])
})
afterAll(() => upstream.close())

function session(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 12 * 3600
  const text = `${part({ alg: 'HS256', kid: KEY.id })}.${part({ member: '7', email: 'ann@example.com', exp })}`
  return `${text}.${createHmac('sha256', KEY.secret).update(text).digest('base64url')}`
}

const ask = (path: string, cookie = `__Host-postern=${session()}`) =>
  visit({ port: lab.httpsPort, host: HOST, path, headers: { cookie } })

test.each([
  ['nothing', {}, 'private'],
  ['that all may keep it', LASTING, 'public, max-age=600, private'],
  ['that nobody may', { 'cache-control': 'no-store' }, 'no-store, private'],
])(
  'no cache on the way keeps what a signed-in visitor gets, although its service says %s',
  async (_, says, then) => {
    said = says
    for (const path of ['/report.pdf', '/open']) {
      const { status, headers } = await ask(path)
      expect(status).toBe(200)
      expect(headers['cache-control']).toBe(then)
      for (const name of Object.keys(LASTING).slice(1)) expect(headers).not.toHaveProperty(name)
    }
  },
)

test('what everybody gets stays as its service says', async () => {
  said = LASTING
  expect((await ask('/open', 'a=b')).headers).toMatchObject(LASTING)
  expect((await ask('/free/x')).headers).toMatchObject(LASTING)
})
