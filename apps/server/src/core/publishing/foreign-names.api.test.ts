import { publishAs } from '@postern/testkit/agent-calls'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = shared(() => startTestServer())
const SECRET = 'Payroll of Ann'

test('an agent is told that a port is taken, and not by which service of another node', async () => {
  const client = await server.signIn()
  const other = await client.createNode({ name: 'b' })
  const node = await client.createNode({ name: 'c', agentMayPublish: true })
  const ports = { tcp: 32664, udp: 32671 }
  for (const [proto, port] of Object.entries(ports)) {
    const form = { name: `${SECRET} by ${proto}`, proto, port, backendPort: 5432 }
    expect((await client.post(`/api/services/${other.id}/tcp`, form)).statusCode).toBe(201)
  }
  const answer = await publishAs(server, node.token, [
    { key: 'tcp', type: 'tcp', name: 'x', port: ports.tcp, backendPort: 9 },
    { key: 'udp', type: 'udp', name: 'x', port: ports.udp, backendPort: 9 },
  ])
  const messages = answer.flatMap((each) =>
    each.state === 'refused' ? each.errors.map(({ message }) => message) : [],
  )
  expect(messages).toEqual([
    'tcp port 32664 already belongs to a service of another node',
    'udp port 32671 already belongs to a service of another node',
  ])
})
