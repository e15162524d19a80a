import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = shared(startTestServer)

const withToken = (token: string) =>
  server.call({ method: 'GET', url: '/api/config', headers: { authorization: `Bearer ${token}` } })

test('a person reads the whole configuration', async () => {
  const { token } = await server.signIn()
  expect((await withToken(token)).json()).toMatchObject({
    VPN_HOST: '203.0.113.1',
    publicUrl: 'https://203.0.113.1',
    publicHostIsPrivate: false,
  })
})

test("a node's token reads only the host, the range of ports and the version", async () => {
  const client = await server.signIn()
  const { token } = (await client.post('/api/nodes', { name: 'office' })).json()
  const answer = await withToken(token)
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({
    VPN_HOST: '203.0.113.1',
    TCP_SERVICES_PORT_RANGE: '32660-32760',
    version: '0.1.0',
  })
})
