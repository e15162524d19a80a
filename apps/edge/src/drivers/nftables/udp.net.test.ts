import { createExec, type Exec, ProgramMissingError } from '@postern/host/processes/exec'
import { isAllowed } from '@postern/render/haproxy/maps/lists'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { dyingExec } from '@postern/testkit/processes/dying-exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  askDns,
  dns,
  echo,
  echoTwo,
  gatewayPeer,
  keepFlows,
  makeUdpRoute,
  onService,
  PUBLIC4,
  PUBLIC6,
  plain,
  startNameServer,
  startUdpEcho,
  startUdpLab,
  untilAnswered,
  untilSilent,
} from '../../../test/udp-lab.ts'
import type { NftablesDriver } from './driver.ts'

const settings = makeSettings()
const VISITOR = '198.51.100.9'

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startNameServer(lab.node)
  await startNameServer(lab.host)
  await startUdpEcho(lab.node, 'one', 7001)
  await startUdpEcho(lab.node, 'two', 7002)
  await startUdpEcho(lab.edge, 'local', 7003, '127.0.0.1')
  driver = lab.open()
})
beforeEach(() => lab.edge.must('conntrack', '-F'))

/** The edge's, which lives as long as the edge. */
let driver: NftablesDriver
const apply = (...udp: ResolvedPortRoute[]) => driver.apply({ settings, peers: [plain, gatewayPeer], udp })

const local = () =>
  makeUdpRoute(13, 32_673, {
    node: { kind: 'local' },
    backend: { host: '127.0.0.1', port: 7003 },
    address: '127.0.0.1',
  })

const untilDns = (...args: Parameters<typeof askDns>) =>
  until('the answer', async () => (await askDns(...args)) || undefined)
const flows = async (...options: string[]) =>
  (await lab.edge.must('conntrack', '-L', '-p', 'udp', ...options)).trim().split('\n').filter(Boolean)
/** The ids of the flows to a port: a flow that ended and began again has a new one. */
const flowIds = async (port: number) =>
  (await flows('-o', 'id', '--orig-port-dst', `${port}`)).map((flow) => / id=\d+/.exec(flow)?.[0]).sort()

describe('a name server on a node', () => {
  test.each([
    ['IPv4', PUBLIC4],
    ['IPv6', PUBLIC6],
  ])('answers visitors who come by %s, also with more than fits into one packet', async (_, host) => {
    expect((await apply(dns())).problems).toEqual([])
    expect(await untilDns(lab.world, host, 32_670)).toBeGreaterThan(0)
    expect(await untilDns(lab.world, host, 32_670, 'big.test', 16)).toBeGreaterThan(1600)
  })

  test('answers visitors on the machine itself', async () => {
    await apply(dns())
    expect(await untilDns(lab.edge, PUBLIC4, 32_670)).toBeGreaterThan(0)
  })

  test('behind a gateway answers too', async () => {
    const node = { kind: 'gateway' as const, id: 2, address4: '10.64.0.3', subnets: ['192.168.77.0/24'] }
    await apply(dns({ node, backend: { host: '192.168.77.10', port: 53 }, address: '192.168.77.10' }))
    expect(await untilDns(lab.world, PUBLIC4, 32_670)).toBeGreaterThan(0)
    expect(await askDns(lab.world, PUBLIC6, 32_670)).toBe(0)
    expect(driver.facts()).toMatchObject({ ipv4Only: [10], ipv6Only: [] })
    await apply(dns())
    expect(driver.facts()).toMatchObject({ ipv4Only: [], ipv6Only: [] })
  })
})

test("a program on the node sees the edge's address, and one on 127.0.0.1 of this machine the visitor's", async () => {
  await apply(echo(), local())
  const [there, here] = [lab.keep(32_671), lab.keep(32_673)]
  await untilAnswered(there)
  await untilAnswered(here)
  expect(there.answers()).toMatch(/^one 10\.64\.0\.1 /)
  expect(here.answers()).toMatch(`local ${VISITOR} `)
})

