import { once } from 'node:events'
import { connect } from 'node:http2'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { type Visit, visitPlain } from '../../../../test/visitor.ts'

const PATH = `/.well-known/postern/${'0f'.repeat(16)}`
const HOST = 'not-yet-here.example.com'

const lab = shared(() => makeHaproxyLab())
const server = shared(() => startUpstream({ path: lab.serverSocket }))
beforeAll(async () => {
  expect(await lab.apply([makeConsoleRoute()])).toEqual([])
})
beforeEach(() => {
  server.seen.length = 0
})

const ask = (visit: Partial<Visit> = {}) =>
  visitPlain({ port: lab.httpPort, host: HOST, path: PATH, ...visit })

test('over plain HTTP the server is asked to prove that a domain leads here', async () => {
  expect((await ask()).status).toBe(200)
  expect(server.seen.map(({ url }) => url)).toEqual([PATH])
})

test('and gets no other part of the request', async () => {
  const forged = {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'https',
    cookie: 'token=pts_x',
    authorization: 'Bearer pts_x',
    te: 'trailers',
  }
  expect((await ask({ headers: forged })).status).toBe(200)
  expect(server.seen.map(({ url }) => url)).toEqual([PATH])
  expect(server.seen[0]?.headers).toMatchObject({ host: 'localhost' })
  for (const name of Object.keys(forged)) expect(server.seen[0]?.headers).not.toHaveProperty(name)
})

test.each<[string, Partial<Visit>]>([
  ['another path', { path: `${PATH}/x` }],
  ['a query', { path: `${PATH}?token=pts_x` }],
  ['an upgrade', { headers: { upgrade: 'other', connection: 'upgrade' } }],
  ['a path before it', { path: `/x${PATH}` }],
  ['a longer nonce', { path: `${PATH}0` }],
  ['a step up', { path: '/.well-known/postern/../../api/nodes' }],
  ['an encoded step up', { path: `${PATH}/..%2f..%2fapi` }],
  ['upper case', { path: PATH.toUpperCase() }],
  ['a method that changes', { method: 'POST' }],
  ['a body', { headers: { 'content-length': '3' }, body: 'abc' }],
  ['a body of unknown length', { headers: { 'transfer-encoding': 'chunked' }, body: 'abc' }],
])('%s is redirected as usual', async (_, changes) => {
  expect((await ask(changes)).status).toBe(308)
  expect(server.seen).toEqual([])
})

test('HTTP/2 is not spoken', async () => {
  const client = connect(`http://127.0.0.1:${lab.httpPort}`)
  client.on('error', () => undefined)
  const stream = client.request({ ':path': PATH, ':authority': HOST })
  await expect(once(stream, 'response')).rejects.toThrow()
  client.destroy()
  expect(server.seen).toEqual([])
})

test('what follows on the connection is not answered', async () => {
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
  const answers = await sendRaw(lab.httpPort, head(PATH) + head('/api/nodes') + head(PATH), {
    isPlain: true,
  })
  expect(statusesIn(answers)).toEqual([200])
  expect(server.seen.map(({ url }) => url)).toEqual([PATH])
})
