import type { Route } from '@postern/contract/edge/desired-state'
import { closedPortsOf } from '@postern/contract/settings/settings'
import { parseCidr } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import { findRoute, inSections } from '@postern/render/resolved-route'
import { type NameServer, startNameServer } from '@postern/testkit/fakes/name-server'
import { type Client, startTestServer, TEST_NETWORK, type TestServer } from '@postern/testkit/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLookups, createNames, type Names } from '../../apps/edge/src/names.ts'
import { type Around, createTargetFinder } from '../../apps/edge/src/targets.ts'
import { makePeer, makeRoute, makeSettings } from '../../apps/edge/test/factories.ts'
import { GATEWAY_SUBNETS, MACHINE, OTHER_SUBNETS, VERDICTS } from './tables/targets.ts'

let server: TestServer
let client: Client
let gatewayId: number
let dns: NameServer
let names: Names
let around: Around

beforeAll(async () => {
  let machine = TEST_NETWORK
  server = await startTestServer({ world: { network: () => machine } })
  client = await server.signIn()
  gatewayId = await createGateway('gateway', GATEWAY_SUBNETS)
  await createGateway('another', OTHER_SUBNETS)
  machine = { ...TEST_NETWORK, ...MACHINE }
  const { network4, network6 } = server.context.tunnel
  around = {
    settings: {
      ...makeSettings(),
      publicHost: '203.0.113.1',
      tunnelNetwork4: network4,
      tunnelNetwork6: network6,
      signInKeys: [],
      identityKeys: [],
    },
    peers: [
      makePeer(gatewayId, { subnets: [...GATEWAY_SUBNETS] }),
      makePeer(9, { subnets: [...OTHER_SUBNETS] }),
    ],
    machine: {
      ownNetworks: MACHINE.networks.map((text, index) => ({
        address: findIp(MACHINE.addresses[index] ?? '') ?? parseCidr(text).base,
        network: parseCidr(text),
      })),
      ownPorts: closedPortsOf(server.context.config.settings),
    },
  }
  dns = await startNameServer()
  dns.answers.set('localhost', ['127.0.0.1'])
  const { system, at } = createLookups()
  names = createNames({
    lookups: { system, at: (_, name, families) => at(dns.address, name, families) },
    now: () => performance.now(),
    onChange: () => undefined,
  })
})
afterAll(async () => {
  names.close()
  dns.close()
  await server.close()
})

async function createGateway(name: string, subnets: readonly string[]): Promise<number> {
  const gatewayNetworks = subnets.map((subnet) => ({ interface: 'eth0', subnet }))
  return (await client.post('/api/nodes', { name, isGateway: true, gatewayNetworks })).json().id
}

type Kind = 'gateway' | 'local'

async function isTaken(kind: Kind, backendHost: string, backendPort: number): Promise<boolean> {
  const url = `/api/services/${kind === 'local' ? 1 : gatewayId}/http`
  const answer = await client.post(url, { name: 'x', pathLocation: '/x', backendHost, backendPort })
  if (answer.statusCode === 201) await client.delete(`${url}/${answer.json().id}`)
  else expect(answer.json().errors).toMatchObject([{ field: 'backendHost' }])
  return answer.statusCode === 201
}

function findAddress(route: Route): string | null | undefined {
  const { sections } = createTargetFinder<Route>(names).resolve(inSections([route]), around)
  return findRoute(sections, route.id)?.address
}

async function isDialled(kind: Kind, host: string, port: number): Promise<boolean> {
  const gateway = { kind: 'gateway', id: gatewayId, address4: '10.64.0.2', subnets: [...GATEWAY_SUBNETS] }
  const node = kind === 'local' ? { kind } : ({ ...gateway, kind } as const)
  const route = makeRoute(1, { node, backend: { proto: 'http', host, port } })
  findAddress(route)
  await names.settled(5000)
  return findAddress(route) !== null
}

test.each(VERDICTS)('server and edge agree on %s port %i', async (text, port, on) => {
  const host = text.replace('%6', server.context.tunnel.address6('10.64.0.5'))
  for (const kind of ['gateway', 'local'] as const) {
    const taken = await isTaken(kind, host, port)
    expect({ kind, taken, dialled: await isDialled(kind, host, port) }).toEqual({
      kind,
      taken: on.includes(kind),
      dialled: on.includes(kind),
    })
  }
})
