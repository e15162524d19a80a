import { fileURLToPath } from 'node:url'
import type { Exec } from '@postern/host/processes/exec'
import { UDP_FLOWS, UDP_PACKETS } from '@postern/render/nftables/budget'
import { tableOf } from '@postern/render/nftables/plan'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  flood,
  keepFlows,
  makeUdpRoute,
  PUBLIC4,
  PUBLIC6,
  plain,
  startUdpEcho,
  startUdpLab,
} from '../../../test/udp-lab.ts'

const PORT = 32_671
const CROWD = fileURLToPath(import.meta.resolve('@postern/testkit/programs/udp-crowd'))
const settings = makeSettings()
const service = makeUdpRoute(11, PORT, { backend: { host: null, port: 7001 } })
const apply = (exec?: Exec) => lab.open(exec).apply({ settings, peers: [plain], udp: [service] })

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startUdpEcho(lab.node, 'one', 7001)
  // A site with several networks.
  await lab.edge.must('ip', 'route', 'add', '2001:db8::/48', 'dev', 'eth0')
  for (const each of ['2001:db8:0:1::9/64', '2001:db8:0:2::9/64', '2001:db8:0:3::9/64'])
    await lab.world.must('ip', 'addr', 'add', each, 'dev', 'up0', 'nodad')
})
beforeEach(async () => {
  await lab.edge.must('conntrack', '-F')
  await apply()
})

const flowsOf = async (family: 'ipv4' | 'ipv6', ...filter: string[]) =>
  (await lab.edge.must('conntrack', '-L', '-f', family, '-p', 'udp', ...filter)).match(/ src=/g)?.length ?? 0