describe('IP lists', () => {
  test.each([
    { blockedIps: [VISITOR] },
    { blockedIps: ['198.51.100.0/28', '198.51.100.8/29', '0.0.0.0/0'] },
    { allowedIps: ['198.51.100.10'] },
    { allowedIps: ['198.51.100.8/29'], blockedIps: ['198.51.100.10', '2001:db8::/32'] },
    { allowedIps: ['::ffff:198.51.100.9'] },
    { blockedIps: ['::/0'] },
  ])('%j admit whom they should, by both families', async (lists) => {
    const route = echo(lists)
    await apply(route, echoTwo())
    for (const source of [VISITOR, '198.51.100.10', '2001:db8::9']) {
      const [kept, other] = [lab.keep(32_671, source), lab.keep(32_672, source)]
      await untilAnswered(other)
      if (isAllowed(route, source)) await untilAnswered(kept)
      else expect(kept.answered()).toBe(0)
      kept.stop()
      other.stop()
    }
  })
})

describe('a flow', () => {
  test.each<[string, () => ResolvedPortRoute[]]>([
    ['disabled', () => [echo({ enabled: false })]],
    ['deleted', () => []],
    ['blocked for the visitor', () => [echo({ blockedIps: [VISITOR] })]],
    ['not allowed any more for the visitor', () => [echo({ allowedIps: ['198.51.100.10'] })]],
  ])('of a service that is %s ends, and no other', async (_, changed) => {
    await apply(echo(), echoTwo())
    const [ended, other, foreign] = [lab.keep(32_671), lab.keep(32_672), lab.keep(32_672, '198.51.100.10')]
    for (const kept of [ended, other, foreign]) await untilAnswered(kept)
    const before = await flowIds(32_672)
    expect(before).toHaveLength(2)
    await apply(...changed(), echoTwo())
    expect(
      (await flows()).filter((flow) => flow.includes('src=10.64.0.2') && flow.includes('sport=7001')),
    ).toEqual([])
    await untilSilent(ended)
    expect(await flowIds(32_672)).toEqual(before)
    await apply(echo(), echoTwo())
    await untilAnswered(ended)
    expect(await flowIds(32_672)).toEqual(before)
  })

  test('goes over to the new target', async () => {
    await apply(echo())
    const kept = lab.keep(32_671)
    await untilAnswered(kept)
    await apply(echo({ backend: { host: null, port: 7002 } }))
    await until('the other target', () => kept.answers().startsWith('two'))
  })

  test('that began before the service reaches it', async () => {
    await apply()
    const kept = lab.keep(32_671)
    await until('the flow', async () => (await flows()).some((flow) => flow.includes('dport=32671')))
    await apply(echo())
    await untilAnswered(kept)
  })

  test('of many goes on while others change, and none of another program ends', async () => {
    await apply(echo(), echoTwo())
    const kept = lab.keep(32_671, VISITOR, lab.world, 500)
    await startUdpEcho(lab.world, 'away', 32_671)
    const away = keepFlows(lab.edge, VISITOR, 32_671, PUBLIC4)
    onTestFinished(away.stop)
    await untilAnswered(kept, 500)
    await untilAnswered(away)
    const before = await flowIds(32_671)
    expect(before).toHaveLength(501)
    await apply(echo({ blockedIps: ['198.51.100.10'] }), local())
    driver = lab.open()
    await apply(echo({ blockedIps: ['198.51.100.10'] }))
    expect(await flowIds(32_671)).toEqual(before)
  })

  test('ends even when the edge is killed before that, at any step', async () => {
    let died = true
    for (let call = 1; died; call++) {
      await apply(echo(), echoTwo())
      const kept = lab.keep(32_671)
      await untilAnswered(kept)
      const change = { settings, peers: [plain, gatewayPeer], udp: [echoTwo()] }
      died = await lab
        .open(dyingExec(lab.edge.exec, call))
        .apply(change)
        .then(
          () => false,
          () => true,
        )
      driver = lab.open()
      await driver.apply(change)
      expect((await flows()).filter((flow) => flow.includes('sport=7001'))).toEqual([])
      kept.stop()
    }
  })
})

