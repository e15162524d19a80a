import { request } from 'node:http'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, test } from 'vitest'

const server = shared(startTestServer)
const proxied = shared(() => startTestServer({ trustForwarded: true }))
beforeAll(() => server.listen())

/** As from a browser whose name server answered 127.0.0.1. */
function ask(host: string, path = '/api/health', method = 'GET'): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      host,
      origin: `http://${host}`,
      'content-type': 'application/json',
      accept: 'text/html',
    }
    const sent = request(new URL(path, server.origin), { method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end(method === 'POST' ? JSON.stringify(TEST_ADMIN) : undefined)
  })
}

test.each(['127.0.0.1', '127.0.0.1:3000', 'localhost:8443', 'LOCALHOST', '[::1]:3000'])(
  'the console on loopback answers as %s',
  async (host) => expect((await ask(host)).status).toBe(200),
)

test.each([
  'evil.example',
  'evil.example:3000',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '127.0.0.2',
  '0.0.0.0:3000',
])('and not as “%s”, whatever the request', async (host) => {
  for (const path of ['/api/health', '/', '/nodes', '/docs', '/assets/theme.js', '/api/nodes/stream']) {
    const { status, text } = await ask(host, path)
    expect(status, path).toBe(403)
    expect(text, path).toContain('127.0.0.1 and localhost only')
  }
  const login = await ask(host, '/api/auth/login', 'POST')
  expect(login.status).toBe(403)
  expect(login.text).not.toContain('token')
})

test('behind HAProxy every host is one that HAProxy has checked', async () => {
  const call = { method: 'GET', url: '/api/health', headers: { host: 'console.example.com' } } as const
  expect((await proxied.call(call)).statusCode).toBe(200)
})
