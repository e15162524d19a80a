import type { Peer, Route } from '@postern/contract/edge/desired-state'
import { rowsOf } from '@postern/contract/sections'
import { parseCidr } from '@postern/net/cidr'
import { findIp, type Ip } from '@postern/net/ip'
import { inSections } from '@postern/render/resolved-route'
import { startNameServer } from '@postern/testkit/fakes/name-server'
import { fresh } from '@postern/testkit/shared'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makePeer, makeRoute, makeSettings } from '../test/factories.ts'
import { createLookups, createNames, type Names } from './names.ts'
import { createTargetFinder, type TargetFinder } from './targets.ts'

let names: Names
let targets: TargetFinder<Route>
let now = 0
let changes = 0
let system: (name: string) => Promise<string[]>

const dns = fresh(startNameServer)
beforeEach(async () => {
  now = 0
  changes = 0
  system = async () => ['203.0.113.80']
  const { at } = createLookups()
  names = createNames({
    lookups: { system: (name) => system(name), at: (_, name, families) => at(dns.address, name, families) },
    now: () => now,
    onChange: () => changes++,
  })
  targets = createTargetFinder(names)
})
afterEach(() => {
  names.close()
})

const ip = (text: string): Ip => findIp(text) ?? { family: 4, value: 0n }
const lan = { address: ip('172.16.5.1'), network: parseCidr('172.16.5.0/24') }
const around = {
  settings: makeSettings(),
  peers: [makePeer(2, { subnets: ['192.168.7.0/24'] })],
  machine: { ownNetworks: [lan], ownPorts: [80, 443, 3000] },
}

const gateway = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets: ['192.168.7.0/24'] } as const
const behind = (host: string | null, subnets: string[] = [...gateway.subnets]): Route =>
  makeRoute(1, { node: { ...gateway, subnets }, backend: { proto: 'http', host, port: 80 } })
const local = (host: string | null, port = 8080): Route =>
  makeRoute(1, { node: { kind: 'local' }, backend: { proto: 'http', host, port } })

function resolveTargets(routes: readonly Route[]) {
  const { sections, problems } = targets.resolve(inSections(routes), around)
  return { routes: rowsOf(sections), problems }
}

/** The address of the route once its name is looked up, or why there is none. */
async function resolve(route: Route): Promise<string | undefined> {
  resolveTargets([route])
  await names.settled(5000)
  const { routes, problems } = resolveTargets([route])
  return routes[0]?.address ?? problems[0]?.message
}

async function refresh(route: Route, after: number): Promise<string | undefined> {
  now += after
  names.refresh(targets.queries())
  await names.settled(5000)
  return resolve(route)
}

describe('typed addresses', () => {
  test.each<[string, Route, string]>([
    ['a plain node serves itself', makeRoute(1), '10.64.0.2'],
    [
      'and nothing else',
      makeRoute(1, { backend: { proto: 'http', host: '10.64.0.9', port: 80 } }),
      'This node can only expose its own services',
    ],
    [
      'only inside the tunnel',
      makeRoute(1, { node: { kind: 'plain', id: 2, address4: '203.0.113.9' } }),
      '203.0.113.9 is not in the tunnel',
    ],
    [
      "and never the edge's own address",
      makeRoute(1, { node: { kind: 'plain', id: 2, address4: '10.64.0.1' } }),
      '10.64.0.1 is not an address of a node',
    ],
    ['a gateway serves itself', behind(null), '10.64.0.3'],
    ['and its networks', behind('192.168.7.20'), '192.168.7.20'],
    ['and no other address', behind('192.168.8.20'), '192.168.8.20 is not in the networks'],
    [
      'nor another node, whatever its networks say',
      behind('10.64.0.2', ['10.64.0.0/24']),
      '10.64.0.2 is inside the tunnel',
    ],
    ['nor loopback', behind('127.0.0.1', ['0.0.0.0/0']), '127.0.0.1 is a loopback'],
    ['nor metadata of a cloud', behind('169.254.169.254', ['0.0.0.0/0']), '169.254.169.254 is a loopback'],
    ['nor mapped loopback', behind('::ffff:127.0.0.1', ['::/0']), 'is a loopback'],
    [
      'nor a network of this machine',
      behind('172.16.5.9', ['172.16.0.0/12']),
      '172.16.5.9 is in a network of this server',
    ],
    [
      'nor what the gateway does not have in the tunnel',
      behind('10.9.0.7', ['10.9.0.0/24']),
      "10.9.0.7 isn't in any of this gateway's subnets",
    ],
    [
      'nor the internet, which leads out of this machine',
      behind('203.0.113.7', ['203.0.113.0/24']),
      '203.0.113.7 is not in a private network',
    ],
    ['the local node is this machine', local(null), '127.0.0.1'],
    ['on loopback', local('127.0.0.1', 9100), '127.0.0.1'],
    ['or beside it', local('172.16.5.7', 80), '172.16.5.7'],
    ['but not the console', local('127.0.0.1', 3000), 'is used by Postern itself on this port'],
    [
      'nor HAProxy on another spelling of loopback',
      local('127.9.9.9', 443),
      'is used by Postern itself on this port',
    ],
    ['nor on the own address', local('172.16.5.1', 80), 'is used by Postern itself on this port'],
    ['nor on any address', local('0.0.0.0', 443), 'is used by Postern itself on this port'],
    ['nor on the IPv6 loopback', local('::1', 3000), 'is used by Postern itself on this port'],
    ['nor metadata of a cloud', local('169.254.169.254', 80), 'link-local'],
    ['nor through the tunnel to a node', local('10.64.0.2', 80), '10.64.0.2 is inside the tunnel'],
    ['nor to a network behind a gateway', local('192.168.7.20', 80), '192.168.7.20 is behind a gateway'],
  ])('%s', async (_, route, expected) => {
    expect(await resolve(route)).toMatch(expected)
  })

  test('services of a gateway that is not in the tunnel have no address, and no problem of their own', () => {
    const absent = (peers: Peer[]) =>
      targets.resolve(inSections([behind('192.168.7.20')]), { ...around, peers })
    expect(rowsOf(absent([]).sections)[0]?.address).toBe(null)
    expect(absent([]).problems).toEqual([])
    expect(absent([makePeer(2)]).problems).toMatchObject([{ message: expect.stringMatching('subnets') }])
  })

  test('the console and disabled services have no address and no problem', () => {
    const routes = [makeRoute(1, { system: true }), { ...local('127.0.0.1', 3000), enabled: false }]
    expect(resolveTargets(routes)).toEqual({
      routes: routes.map((route) => ({ ...route, address: null })),
      problems: [],
    })
  })
})

