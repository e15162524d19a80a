import { shared } from '@postern/testkit/shared'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute, PUBLIC_HOST } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit, visitPlain } from '../../../../test/visitor.ts'

let root: Upstream
let tool: Upstream
let server: Upstream

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  ;[root, tool] = await Promise.all([startUpstream(), startUpstream()])
  server = await startUpstream({ path: lab.serverSocket })
  const problems = await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, root.port, { domain: 'a.example.com' }),
    makeLabRoute(4, tool.port, { domain: null, path: '/tool' }),
  ])
  expect(problems).toEqual([])
})

afterAll(async () => {
  for (const each of [root, tool, server]) await each.close()
})

/** Sends a request over TLS as bytes. @returns the status, and who answered it with which address. */
async function raw(target: string, host: string) {
  for (const each of [root, tool, server]) each.seen.length = 0
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', '']
  const answer = await sendRaw(lab.httpsPort, lines.join('\r\n'))
  const by = Object.entries({ root, tool, server }).find(([, each]) => each.seen.length > 0)
  return [Number(answer.split(' ')[1]), by?.[0], by?.[1].seen[0]?.url]
}

describe('the host', () => {
  test('is read of each request of a connection', async () => {
    for (const each of [root, tool]) each.seen.length = 0
    const asked: [host: string, path: string, status: number][] = [
      ['a.example.com', '/tool/1', 200],
      ['a.example.com', '/tool/2', 200],
      ['127.0.0.1', '/tool/3', 200],
      ['A.example.com', '/tool/4', 200],
      ['b.example.com', '/tool/5', 404],
      ['127.0.0.1', '/tool/6', 200],
      ['a_b.example.com', '/tool/7', 400],
      ['a.example.com', '/tool/8', 200],
    ]
    const heads = asked.map(([host, path], i) => {
      const last = i === asked.length - 1 ? ['Connection: close'] : []
      return [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...last, '', ''].join('\r\n')
    })
    const answers = (await sendRaw(lab.httpsPort, heads.join(''))).matchAll(/HTTP\/1\.1 (\d+) /g)
    expect([...answers].map(([, status]) => Number(status))).toEqual(asked.map(([, , status]) => status))
    expect(root.seen.map(({ url }) => url)).toEqual(['/tool/1', '/tool/2', '/tool/4', '/tool/8'])
    expect(tool.seen.map(({ url }) => url)).toEqual(['/tool/3', '/tool/6'])
  })

  test.each([
    ['a.example.com', 200],
    ['A.Example.COM', 200],
    ['a.example.com.', 200],
    ['a.example.com:8443', 200],
    ['b.example.com', 404],
    ['a.test/x', 400],
    ['a.example.com/x', 400],
    ['a.example.com?', 400],
    ['a.example.com:99999999', 400],
    [`${'a.'.repeat(120)}example.com`, 404],
    [`${'a.'.repeat(124)}example.com`, 404],
    [`${'a.'.repeat(125)}example.com`, 400],
    ['a.example.com:80:90', 400],
    ['a.example.com, b.example.com', 400],
    ['a_b.example.com', 400],
    ['..', 400],
    ['a..example.com', 400],
    ['*', 400],
    ['', 400],
    ['[::1', 400],
    ['user@a.example.com', 400],
  ])('%j is answered with %i', async (host, status) => {
    expect((await raw('/foo', host))[0]).toBe(status)
  })

  test('is needed once', async () => {
    const none = await sendRaw(lab.httpsPort, 'GET / HTTP/1.0\r\n\r\n')
    expect(none).toMatch(/^HTTP\/1\.[01] 400 /)
    const two = 'GET / HTTP/1.1\r\nHost: a.example.com\r\nHost: b.example.com\r\n\r\n'
    expect(await sendRaw(lab.httpsPort, two)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.each(['127.0.0.1', '[::1]', '198.51.100.7:8443', PUBLIC_HOST, PUBLIC_HOST.toUpperCase()])(
    '%s is the installation itself',
    async (host) => {
      expect(await raw('/nodes', host)).toEqual([200, 'server', '/nodes'])
      expect(await raw('/tool/a', host)).toEqual([200, 'tool', '/tool/a'])
    },
  )

  test('a service of the installation itself has no other host', async () => {
    expect(await raw('/tool', 'a.example.com')).toEqual([200, 'root', '/tool'])
  })
})

describe('plain http', () => {
  test.each([
    ['a.example.com', '/q?x=1', 'https://a.example.com:PORT/q?x=1'],
    ['A.example.com.:80', '/x%2F../y?', 'https://a.example.com:PORT/x%2F../y?'],
    ['127.0.0.1', '/', 'https://127.0.0.1:PORT/'],
    ['[::1]:80', '/', 'https://[::1]:PORT/'],
    ['nowhere.example.com', '/', 'https://nowhere.example.com:PORT/'],
  ])('%s%s moves to %s', async (host, path, target) => {
    const answer = await visitPlain({ port: lab.httpPort, host, path })
    expect(answer.status).toBe(308)
    expect(answer.headers.location).toBe(target.replace('PORT', String(lab.httpsPort)))
  })

  test('a host that cannot be one is refused', async () => {
    const answer = await sendRaw(lab.httpPort, 'GET / HTTP/1.1\r\nHost: a.test/x\r\n\r\n', { isPlain: true })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).not.toContain('location')
  })
})

test('IPv6 visitors are answered like others', async () => {
  const answer = await visit({ port: lab.httpsPort, host: 'a.example.com', address: '::1' })
  expect(answer.status).toBe(200)
  expect(root.seen.at(-1)?.headers['x-forwarded-for']).toBe('::1')
})
