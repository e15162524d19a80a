import { startTestServer } from '@postern/testkit/server'

/** A server with a node of each kind. The names of new domains lead elsewhere. */
export async function startServiceLab(settings: Record<string, string> = {}) {
  const resolver = { resolve: async () => ['198.51.100.1'] }
  const server = await startTestServer({ settings, world: { resolver } })
  const client = await server.signIn()
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  const { id: plain } = await client.createNode({ name: 'plain' })
  const { id: gateway } = await client.createNode({ name: 'office', isGateway: true, gatewayNetworks })
  return { server, client, plain, gateway, local: 1, close: () => server.close() }
}

interface Refused {
  json(): { errors?: { field: string; message: string }[] }
}

/** What an answer says of a form's fields. */
export const errorsOf = (answer: Refused) => answer.json().errors ?? []
export const fieldsOf = (answer: Refused) => errorsOf(answer).map(({ field }) => field)
