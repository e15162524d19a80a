import { fileURLToPath } from 'node:url'
import type { PortRoute } from '@postern/contract/edge/desired-state'
import type { Exec } from '@postern/host/processes/exec'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { connect } from '@postern/testkit/lab/namespace'
import { until } from '@postern/testkit/until'
import { onTestFinished } from 'vitest'
import { createNftables, type NftablesDriver } from '../src/drivers/nftables/driver.ts'
import { makePeer, makePortRoute } from './factories.ts'
import { type Lab, startLab } from './lab.ts'

const VISITOR = fileURLToPath(new URL('udp-visitor.ts', import.meta.url))

/**
 * A bridge that bears the tunnel's name stands for the tunnel. Behind it are a plain node (10.64.0.2) and a gateway
 * (10.64.0.3) with a host (192.168.77.10); `world` is where visitors are (198.51.100.9 and .10, 2001:db8::9).
 */
export interface UdpLab {
  edge: Lab
  node: Lab
  gateway: Lab
  host: Lab
  world: Lab
  /** The driver of the edge. */
  open(exec?: Exec): NftablesDriver
  /** Keeps flows to the edge up until the end of the test. */
  keep(port: number, source?: string, from?: Lab, count?: number): Kept
  close(): Promise<void>
}

export const PUBLIC4 = '198.51.100.1'
export const PUBLIC6 = '2001:db8::1'
export const plain = makePeer(1)
export const gatewayPeer = makePeer(2, { subnets: ['192.168.77.0/24'] })
export const PORT_RANGE = { from: 32_660, to: 32_760 }

export async function startUdpLab(): Promise<UdpLab> {
  const labs = await Promise.all([1, 2, 3, 4, 5].map(() => startLab()))
  const [edge, node, gateway, host, world] = labs as [Lab, Lab, Lab, Lab, Lab]
  const tunnel = edge.interface
  await edge.must('ip', 'link', 'add', tunnel, 'type', 'bridge')
  for (const [end, port] of [[node, 'port0'] as const, [gateway, 'port1'] as const]) {
    await connect(edge, port, end, 'up0')
    await edge.must('ip', 'link', 'set', port, 'master', tunnel)
    await end.must('ip', 'link', 'set', 'up0', 'mtu', '1420')
  }
  await edge.must('ip', 'link', 'set', tunnel, 'up', 'mtu', '1420')
  await connect(edge, 'eth0', world, 'up0')
  await connect(gateway, 'lan0', host, 'up0')
  await address(edge, tunnel, '10.64.0.1/24', 'fd00:1:2::1/64')
  await address(edge, 'eth0', `${PUBLIC4}/24`, `${PUBLIC6}/64`)
  await address(node, 'up0', '10.64.0.2/24', 'fd00:1:2::2/64')
  await address(gateway, 'up0', '10.64.0.3/24')
  await address(gateway, 'lan0', '192.168.77.1/24')
  await address(host, 'up0', '192.168.77.10/24')
  await address(world, 'up0', '198.51.100.9/24', '198.51.100.10/24', '2001:db8::9/64')
  await neighbours(edge, tunnel, node, 'up0')
  await edge.must('ip', 'route', 'add', '192.168.77.0/24', 'via', '10.64.0.3')
  await host.must('ip', 'route', 'add', 'default', 'via', '192.168.77.1')
  await gateway.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  return {
    edge,
    node,
    gateway,
    host,
    world,
    open: (exec = edge.exec) =>
      createNftables({ exec, interface: tunnel, httpsPort: 443, portRange: PORT_RANGE }),
    keep(port, source = '198.51.100.9', from = world, count = 1) {
      const kept = keepFlows(from, source.includes(':') ? PUBLIC6 : PUBLIC4, port, source, count)
      onTestFinished(kept.stop)
      return kept
    },
    close: async () => void (await Promise.all(labs.map((lab) => lab.close()))),
  }
}

async function address(lab: Lab, device: string, ...addresses: string[]): Promise<void> {
  for (const each of addresses)
    await lab.must('ip', 'addr', 'add', each, 'dev', device, ...(each.includes(':') ? ['nodad'] : []))
}

/** A tunnel needs no neighbour discovery, and the firewall lets none pass. */
async function neighbours(edge: Lab, tunnel: string, node: Lab, device: string): Promise<void> {
  const link = async (lab: Lab, name: string) =>
    (await lab.must('cat', `/sys/class/net/${name}/address`)).trim()
  await edge.must('ip', 'neigh', 'add', plain.address6, 'lladdr', await link(node, device), 'dev', tunnel)
  await node.must('ip', 'neigh', 'add', 'fd00:1:2::1', 'lladdr', await link(edge, tunnel), 'dev', device)
}