/** Packets of visitors that came through to the service. */
async function countArrived(): Promise<number> {
  const counters = await lab.edge.must(
    'nft',
    'list',
    'counters',
    'table',
    'inet',
    tableOf(lab.edge.interface),
  )
  const found = counters.matchAll(/counter s11_in[46] \{\s+packets (\d+)/g)
  return [...found].reduce((sum, [, packets]) => sum + Number(packets), 0)
}

async function isAnswered(source: string, count = 1): Promise<void> {
  const host = source.includes(':') ? PUBLIC6 : PUBLIC4
  const kept = keepFlows(lab.world, host, PORT, source, count)
  onTestFinished(kept.stop)
  await until('answers', () => kept.answered() === count)
}

describe('one source', () => {
  test.each([
    ['an IPv4 address', 'ipv4' as const, PUBLIC4, '198.51.100.9', '198.51.100.10'],
    ['a /64 of IPv6', 'ipv6' as const, PUBLIC6, '2001:db8::9', '2001:db8:0:1::9'],
  ])(
    '%s holds no more flows than its share, and others are answered',
    async (_, family, host, source, other) => {
      await flood(lab.world, host, PORT, source, UDP_FLOWS.perSource + 1500)
      // Each line has the way there and the way back.
      expect(await flowsOf(family, '--orig-src', source)).toBeLessThanOrEqual(2 * UDP_FLOWS.perSource)
      await isAnswered(other)
    },
  )

  test('a /48 of IPv6 has a share, too', async () => {
    for (const net of [1, 2, 3]) await flood(lab.world, PUBLIC6, PORT, `2001:db8:0:${net}::9`, 1000)
    expect(await flowsOf('ipv6', '--orig-port-dst', `${PORT}`)).toBeLessThanOrEqual(2 * UDP_FLOWS.perSite)
    await isAnswered('198.51.100.10')
  })

  test.each([
    ['an IPv4 address', PUBLIC4, ['198.51.100.9']],
    ['a /48 of IPv6', PUBLIC6, [1, 2, 3].map((net) => `2001:db8:0:${net}::9`)],
  ])('%s sends no more packets than its share, and others are answered', async (_, host, sources) => {
    const argv = [process.execPath, CROWD, 'packets', host, String(PORT), sources.join()]
    const crowd = lab.world.start(argv, { logFile: '/dev/null' })
    onTestFinished(() => crowd.stop())
    await until('packets', async () => (await countArrived()) > UDP_PACKETS.burst)
    const [before, start] = [await countArrived(), performance.now()]
    await isAnswered('198.51.100.10', 20)
    await new Promise((done) => setTimeout(done, 1000))
    const arrived = (await countArrived()) - before
    // Packets that came while the counters were read count as well.
    const seconds = (performance.now() - start) / 1000 + 0.2
    expect(arrived).toBeLessThan(seconds * UDP_PACKETS.perSecond + UDP_PACKETS.burst)
  })

  test('that never sends the rest of its packets takes nothing from others’ that come in pieces', async () => {
    const egress = (rule: string) =>
      `table netdev cut { chain out { type filter hook egress device "up0" priority 0; ${rule} } ; }`
    const first = 'ip saddr 198.51.100.9 ip frag-off & 0x1fff != 0 drop ;'
    expect((await lab.world.exec.run('nft', ['-f', '-'], { input: egress(first) })).stderr).toBe('')
    onTestFinished(async () => void (await lab.world.must('nft', 'delete', 'table', 'netdev', 'cut')))
    const script = `
      const socket = require('node:dgram').createSocket('udp4').bind(0, '198.51.100.9')
      setInterval(() => { for (let i = 0; i < 20; i++) socket.send(Buffer.alloc(2000), ${PORT}, '${PUBLIC4}') }, 20)
      setTimeout(() => process.exit(), 30_000)`
    const flooding = lab.world.start([process.execPath, '-e', script], { logFile: '/dev/null' })
    onTestFinished(() => flooding.stop())
    const memory = async () =>
      Number(/^FRAG: inuse \d+ memory (\d+)/m.exec(await lab.edge.must('cat', '/proc/net/sockstat'))?.[1])
    await until('pieces that wait', async () => (await memory()) > 1_000_000)
    await new Promise((done) => setTimeout(done, 8000))
    const ask = `
      const socket = require('node:dgram').createSocket('udp4').bind(0, '198.51.100.10')
      socket.once('message', () => process.exit(0))
      setInterval(() => socket.send(Buffer.alloc(3000), ${PORT}, '${PUBLIC4}'), 200)
      setTimeout(() => process.exit(1), 5000)`
    expect((await lab.world.exec.run(process.execPath, ['-e', ask])).code).toBe(0)
  })

  test('that is an ordinary program with a thousand flows gets answers to all of them', async () => {
    await isAnswered('198.51.100.9', 1000)
  })
})

test('all sources together leave room, and existing flows go on', async () => {
  const table = tableOf(lab.edge.interface)
  const text = await lab.edge.must('nft', 'list', 'table', 'inet', table)
  // The same rules, with less to fill: 64 lists of 4.
  const smaller = text.replace(/ct count over 512\b/g, 'ct count over 4')
  expect(smaller).not.toBe(text)
  const input = `delete table inet ${table}\n${smaller}`
  expect((await lab.edge.exec.run('nft', ['-f', '-'], { input })).stderr).toBe('')
  const kept = keepFlows(lab.world, PUBLIC4, PORT, '198.51.100.10', 20)
  onTestFinished(kept.stop)
  await until('answers', () => kept.answered() === 20)
  await flood(lab.world, PUBLIC4, PORT, '198.51.100.9', 800)
  expect(await flowsOf('ipv4', '--orig-port-dst', `${PORT}`)).toBeLessThanOrEqual(2 * 64 * 4)
  expect(kept.answered()).toBe(20)
})

describe('the kernel’s table of connections', () => {
  const MOST = '/proc/sys/net/netfilter/nf_conntrack_max'
  const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count'
  /** A machine with these values in its files. */
  function machine(files: Record<string, string>, mayWrite: boolean): Exec {
    const { exec } = lab.edge
    return {
      ...exec,
      readFile: async (path) => files[path] ?? (await exec.readFile(path)),
      run: async (program, args, options) => {
        if (program !== 'tee' || args[0] !== MOST) return exec.run(program, args, options)
        if (mayWrite) files[MOST] = options?.input ?? ''
        return { code: mayWrite ? 0 : 1, stdout: '', stderr: mayWrite ? '' : 'tee: Invalid argument' }
      },
    }
  }

  test('is made large enough where that is allowed, and reported as too small where it is not', async () => {
    const own = { [MOST]: '16384\n' }
    expect((await apply(machine(own, true))).problems).toEqual([])
    expect(own[MOST]).toBe('131072')
    const { part, problems } = await apply(machine({ [MOST]: '16384\n' }, false))
    expect(part.state).toBe('ok')
    expect(problems).toEqual([
      { scope: { kind: 'edge' }, message: expect.stringContaining('has room for only 16384') },
    ])
    expect((await apply(machine({ [MOST]: '65536\n' }, false))).problems).toEqual([])
    const larger = { [MOST]: '1000000\n' }
    await apply(machine(larger, true))
    expect(larger[MOST]).toBe('1000000\n')
  })

  test('that is nearly full is a problem, which comes and goes with the next check', async () => {
    const files: Record<string, string> = { [MOST]: '200000\n', [COUNT]: '10\n' }
    const driver = lab.open(machine(files, false))
    const wanted = { settings, peers: [plain], udp: [service] }
    expect((await driver.apply(wanted)).problems).toEqual([])
    expect(await driver.isAsLeft()).toBe(true)
    files[COUNT] = '170000\n'
    expect(await driver.isAsLeft()).toBe(false)
    expect((await driver.apply(wanted)).problems).toEqual([
      { scope: { kind: 'edge' }, message: expect.stringContaining('is nearly full (200000 at most)') },
    ])
    files[COUNT] = '10\n'
    expect(await driver.isAsLeft()).toBe(false)
  })
})
