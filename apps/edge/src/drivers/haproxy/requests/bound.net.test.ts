import { Agent, request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'

let lab: HaproxyLab
let upstream: Upstream

/** Signs a connection in, as NTLM does: by a challenge and its answer on this connection, then for all requests on it. */
beforeAll(async () => {
  lab = await makeHaproxyLab()
  const known = new WeakMap<object, 'challenged' | 'in'>()
  upstream = await startUpstream({
    answer: ({ headers, socket, method }, response) => {
      const state = known.get(socket)
      if (state === 'in') return void response.end(`${method} as a friend`)
      const isSecond = headers.authorization === 'NTLM answer' && state === 'challenged'
      if (isSecond) known.set(socket, 'in')
      if (isSecond) return void response.end(`${method} as a friend`)
      const isFirst = headers.authorization === 'NTLM hello'
      if (isFirst) known.set(socket, 'challenged')
      response.writeHead(401, { 'www-authenticate': isFirst ? 'NTLM challenge' : ['Negotiate', 'NTLM'] })
      response.end('who are you?')
    },
  })
  await lab.apply([makeLabRoute(2, upstream.port)])
})

afterAll(async () => {
  await lab.close()
  await upstream.close()
})

function ask(agent: Agent, method: string, authorization?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: 's2.example.com', ...(authorization ? { authorization } : {}) }
    const sent = request({ port: lab.httpsPort, host: '127.0.0.1', agent, method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve(text))
    })
    sent.on('error', reject).end()
  })
}

const openVisitor = () => new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })

test('a sign-in of the connection holds for all methods, and for nobody else', async () => {
  const visitor = openVisitor()
  expect(await ask(visitor, 'GET')).toBe('who are you?')
  expect(await ask(visitor, 'GET', 'NTLM hello')).toBe('who are you?')
  expect(await ask(visitor, 'POST', 'NTLM answer')).toBe('POST as a friend')
  for (const method of ['GET', 'PUT', 'POST', 'OPTIONS', 'DELETE', 'GET'])
    expect(await ask(visitor, method)).toBe(`${method} as a friend`)
  const stranger = openVisitor()
  for (const method of ['GET', 'POST', 'GET']) expect(await ask(stranger, method)).toBe('who are you?')
  for (const agent of [visitor, stranger]) agent.destroy()
})
