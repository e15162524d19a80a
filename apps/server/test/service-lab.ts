import { startTestServer } from '@postern/testkit/server'

/** A server with a node of each kind. New domains point elsewhere. */
export async function startServiceLab(settings: Record<string, string> = {}) {
  const resolver = { resolve: async () => ['198.51.100.1'] }
  const server = await startTestServer({ settings, world: { resolver } })
  const client = await server.signIn()
  const { id: plain } = await client.createNode({ name: 'plain' })
  const office = await client.createNode(gateway('192.168.7.0/24', 'office'))
  return { server, client, plain, gateway: office.id, local: 1, close: () => server.close() }
}

/** The form of a gateway to one network. */
export const gateway = (subnet: string, name = 'gate') => ({
  name,
  isGateway: true,
  gatewayNetworks: [{ interface: 'eth0', subnet }],
})

let count = 0
export const uniqueDomain = () => `s${++count}.example.com`
/** The form of an HTTP service at a domain that no other has. */
export const make = (over: object = {}) => ({
  ...{ name: 'web', domain: uniqueDomain(), skipValidation: true },
  ...over,
})

interface Refused {
  json(): { errors?: { field: string; message: string }[] }
}

/** The errors of a form's fields in an answer. */
export const errorsOf = (answer: Refused) => answer.json().errors ?? []
export const fieldsOf = (answer: Refused) => errorsOf(answer).map(({ field }) => field)
