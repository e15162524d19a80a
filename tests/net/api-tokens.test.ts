import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { CreatedApiToken } from '@postern/contract/api-tokens'
import type { Accepted as AcceptedSchema, InvitedPerson } from '@postern/contract/people/people'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { z } from 'zod/mini'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../apps/edge/test/haproxy-lab.ts'
import { startUpstream } from '../../apps/edge/test/upstream.ts'
import { visit } from '../../apps/edge/test/visitor.ts'
import { startSite } from '../e2e/harness.ts'

type Accepted = z.infer<typeof AcceptedSchema>

const CONSOLE = 'console.localhost'
const APP = 'app.localhost'

let lab: HaproxyLab
let token: string

const site = shared(startSite)
const service = shared(() => startUpstream())
beforeAll(async () => {
  const { serverSocket, lanesDir, runDir } = site.paths
  lab = await makeHaproxyLab({ serverSocket, lanes: lanesDir, root: dirname(lanesDir) })
  // The test's directories belong to its own user.
  await chmod(dirname(runDir), 0o711)
  await chmod(runDir, 0o711)
  await chmod(serverSocket, 0o666)
  await lab.apply([
    makeConsoleRoute({ domain: CONSOLE }),
    makeLabRoute(2, service.port, { domain: CONSOLE, path: '/tool' }),
    makeLabRoute(3, service.port, { domain: null, path: '/tool' }),
    makeLabRoute(4, service.port, { domain: APP }),
  ])
  const form = { name: 'backup', role: 'viewer', password: site.password }
  const made = await site.api.call('POST', '/api/tokens', form)
  // The call above checks the answer against the contract.
  token = (made.json as CreatedApiToken).token
})
afterAll(async () => {
  await lab?.close()
})

const ask = (host: string, path: string, headers: Record<string, string> = {}) =>
  visit({ port: lab.httpsPort, host, path, headers })
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

test('a token works at the public address, in the header alone', async () => {
  for (const host of [CONSOLE, '127.0.0.1']) {
    const answer = await ask(host, '/api/auth/me', bearer(token))
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { role: 'viewer', reach: null }])
    expect((await ask(host, `/api/auth/me?token=${token}`)).status).toBe(401)
    expect((await ask(host, '/api/auth/me', { cookie: `token=${token}` })).status).toBe(401)
    expect((await ask(host, `/api/nodes/stream?token=${token}`)).status).toBe(401)
  }
})

test("no service at the console's host gets a token, and one at its own domain gets its own", async () => {
  for (const host of [CONSOLE, '127.0.0.1'])
    for (const text of [token, 'pts_1', 'ptn_1']) {
      service.seen.length = 0
      expect((await ask(host, '/tool', bearer(text))).status).toBe(200)
      await ask(host, '/tool', { authorization: `bearer ${text}` })
      expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
    }
  service.seen.length = 0
  for (const [host, path, text] of [
    [CONSOLE, '/tool', 'theirs'],
    [APP, '/', 'theirs'],
  ] as const)
    await ask(host, path, bearer(text))
  expect(service.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer theirs', 'Bearer theirs'])
})

test('what a token may do is asked again when a body has come in, at the public address too', async () => {
  const form = { name: 'slow', role: 'editor', password: site.password }
  const made = (await site.api.call('POST', '/api/tokens', form)).json as CreatedApiToken
  const body = JSON.stringify({ name: 'late' })
  const socket = connect({
    port: lab.httpsPort,
    host: '127.0.0.1',
    servername: CONSOLE,
    rejectUnauthorized: false,
  })
  await once(socket, 'secureConnect')
  const head = [
    'POST /api/nodes HTTP/1.1',
    `Host: ${CONSOLE}`,
    `Authorization: Bearer ${made.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  // Until the server has looked at the head.
  await pause(500)
  expect((await site.api.call('DELETE', `/api/tokens/${made.id}`)).status).toBe(200)
  socket.write(body)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /)
  expect((await site.api.call('GET', '/api/nodes?search=late')).json).toEqual([])
})

const send = (method: string, path: string, bearerOf: string, body: object) =>
  visit({
    ...{ port: lab.httpsPort, host: CONSOLE, method, path, body: JSON.stringify(body) },
    headers: { ...bearer(bearerOf), 'content-type': 'application/json' },
  })

/** Another administrator, whose session has no name, as it does not begin at one. */
async function letIn(username: string): Promise<{ id: number; session: string }> {
  const invited = await site.api.call('POST', '/api/people', { username, role: 'admin', reach: null })
  // The call above checks the answer against the contract.
  const { id, token: link } = invited.json as InvitedPerson
  const form = { token: link, password: 'a long one for the test' }
  const accepted = (await site.api.call('POST', '/api/invites/accept', form)).json as Accepted
  return { id, session: accepted.login?.token ?? '' }
}

test('a right that is lost while the server asks somebody else is lost, at the public address too', async () => {
  const { id, session } = await letIn('mallory')
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const issuer = createServer(async (_, response) => {
    asked.resolve()
    await held.promise
    response.setHeader('content-type', 'application/json').end(JSON.stringify(discoveryOf(url)))
  })
  await once(issuer.listen(0, '127.0.0.1'), 'listening')
  // A TCP listener has this kind of address.
  const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
  try {
    const form = {
      name: 'Late',
      issuer: url,
      clientId: 'x',
      clientSecret: 'y',
      makesAccounts: false,
      rules: [],
    }
    const adding = send('POST', '/api/console-sign-in/providers', session, form)
    // Whatever it answers before that would show in the failure.
    expect(await Promise.race([asked.promise, adding])).toBeUndefined()
    expect((await site.api.call('PATCH', `/api/people/${id}/disable`)).status).toBe(200)
    held.resolve()
    expect((await adding).status).toBe(401)
    expect((await site.api.call('GET', '/api/console-sign-in')).text).not.toContain('Late')
  } finally {
    issuer.closeAllConnections()
    issuer.close()
  }
})

const discoveryOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
})

test('an administrator’s token reads nothing of people in the history, at the public address', async () => {
  await letIn('quentin')
  const form = { name: 'audit', role: 'admin', password: site.password }
  const made = (await site.api.call('POST', '/api/tokens', form)).json as CreatedApiToken
  expect((await site.api.call('GET', '/api/history')).text).toContain('quentin')
  const told = await ask(CONSOLE, '/api/history', bearer(made.token))
  expect(told.status).toBe(200)
  expect(told.text).not.toContain('quentin')
})
