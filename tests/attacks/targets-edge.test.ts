import type { Route } from '@postern/contract/edge/desired-state'
import { parseCidr } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import { findRoute, inSections } from '@postern/render/resolved-route'
import { startNameServer } from '@postern/testkit/fakes/name-server'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLookups, createNames, type Names } from '../../apps/edge/src/names.ts'
import { type Around, createTargetFinder } from '../../apps/edge/src/targets.ts'
import { makePeer, makeRoute, makeSettings } from '../../apps/edge/test/factories.ts'
import { ANSWERS, TARGETS, type TargetNode } from './tables/targets.ts'

let names: Names
const dns = shared(startNameServer)
beforeAll(async () => {
  const { system, at } = createLookups()
  names = createNames({
    lookups: { system, at: (_, name, families) => at(dns.address, name, families) },
    now: () => performance.now(),
    onChange: () => undefined,
  })
})
afterAll(() => {
  names.close()
})

const ip = (text: string) => findIp(text) ?? { family: 4 as const, value: 0n }
const SUBNETS = ['192.168.7.0/24']
const around: Around = {
  settings: makeSettings(),
  peers: [makePeer(2, { subnets: SUBNETS }), makePeer(3, { subnets: ['192.168.8.0/24'] })],
  machine: {
    ownNetworks: [
      { address: ip('172.16.5.1'), network: parseCidr('172.16.5.0/24') },
      { address: ip('203.0.113.1'), network: parseCidr('203.0.113.0/24') },
    ],
    ownPorts: [80, 443, 3000],
  },
}

const NODES: Record<TargetNode, Route['node']> = {
  plain: { kind: 'plain', id: 2, address4: '10.64.0.3' },
  gateway: { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets: SUBNETS },
  local: { kind: 'local' },
}

function findAddress(route: Route): string | null | undefined {
  const { sections } = createTargetFinder<Route>(names).resolve(inSections([route]), around)
  return findRoute(sections, route.id)?.address
}

async function dialled(node: TargetNode, host: string | null): Promise<string | null | undefined> {
  const route = makeRoute(1, { node: NODES[node], backend: { proto: 'http', host, port: 3000 } })
  findAddress(route)
  await names.settled(5000)
  return findAddress(route)
}

test('a valid target is dialled', async () => {
  dns.answers.set('nas.lan', ['192.168.7.20'])
  expect(await dialled('plain', null)).toBe('10.64.0.3')
  expect(await dialled('gateway', 'nas.lan')).toBe('192.168.7.20')
  expect(await dialled('local', '192.0.2.9')).toBe('192.0.2.9')
})

/** The server already refuses them, but the edge does not rely on that. */
describe.each(['plain', 'gateway', 'local'] as const)('a service of a %s node', (node) => {
  test.each(TARGETS)('is not dialled at %s', async (_, host) => {
    expect(await dialled(node, host)).toBeNull()
  })
})

describe('a name that leads to', () => {
  test.each(ANSWERS)('%s is not dialled', async (name, address) => {
    const host = `${name.replace(/\W/g, '-')}.lan`
    dns.answers.set(host, ['192.168.7.20', address])
    expect(await dialled('gateway', host)).toBeNull()
  })
})
