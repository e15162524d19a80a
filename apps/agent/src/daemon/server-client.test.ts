import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { type FakeAgentServer, type FakeNode, serveAgents } from '@postern/testkit/fakes/fake-agent-server'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, expect, test } from 'vitest'
import type { Offer } from '../discovery/offer.ts'
import { config } from '../wanted.fixture.ts'
import { createServerClient, type ServerClient } from './server-client.ts'

const GRAFANA: Offer = { key: 'g/http', type: 'http', name: 'g', domain: 'g.example', backendPort: 80 }

let fake: FakeAgentServer
let node: FakeNode
let client: ServerClient

const http = fresh(createServer)
beforeEach(async () => {
  fake = serveAgents(http)
  node = { token: 'ptn_x', config, isRevoked: false, mayPublish: true }
  fake.node = node
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  // A TCP listener has this kind of address.
  const { port } = http.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}`)
  client = createServerClient({ url, token: 'ptn_x', trust: createSecureContext() })
})

test('the set of a source is sent as a whole, and the outcome of each service comes back in words', async () => {
  const answer = await client.publish('docker', [GRAFANA, { ...GRAFANA, key: 'r', name: 'refused' }])
  expect(fake.published.get('docker')).toHaveLength(2)
  expect(answer).toEqual([
    { key: 'g/http', state: 'published', address: 'https://g.example/', problem: null },
    { key: 'r', state: 'refused', address: null, problem: 'domain is taken' },
  ])
  await client.publish('docker', [])
  expect(fake.published.get('docker')).toEqual([])
})

test('without the right it says what to do in the console, and does not blame the token', async () => {
  node.mayPublish = false
  await expect(client.publish('docker', [GRAFANA])).rejects.toMatchObject({
    code: 'server-answer',
    message: expect.stringContaining('turn on Agent May Publish Services'),
  })
})

test('a revoked token is named as such', async () => {
  node.isRevoked = true
  await expect(client.publish('docker', [])).rejects.toThrow("This machine's token was revoked")
})

test('a server without this call is too old', async () => {
  http.removeAllListeners('request')
  http.on('request', (_, response) =>
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"x","code":"not_found"}'),
  )
  await expect(client.publish('docker', [])).rejects.toThrow('too old for that. Update the server')
  await expect(client.getConfig()).rejects.toThrow('The server rejected the token')
})

test('a configuration without the open ports is refused, because every port would be open', async () => {
  const { targets, ...silent } = node.config
  expect(targets).toBeDefined()
  http.removeAllListeners('request')
  http.on('request', (_, response) => response.end(JSON.stringify({ ...silent, publicKey: null })))
  await expect(client.getConfig()).rejects.toThrow('does not answer like a Postern server')
})

test('a long or strange answer is refused', async () => {
  http.removeAllListeners('request')
  http.on('request', (_, response) =>
    response.end(JSON.stringify({ services: [{ key: 'a', state: 'perhaps' }] })),
  )
  await expect(client.publish('docker', [])).rejects.toThrow('does not answer like a Postern server')
})