describe('this machine', () => {
  test('guards its loopback addresses, which visitors reach through the service alone', async () => {
    await apply(local())
    const { world, edge } = lab
    await world.must('sysctl', '-qw', 'net.ipv4.conf.all.route_localnet=1')
    await world.must('ip', 'route', 'del', 'local', '127.0.0.0/8', 'dev', 'lo', 'table', 'local')
    await world.must('ip', 'route', 'del', 'local', '127.0.0.1', 'dev', 'lo', 'table', 'local')
    await world.must('ip', 'route', 'add', '127.0.0.1', 'via', PUBLIC4)
    onTestFinished(keepFlows(world, '127.0.0.1', 7003, VISITOR).stop)
    const visitor = lab.keep(32_673)
    await untilAnswered(visitor)
    const isReached = async () =>
      (await flows()).some((flow) => / dst=127\.0\.0\.1 sport=\d+ dport=7003 packets/.test(flow))
    expect(await isReached()).toBe(false)
    // Without the guard it gets through, so it is the guard that keeps it out.
    const table = ['inet', `postern_${edge.interface}`]
    await edge.must('nft', 'flush', 'chain', ...table, 'prerouting_loopback')
    await until('the packets on loopback', isReached)
    const routes = () => edge.must('cat', '/proc/sys/net/ipv4/conf/all/route_localnet')
    // Another installation may lead to loopback still.
    await edge.must('nft', 'add', 'table', 'inet', 'postern_other')
    await apply()
    expect(await routes()).toBe('2\n')
    await edge.must('nft', 'delete', 'table', 'inet', 'postern_other')
    await apply()
    expect(await routes()).toBe('0\n')
  })

  test('names a foreign chain that drops what visitors send, on each service, and only then', async () => {
    const { edge } = lab
    await edge.must('nft', 'add', 'table', 'ip', 'ufw')
    onTestFinished(async () => void (await edge.must('nft', 'delete', 'table', 'ip', 'ufw')))
    await edge.must(
      'nft',
      'add',
      'chain',
      'ip',
      'ufw',
      'FORWARD',
      '{ type filter hook forward priority 0; policy drop; }',
    )
    expect((await apply(local())).problems).toEqual([])
    expect((await apply(local(), echo())).problems).toEqual([
      onService(11, expect.stringContaining('The chain FORWARD of the table ip ufw')),
    ])
    await edge.must('nft', 'add', 'chain', 'ip', 'ufw', 'user-forward')
    await edge.must('nft', 'add', 'rule', 'ip', 'ufw', 'user-forward', 'oifname', edge.interface, 'accept')
    expect((await apply(local(), echo())).problems).toEqual([])
  })

  test('without conntrack says so, and serves nevertheless', async () => {
    const without: Exec = {
      ...lab.edge.exec,
      stream: (program, args, options) =>
        program === 'conntrack'
          ? createExec([], '/nowhere').stream(program, args, options)
          : lab.edge.exec.stream(program, args, options),
    }
    await apply()
    const bare = lab.open(without)
    await expect(bare.apply({ settings, peers: [plain], udp: [echo()] })).rejects.toBeInstanceOf(
      ProgramMissingError,
    )
    const kept = lab.keep(32_671)
    await untilAnswered(kept)
    await expect(bare.apply({ settings, peers: [plain], udp: [echoTwo()] })).rejects.toThrow(
      'conntrack is not installed',
    )
    await untilSilent(kept)
  })
})

test('an address family that the public host lacks is reported on the service', async () => {
  const only4 = {
    node: { kind: 'local' as const },
    backend: { host: '192.0.2.1', port: 53 },
    address: '192.0.2.1',
  }
  const { problems } = await driver.apply({
    settings: { ...settings, publicHost: '2001:db8::1' },
    peers: [plain],
    udp: [dns(), makeUdpRoute(15, 32_675, only4)],
  })
  expect(problems).toEqual([
    onService(
      15,
      "Visitors come to 2001:db8::1 by IPv6, and this service's backend has only an IPv4 address.",
    ),
  ])
})