describe('names', () => {
  const route = behind('nas.lan')

  test('of a gateway are looked up at its own name server', async () => {
    dns.answers.set('nas.lan', ['192.168.7.20'])
    expect(await resolve(route)).toBe('192.168.7.20')
    expect(dns.asked).toEqual(['nas.lan'])
  })

  test.each([['127.0.0.1'], ['169.254.169.254'], ['10.64.0.2'], ['172.16.5.1'], ['203.0.113.1']])(
    'an answer of %s from a hostile one is refused, even beside a good one',
    async (evil) => {
      dns.answers.set('nas.lan', [evil])
      expect(await resolve(route)).toMatch(`nas.lan resolves to an address that isn't allowed: ${evil}`)
      dns.answers.set('nas.lan', ['192.168.7.20', evil])
      expect(await refresh(route, 31_000)).toMatch(
        `nas.lan resolves to an address that isn't allowed: ${evil}`,
      )
    },
  )

  test('a name that turns hostile later loses its address', async () => {
    dns.answers.set('nas.lan', ['192.168.7.20'])
    expect(await resolve(route)).toBe('192.168.7.20')
    dns.answers.set('nas.lan', ['127.0.0.1'])
    expect(await refresh(route, 31_000)).toMatch("resolves to an address that isn't allowed")
    expect(changes).toBe(2)
  })

  test('are looked up again after half a minute and follow, without a hint', async () => {
    dns.answers.set('nas.lan', ['192.168.7.20'])
    await resolve(route)
    dns.answers.set('nas.lan', ['192.168.7.21'])
    expect(await refresh(route, 29_000)).toBe('192.168.7.20')
    expect(await refresh(route, 2000)).toBe('192.168.7.21')
    dns.answers.set('nas.lan', ['192.168.7.30', '192.168.7.21'])
    expect(await refresh(route, 31_000)).toBe('192.168.7.21')
  })

  test('a name that no longer exists is reported, and found again soon', async () => {
    expect(await resolve(route)).toBe('The name server of the gateway knows no host nas.lan.')
    dns.answers.set('nas.lan', ['192.168.7.20'])
    expect(await refresh(route, 6000)).toBe('192.168.7.20')
  })

  test('while the name server is silent the last answer is used, but not forever', async () => {
    dns.answers.set('nas.lan', ['192.168.7.20'])
    await resolve(route)
    dns.answers.set('nas.lan', 'silent')
    expect(await refresh(route, 60_000)).toBe('192.168.7.20')
    expect(await refresh(route, 70_000)).toBe('The name server of the gateway gave no answer for nas.lan.')
  })

  test('one that is not looked up yet does not delay the others', () => {
    dns.answers.set('nas.lan', 'silent')
    const { routes, problems } = resolveTargets([route, makeRoute(2)])
    expect(routes.map(({ address }) => address)).toEqual([null, '10.64.0.2'])
    expect(problems).toEqual([{ scope: { kind: 'service', id: 1 }, message: 'Looking up nas.lan.' }])
  })

  test('of the local node may not lead to our own sockets either', async () => {
    system = async () => ['127.0.0.1']
    expect(await resolve(local('sneaky.example', 3000))).toMatch(
      "sneaky.example resolves to an address that isn't allowed: 127.0.0.1 is used by Postern itself",
    )
    system = async () => ['10.64.0.2']
    expect(await resolve(local('other.example', 80))).toMatch(
      "other.example resolves to an address that isn't allowed: 10.64.0.2",
    )
    system = async () => ['203.0.113.80']
    expect(await resolve(local('fine.example', 80))).toBe('203.0.113.80')
  })

  test('a route whose address is the same stays the same object', async () => {
    const route = local('moving.example', 80)
    await resolve(route)
    const [before] = resolveTargets([route]).routes
    expect(resolveTargets([route]).routes[0]).toBe(before)
    system = async () => ['203.0.113.81']
    expect(await refresh(route, 31_000)).toBe('203.0.113.81')
  })

  test('look-ups are bounded, and names that nobody uses are forgotten', async () => {
    let running = 0
    let most = 0
    system = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return ['203.0.113.80']
    }
    const many = Array.from({ length: 30 }, (_, index) => local(`h${index}.example`, 80))
    resolveTargets(many)
    await names.settled(5000)
    expect(most).toBe(2)
    resolveTargets([])
    names.refresh(targets.queries())
    const { problems } = resolveTargets(many.slice(0, 1))
    expect(problems[0]?.message).toBe('Looking up h0.example.')
  })
})
