import { createExec } from '@postern/host/processes/exec'
import { addNamespace, beginLab, connect, type Namespace } from '@postern/testkit/lab/namespace'
import { until } from '@postern/testkit/until'
import { createServices } from '../src/tunnel/services.ts'
import { config } from '../src/wanted.fixture.ts'
import { parseWanted, type Wanted } from '../src/wanted.ts'

export const WORD = new URL('../../../packages/testkit/src/programs/word.ts', import.meta.url).pathname
export const TUNNEL = 'tun-x'
export const PUBLISHED = { tcp: [8001, 8002, 8003, 8004, 8006], udp: [8001, 8004] }
export type Proto = 'tcp' | 'udp'

/** The argv that runs a program as an ordinary user. */
export const USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']

/**
 * A node with programs of its own, its edge and a neighbour. The wire `tun-x` stands for the tunnel: what the kernel
 * does with its packets is the same. @param dir for logs
 */
export async function startServicesLab(dir: string) {
  const [edge, node, neighbour] = await layWires()
  const exec = createExec(node.argv())
  const say = async (proto: Proto, address: string, port: number, word: string, user: string[] = []) => {
    const command = [...user, process.execPath, WORD, 'say', proto, address, String(port), word]
    const program = node.start(command, { logFile: `${dir}/${proto}-${address}-${port}.log` })
    const shown = address === '::' ? '*' : address.includes(':') ? `[${address}]` : address
    const isThere = async () =>
      (await node.must('ss', proto === 'tcp' ? '-Hltn' : '-Hlun', `sport = :${port}`)).includes(
        `${shown}:${port} `,
      )
    await until(`${word} to listen on ${address}:${port}`, isThere)
    return program
  }
  await Promise.all([
    say('tcp', '127.0.0.1', 8001, 'loopback'),
    say('udp', '127.0.0.1', 8001, 'loopback'),
    say('tcp', '10.64.0.2', 8002, 'tunnel'),
    say('tcp', '127.0.0.1', 8002, 'another'),
    say('tcp', '0.0.0.0', 8003, 'all'),
    say('udp', '0.0.0.0', 8004, 'all'),
    say('tcp', '::', 8006, 'both'),
    say('tcp', '::', 9006, 'private'),
    say('tcp', '127.0.0.1', 9001, 'private'),
    say('tcp', '0.0.0.0', 9002, 'private'),
    say('udp', '127.0.0.1', 9001, 'private'),
  ])
  return {
    ...{ edge, node, neighbour, exec, say },
    services: () => createServices(exec, TUNNEL),
    apply: (targets: Wanted['targets'] = PUBLISHED, changes: Partial<Wanted> = {}) =>
      createServices(exec, TUNNEL).apply(wanting(targets, changes)),
    atTunnel: (proto: Proto, port: number) => ask(edge, proto, '10.64.0.2', port),
    async close() {
      for (const host of [edge, node, neighbour]) await host.remove()
    },
  }
}

async function layWires() {
  const id = await beginLab()
  const edge = await addNamespace(`${id}-edge`)
  const node = await addNamespace(`${id}-node`)
  const neighbour = await addNamespace(`${id}-lan`)
  await connect(edge, 'tun0', node, TUNNEL)
  await connect(neighbour, 'lan0', node, 'lan0')
  await edge.must('ip', 'addr', 'add', '10.64.0.1/24', 'dev', 'tun0')
  await node.must('ip', 'addr', 'add', '10.64.0.2/24', 'dev', TUNNEL)
  await edge.must('ip', 'addr', 'add', 'fd64::1/64', 'dev', 'tun0', 'nodad')
  await node.must('ip', 'addr', 'add', 'fd64::2/64', 'dev', TUNNEL, 'nodad')
  // A tunnel has no neighbour discovery.
  await introduce(edge, 'tun0', 'fd64::2', node, TUNNEL)
  await introduce(node, TUNNEL, 'fd64::1', edge, 'tun0')
  await node.must('ip', 'addr', 'add', '192.168.7.1/24', 'dev', 'lan0')
  await neighbour.must('ip', 'addr', 'add', '192.168.7.10/24', 'dev', 'lan0')
  // A hostile edge, and a hostile neighbour: their packets to these addresses leave by the wire.
  await edge.must('ip', 'route', 'add', '192.168.7.0/24', 'via', '10.64.0.2')
  for (const [host, via] of [
    [edge, '10.64.0.2'],
    [neighbour, '192.168.7.1'],
  ] as const) {
    const device = host === edge ? 'tun0' : 'lan0'
    await host.must('sysctl', '-qw', `net.ipv4.conf.${device}.route_localnet=1`)
    await host.must('ip', 'rule', 'del', 'priority', '0')
    await host.must('ip', 'rule', 'add', 'priority', '1', 'to', '127.0.0.0/8', 'table', '77')
    await host.must('ip', 'rule', 'add', 'priority', '2', 'table', 'local')
    await host.must('ip', 'route', 'add', '127.0.0.0/8', 'via', via, 'dev', device, 'table', '77')
  }
  return [edge, node, neighbour] as const
}

async function introduce(to: Namespace, device: string, address: string, other: Namespace, at: string) {
  const [, mac = ''] = /link\/ether (\S+)/.exec(await other.must('ip', 'link', 'show', 'dev', at)) ?? []
  await to.must('ip', 'neigh', 'replace', address, 'lladdr', mac, 'nud', 'permanent', 'dev', device)
}

export function wanting(targets: Wanted['targets'], changes: Partial<Wanted> = {}): Wanted {
  return {
    ...parseWanted({ ...config, gateway: null, targets }),
    addresses: ['10.64.0.2/32', 'fd64::2/128'],
    ...changes,
  }
}

/** A visitor's result: a word and the address that the program sees, or the error. */
export async function ask(from: Namespace, proto: Proto, host: string, port: number): Promise<string> {
  return (await from.must(process.execPath, WORD, 'ask', proto, host, String(port))).trim()
}
