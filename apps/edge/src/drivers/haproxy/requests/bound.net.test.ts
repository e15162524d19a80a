import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'

/** Four requests fill the room of signed-in connections. */
const SMALL = { maxConnections: 64 }

/** Who is signed in on each connection, or `?` after a challenge. */
const known = new WeakMap<object, string>()

const lab = shared(() => makeHaproxyLab(SMALL))
const upstream = shared(() => startUpstream({ answer }))
beforeAll(async () => {
  await lab.apply([makeLabRoute(2, upstream.port)])
})

/**
 * Signs a connection in: by a challenge and its answer on this connection, as NTLM does, or by one ticket, as Kerberos
 * does; then for all requests on it.
 */
function answer({ headers, socket, method, url }: IncomingMessage, response: ServerResponse): void {
  if (url === '/silent') return
  const state = known.get(socket)
  const [, scheme, words] = /^(\w+) (\w+)$/.exec(headers.authorization ?? '') ?? []
  const isAnswer = scheme === 'NTLM' && words === 'answer' && state === '?'
  const user = isAnswer ? 'a friend' : scheme === 'Negotiate' ? words : state
  if (user !== undefined && user !== '?') {
    known.set(socket, user)
    if (scheme === 'Negotiate') response.setHeader('www-authenticate', 'Negotiate oRQwEg')
    return void response.end(`${method} as ${user}`)
  }
  const isFirst = headers.authorization === 'NTLM hello'
  if (isFirst) known.set(socket, '?')
  response.writeHead(401, { 'www-authenticate': isFirst ? 'NTLM challenge' : ['Negotiate', 'NTLM'] })
  response.end('who are you?')
}

function ask(agent: Agent, method: string, authorization?: string, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: 's2.example.com', ...(authorization ? { authorization } : {}) }
    const to = { port: lab.httpsPort, host: '127.0.0.1', agent, method, path, headers }
    const sent = request(to, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      reply.on('end', () => resolve(text))
    })
    sent.on('error', reject).end()
  })
}

const openVisitor = (localAddress = '127.0.0.1') =>
  new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false, localAddress })

async function expectStranger(): Promise<void> {
  const stranger = openVisitor()
  for (const method of ['GET', 'POST', 'GET', 'GET', 'OPTIONS'])
    expect(await ask(stranger, method)).toBe('who are you?')
  stranger.destroy()
}

test('a sign-in of the connection holds for all methods, and for nobody else', async () => {
  const visitor = openVisitor()
  expect(await ask(visitor, 'GET')).toBe('who are you?')
  expect(await ask(visitor, 'GET', 'NTLM hello')).toBe('who are you?')
  expect(await ask(visitor, 'POST', 'NTLM answer')).toBe('POST as a friend')
  for (const method of ['GET', 'PUT', 'POST', 'OPTIONS', 'DELETE', 'GET'])
    expect(await ask(visitor, method)).toBe(`${method} as a friend`)
  await expectStranger()
  visitor.destroy()
})

test('so does one that a client begins without a challenge', async () => {
  const visitor = openVisitor()
  expect(await ask(visitor, 'GET', 'NTLM hello')).toBe('who are you?')
  expect(await ask(visitor, 'GET', 'NTLM answer')).toBe('GET as a friend')
  await expectStranger()
  visitor.destroy()
})

test.each([
  ['after a question', true],
  ['unasked', false],
])('a ticket of Kerberos that is shown %s is nobody else’s sign-in', async (_, isAsked) => {
  const visitor = openVisitor()
  if (isAsked) expect(await ask(visitor, 'GET')).toBe('who are you?')
  expect(await ask(visitor, 'GET', 'Negotiate ann')).toBe('GET as ann')
  await expectStranger()
  for (const method of ['GET', 'POST', 'GET']) expect(await ask(visitor, method)).toBe(`${method} as ann`)
  visitor.destroy()
  await expectStranger()
})

test('no source takes the whole room of such connections', async () => {
  const before = upstream.seen.length
  const crowd = Array.from({ length: 8 }, () => openVisitor())
  const asked = crowd.map((each) => ask(each, 'GET', 'Negotiate eve', '/silent').catch(() => 'ended'))
  await until('some to wait and the others to be told', async () => {
    const isTold = (await Promise.race([...asked, 'nothing yet'])) !== 'nothing yet'
    return isTold && upstream.seen.length > before
  })
  const visitor = openVisitor('127.0.0.2')
  expect(await ask(visitor, 'GET', 'Negotiate ann')).toBe('GET as ann')
  for (const each of [visitor, ...crowd]) each.destroy()
  await Promise.all(asked)
})