/** A resolved route of a UDP service at a port of the range, to a port of the plain node. */
export function makeUdpRoute(
  id: number,
  port: number,
  changes: Partial<ResolvedPortRoute> = {},
): ResolvedPortRoute {
  const node = { kind: 'plain' as const, id: plain.nodeId, address4: plain.address4 }
  const { tls: _, ...row } = makePortRoute(id) as Extract<PortRoute, { proto: 'tcp' }>
  const route = { ...row, proto: 'udp' as const, port, node, backend: { host: null, port: 53 } }
  // A change never makes it one of TCP.
  return { ...route, address: plain.address4, ...changes } as ResolvedPortRoute
}

type Changes = Partial<ResolvedPortRoute>
export const dns = (changes: Changes = {}) => makeUdpRoute(10, 32_670, changes)
export const echo = (changes: Changes = {}) =>
  makeUdpRoute(11, 32_671, { backend: { host: null, port: 7001 }, ...changes })
export const echoTwo = () => makeUdpRoute(12, 32_672, { backend: { host: null, port: 7002 } })
export const onService = (id: number, message: unknown) => ({ scope: { kind: 'service', id }, message })

/** A name server (dnsmasq) that knows `a.test` and a text of 1,600 bytes under `big.test`. */
export async function startNameServer(lab: Lab, ...options: string[]): Promise<void> {
  const text = Array.from({ length: 8 }, (_, index) => String(index).repeat(200)).join()
  const fixed = [
    '--keep-in-foreground',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    '--user=root',
    '--pid-file=',
  ]
  const records = [
    '--edns-packet-max=4096',
    '--host-record=a.test,192.0.2.7',
    `--txt-record=big.test,${text}`,
  ]
  lab.exec.stream('dnsmasq', [...fixed, ...records, ...options], {
    onLine: () => undefined,
    onExit: () => undefined,
  })
  await until('the name server', async () => (await lab.run('ss', '-Hlun')).stdout.includes(':'))
}

/** Answers with its name, and the address and port of the caller as it sees them. */
export async function startUdpEcho(lab: Lab, name: string, port: number, address = '::'): Promise<void> {
  const script = `
    const socket = require('node:dgram').createSocket('${address.includes(':') ? 'udp6' : 'udp4'}')
    socket.on('message', (_, { address, port }) => socket.send('${name} ' + address.replace('::ffff:', '') + ' ' + port, port, address))
    socket.bind(${port}, '${address}', () => console.log('ready'))`
  await new Promise<void>((resolve) => {
    lab.exec.stream(process.execPath, ['-e', script], { onLine: () => resolve(), onExit: () => undefined })
  })
}

/** @returns the length of the name server's answer, or 0 when none came soon */
export async function askDns(
  from: Lab,
  host: string,
  port: number,
  name = 'a.test',
  type = 1,
): Promise<number> {
  const { stdout } = await from.exec.run(
    process.execPath,
    [VISITOR, 'dns', host, `${port}`, name, `${type}`],
    {
      timeoutMs: 60_000,
    },
  )
  return Number(stdout)
}

/** Sends one packet from each of so many ports of a source. */
export async function flood(
  from: Lab,
  host: string,
  port: number,
  source: string,
  count: number,
): Promise<void> {
  await from.must(process.execPath, VISITOR, 'flood', host, `${port}`, source, `${count}`)
}

/** Flows that are kept up: how many of them get answers now, and which ones. */
export interface Kept {
  answered(): number
  answers(): string
  stop(): void
}

export const untilAnswered = (kept: Kept, count = 1) => until('answers', () => kept.answered() === count)
export const untilSilent = (kept: Kept) => until('silence', () => kept.answered() === 0)

export function keepFlows(from: Lab, host: string, port: number, source: string, count = 1): Kept {
  let last = ''
  const args = [VISITOR, 'keep', host, String(port), source, String(count)]
  const { stop } = from.exec.stream(process.execPath, args, {
    onLine: (line) => {
      last = line
    },
    onExit: () => undefined,
  })
  return {
    answered: () => Number.parseInt(last, 10) || 0,
    answers: () => last.slice(last.indexOf(' ') + 1),
    stop,
  }
}
