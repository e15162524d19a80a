import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { sendRaw } from '@postern/testkit/wire'
import { describe, expect, test } from 'vitest'
import { HOST, startProxyLab } from './lab/proxy-lab.ts'
import { FORGED } from './tables/forged-headers.ts'

const FORGERY = '203.0.113.66'

const lab = shared(startProxyLab)

const headOf = (id: string) => lab.reached(id).map(({ request }) => request.head)

/**
 * Sends one header twice over HTTP/1.1.
 * @returns the head that the service receives
 */
async function forge(name: string, value = FORGERY): Promise<string | undefined> {
  const id = lab.nextId()
  const lines = [`Host: ${HOST}`, `X-Attack: ${id}`, `${name}: ${value}`, `${name}: ${value}`]
  await sendRaw(lab.port, ['GET /f HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n'))
  return headOf(id)[0]
}

async function forgeHttp2(name: string): Promise<string | undefined> {
  const id = lab.nextId()
  await askHttp2(lab.port, [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', '/f'],
    ['x-attack', id],
    [name.toLowerCase(), FORGERY],
  ])
  return headOf(id)[0]
}

describe.concurrent('of what a visitor says', () => {
  test.each(FORGED)('%s never arrives', async (name) => {
    for (const head of [await forge(name), await forgeHttp2(name)]) {
      expect(head).not.toContain(FORGERY)
      for (const forged of ['x-forwarded-for: 127.0.0.1', 'x-real-ip: 127.0.0.1', 'x-forwarded-proto: https'])
        expect(head?.split(forged)).toHaveLength(2)
    }
  })
})

const TRAILERS = ['Remote-User', 'X-Forwarded-For', 'X-Postern-Identity', 'X-Custom']
test.each(TRAILERS)('%s in a trailer does not become a header', async (name) => {
  const [one, two] = [lab.nextId(), lab.nextId()]
  const head = ['POST /f HTTP/1.1', `Host: ${HOST}`, `X-Attack: ${one}`, 'Connection: close']
  const end = ['Transfer-Encoding: chunked', '', '3', 'abc', '0', `${name}: ${FORGERY}`, '', '']
  await sendRaw(lab.port, [...head, ...end].join('\r\n'))
  const fields = [
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', '/f'],
    ['x-attack', two],
  ] as const
  await askHttp2(lab.port, fields, { body: 'abc', trailers: [[name.toLowerCase(), FORGERY]] })
  for (const id of [one, two]) {
    const [request, ...others] = lab.reached(id).map((each) => each.request)
    expect(others).toEqual([])
    expect(request).toMatchObject({ body: 'abc', trailers: [`${name.toLowerCase()}: ${FORGERY}`] })
    expect(request?.head).not.toContain(FORGERY)
  }
})

test('headers that are not about the visitor arrive', async () => {
  for (const name of [
    'Via',
    'X-Request-ID',
    'X-Custom',
    'Authorization',
    'X-Auth-Token',
    'X-Auth-Key',
    'User-Agent',
  ])
    expect(await forge(name)).toContain(FORGERY)
})

test('a name in Connection drops none of our headers at the next proxy', async () => {
  for (const name of ['X-Forwarded-For', 'close, X-Real-IP', 'X-Forwarded-Proto', 'keep-alive, Cookie']) {
    const id = lab.nextId()
    const ask = (connection: string) =>
      `GET /f HTTP/1.1\r\nHost: ${HOST}\r\nX-Attack: ${id}\r\nConnection: ${connection}\r\n\r\n`
    // The second request ends the connection, which the first may leave open.
    await sendRaw(lab.port, ask(name) + ask('close'))
    expect(headOf(id)[0]).toMatch(/x-forwarded-for: 127\.0\.0\.1/)
    expect(headOf(id)[0]).not.toMatch(/^connection: (?!upgrade$)/im)
  }
})
