import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { connect } from '@postern/testkit/lab/namespace'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import { type Lab, startLab } from '../../../test/lab.ts'
import {
  gatewayPeer,
  keepFlows,
  makeUdpRoute,
  PUBLIC4,
  PUBLIC6,
  plain,
  startUdpEcho,
  startUdpLab,
  type UdpLab,
} from '../../../test/udp-lab.ts'

/** Networks of the machine that are not ours: `world`, where visitors are, and `other`, which has no service. */
let lab: UdpLab
let other: Lab
const settings = makeSettings()
const OTHER4 = '172.30.0.9'
const OTHER6 = '2001:db8:30::9'

beforeAll(async () => {
  ;[lab, other] = await Promise.all([startUdpLab(), startLab()])
  await connect(lab.edge, 'eth1', other, 'up0')
  await lab.edge.must('ip', 'addr', 'add', '172.30.0.1/24', 'dev', 'eth1')
  await lab.edge.must('ip', 'addr', 'add', '2001:db8:30::1/64', 'dev', 'eth1', 'nodad')
  await other.must('ip', 'addr', 'add', `${OTHER4}/24`, 'dev', 'up0')
  await other.must('ip', 'addr', 'add', `${OTHER6}/64`, 'dev', 'up0', 'nodad')
  await other.must('ip', 'route', 'add', '198.51.100.0/24', 'via', '172.30.0.1')
  await other.must('ip', 'route', 'add', '2001:db8::/64', 'via', '2001:db8:30::1')
  await lab.world.must('ip', 'route', 'add', '172.30.0.0/24', 'via', PUBLIC4)
  await lab.world.must('ip', 'route', 'add', '2001:db8:30::/64', 'via', PUBLIC6)
  await startUdpEcho(lab.node, 'one', 7001)
  await startUdpEcho(other, 'other', 7002)
})
afterAll(() => Promise.all([lab.close(), other.close()]))

beforeEach(async () => {
  await lab.open().remove()
  await set('net.ipv4.ip_forward=0', 'net.ipv6.conf.all.forwarding=0', 'net.ipv4.conf.eth0.forwarding=0')
  await filterBridges(0)
  await lab.edge.must('conntrack', '-F')
})

const apply = (...udp: ResolvedPortRoute[]) =>
  lab.open().apply({ settings, peers: [plain, gatewayPeer], udp })
const set = (...settings: string[]) => lab.edge.must('sysctl', '-qw', ...settings)
/** Absent where no module filters bridges. */
const filterBridges = (value: number) =>
  lab.edge.must(
    ...['sysctl', '-eqw', `net.bridge.bridge-nf-call-iptables=${value}`],
    `net.bridge.bridge-nf-call-ip6tables=${value}`,
  )
const echo = () => makeUdpRoute(11, 32_671, { backend: { host: null, port: 7001 } })
/** A service of this machine that leads to a host of its network. */
const beside = () =>
  makeUdpRoute(12, 32_672, {
    node: { kind: 'local' },
    backend: { host: OTHER4, port: 7002 },
    address: OTHER4,
  })

async function untilServed(port: number): Promise<void> {
  const kept = keepFlows(lab.world, PUBLIC4, port, '198.51.100.9')
  onTestFinished(kept.stop)
  await until('an answer', () => kept.answered() === 1)
}
const reaches = async (from: Lab, address: string) => (await from.run('fping', '-c1', address)).code === 0
const untilReached = (from: Lab, address: string) => until(address, () => reaches(from, address))

async function listReached(): Promise<string[]> {
  const ways = [
    ['other by IPv4', lab.world, OTHER4],
    ['other by IPv6', lab.world, OTHER6],
    ['world by IPv4', other, '198.51.100.9'],
    ['world by IPv6', other, '2001:db8::9'],
  ] as const
  const found = ways.map(async ([way, from, address]) => ((await reaches(from, address)) ? [way] : []))
  return (await Promise.all(found)).flat()
}

test('neither a UDP service nor a restarted edge makes this machine a router between its other networks', async () => {
  for (const [from, own] of [
    [lab.world, PUBLIC4],
    [lab.world, PUBLIC6],
    [other, '172.30.0.1'],
    [other, '2001:db8:30::1'],
  ] as const)
    await untilReached(from, own)
  await apply(echo())
  await untilServed(32_671)
  expect(await listReached()).toEqual([])
  await apply(echo())
  expect(await listReached()).toEqual([])
  // Nor when it has no service any more.
  await apply()
  expect(await listReached()).toEqual([])
})

test('a service that leads to a host beside this machine is served, and no more of that network', async () => {
  await apply(beside())
  await untilServed(32_672)
  expect(await listReached()).toEqual([])
})

test('forwarding that somebody else switched on, before or after us, still works', async () => {
  await set('net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1')
  await apply(echo())
  await untilReached(lab.world, OTHER4)
  await untilReached(lab.world, OTHER6)
  await set('net.ipv4.ip_forward=0', 'net.ipv6.conf.all.forwarding=0')
  const driver = lab.open()
  const wanted = { settings, peers: [plain, gatewayPeer], udp: [echo()] }
  await driver.apply(wanted)
  expect(await listReached()).toEqual([])
  await driver.apply(wanted)
  expect(await driver.isAsLeft()).toBe(true)
  // As Docker and libvirt do when they start.
  await set('net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1')
  expect(await driver.isAsLeft()).toBe(false)
  await driver.apply(wanted)
  await untilReached(lab.world, OTHER4)
  await untilReached(other, '2001:db8::9')
  await untilServed(32_671)
  await driver.remove()
  expect(await reaches(lab.world, OTHER4)).toBe(true)
})

test('a single interface that somebody lets forward still does', async () => {
  await set('net.ipv4.conf.eth0.forwarding=1', 'net.ipv4.conf.eth1.forwarding=1')
  await untilReached(lab.world, OTHER4)
  for (const _ of ['first', 'anew']) {
    await apply(echo())
    await untilReached(lab.world, OTHER4)
  }
})

test('where a module filters bridges, their traffic passes', async () => {
  await filterBridges(1)
  await apply(echo())
  await lab.node.must('ip', 'addr', 'replace', '10.99.0.2/24', 'dev', 'up0')
  await lab.gateway.must('ip', 'addr', 'replace', '10.99.0.3/24', 'dev', 'up0')
  await lab.edge.must('ip', 'link', 'add', 'br9', 'type', 'bridge')
  await lab.edge.must('ip', 'link', 'set', 'br9', 'up')
  for (const port of ['port0', 'port1']) await lab.edge.must('ip', 'link', 'set', port, 'master', 'br9')
  await untilReached(lab.node, '10.99.0.3')
  for (const port of ['port0', 'port1'])
    await lab.edge.must('ip', 'link', 'set', port, 'master', lab.edge.interface)
})

test('the packets of another installation pass its own table', async () => {
  await lab.edge.must('nft', 'add', 'table', 'inet', 'postern_beside')
  await apply(echo())
  await untilReached(lab.world, OTHER4)
  await lab.edge.must('nft', 'delete', 'table', 'inet', 'postern_beside')
  await apply(echo())
  expect(await listReached()).toEqual([])
})

test('without the table nothing is forwarded any more', async () => {
  await apply(echo())
  await untilServed(32_671)
  await lab.open().remove()
  expect(await lab.edge.must('cat', '/proc/sys/net/ipv4/ip_forward')).toBe('0\n')
  expect(await lab.edge.must('cat', '/proc/sys/net/ipv6/conf/all/forwarding')).toBe('0\n')
})
