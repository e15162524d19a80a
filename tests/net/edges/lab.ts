import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { AgentConfig, TunnelEnd } from '@postern/contract/agent/agent'
import type { DesiredState, Peer } from '@postern/contract/edge/desired-state'
import { parseCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { address6For, edgeAddressOf } from '@postern/net/tunnel-addresses'
import { addNamespace, beginLab, connect, type Namespace } from '@postern/testkit/lab/namespace'
import { run } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { makePeer, makePortRoute } from '../../../apps/edge/test/factories.ts'
import { startAgentServer, TOKEN } from '../agent/agent-server.ts'
import { createAuthority } from '../agent/authority.ts'
import { startNameServer } from '../agent/lab.ts'
import { COMMON, type LabEdge, startEdge } from './edge.ts'

const AGENT = fileURLToPath(new URL('../../../apps/agent/src/main.ts', import.meta.url))
const WORD = fileURLToPath(new URL('../../../packages/testkit/src/programs/word.ts', import.meta.url))
const REQUESTS = fileURLToPath(new URL('requests.ts', import.meta.url))

/** Behind the gateway. */
const LAN = '192.168.77.0/24'
const LAN_HOST = '192.168.77.20'

/** The gateway's answers; the site's is an address that nobody has. */
const NAME_SERVERS: Record<string, string> = {
  gw: `nameserver ${LAN_HOST}\n`,
  site: 'nameserver 203.0.113.250\n',
}

/** A program of each kind, and the public port that leads to it at every edge. */
export const AT = {
  loopback: 32_661,
  loopbackUdp: 32_662,
  lan: 32_663,
  lanUdp: 32_664,
  filed: 32_665,
  udp6: 32_666,
} as const
export const TARGETS = { tcp: [8001], udp: [8001, 8006] }

/** The nodes, before their keys are known. */
const NODES = {
  site: makePeer(1),
  gateway: makePeer(2, { subnets: [LAN] }),
  filed: makePeer(3),
}
export type NodeName = keyof typeof NODES

const SERVICES: DesiredState['ports'] = [
  service(1, 'tcp', AT.loopback, 'site', 8001),
  service(2, 'udp', AT.loopbackUdp, 'site', 8001),
  service(3, 'tcp', AT.lan, 'gateway', 8080, LAN_HOST),
  service(4, 'udp', AT.lanUdp, 'gateway', 8053, LAN_HOST),
  service(5, 'tcp', AT.filed, 'filed', 9000),
  service(6, 'udp', AT.udp6, 'site', 8006),
]

function service(
  id: number,
  proto: 'tcp' | 'udp',
  port: number,
  name: NodeName,
  to: number,
  host: string | null = null,
): DesiredState['ports'][number] {
  const { nodeId, address4, subnets } = NODES[name]
  const node =
    host === null
      ? ({ kind: 'plain', id: nodeId, address4 } as const)
      : ({ kind: 'gateway', id: nodeId, address4, subnets } as const)
  const { tls, ...route } = { tls: null, ...makePortRoute(id, { port, node, backend: { host, port: to } }) }
  return proto === 'tcp' ? { ...route, proto, tls } : { ...route, proto }
}

/**
 * Edges 203.0.113.21, .22 and .23, a node with an agent (.10), a gateway (.11) with a host behind it, a node with a
 * WireGuard file (.12) and a visitor (.100), on one switch. The agents' servers are at 203.0.113.1.
 */
export async function startEdgesLab() {
  const id = await beginLab()
  const directory = mkdtempSync(`${tmpdir()}/${id}-`)
  const spaces: Namespace[] = []
  const add = async (role: string) => {
    const space = await addNamespace(`${id}-${role}`, { 'resolv.conf': NAME_SERVERS[role] ?? '' })
    spaces.push(space)
    return space
  }
  const middle = await add('mid')
  await middle.must('ip', 'link', 'add', 'br0', 'type', 'bridge')
  await middle.must('ip', 'link', 'set', 'br0', 'up')
  const plugIn = async (role: string, octet: number) => {
    const space = await add(role)
    await connect(middle, `p${octet}`, space, 'eth0')
    await middle.must('ip', 'link', 'set', `p${octet}`, 'master', 'br0')
    await space.must('ip', 'addr', 'add', `203.0.113.${octet}/24`, 'dev', 'eth0')
    await space.must('ip', 'addr', 'add', `2001:db8::${octet}/64`, 'dev', 'eth0', 'nodad')
    return space
  }
  const control = await plugIn('ctl', 1)
  const [site, gateway, filed] = [await plugIn('site', 10), await plugIn('gw', 11), await plugIn('file', 12)]
  const visitor = await plugIn('vis', 100)
  const lan = await add('lan')
  await connect(gateway, 'lan0', lan, 'eth0')
  await gateway.must('ip', 'addr', 'add', '192.168.77.1/24', 'dev', 'lan0')
  await lan.must('ip', 'addr', 'add', `${LAN_HOST}/24`, 'dev', 'eth0')

  const edges: LabEdge[] = []
  for (const number of [1, 2, 3]) {
    const space = await plugIn(`edge${number}`, 20 + number)
    const place = { space, number, address: `203.0.113.${20 + number}`, tunnel: `${id}e${number}` }
    edges.push(await startEdge({ ...place, directory: `${directory}/edge${number}` }, SERVICES))
  }

  const authority = await createAuthority(directory)
  const peers = new Map<NodeName, Peer>()
  /** The node's key from now on, at every edge. */
  async function admit(name: NodeName, publicKey: string): Promise<void> {
    peers.set(name, { ...NODES[name], publicKey })
    await Promise.all(edges.map((edge) => edge.setPeers([...peers.values()])))
  }

  /** What the server tells the node's agent. */
  const configOf = (name: NodeName): AgentConfig => makeConfig(name, edges)

  async function startAgent(name: 'site' | 'gateway', space: Namespace, port: number, ...flags: string[]) {
    const end = await startAgentServer(control, directory, configOf(name), { port })
    const configDir = `${directory}/agent-${name}`
    const agent = (...args: string[]) =>
      run(space.argv(process.execPath, AGENT, ...args, '--config-dir', configDir), { timeoutMs: 60_000 })
    const server = ['--url', `https://203.0.113.1:${port}`, '--fingerprint', authority.fingerprint]
    const device = `${id}${name.slice(0, 1)}`
    const connecting = agent('connect', ...server, '--token', TOKEN, '--interface', device, ...flags)
    const call = await until('the key of the agent', () => end.calls.find(({ method }) => method === 'PUT'))
    await admit(name, JSON.parse(call.body).publicKey)
    const { code, stderr } = await connecting
    if (code !== 0) throw new Error(`${name}: ${stderr}`)
    return {
      ...end,
      device,
      space,
      agent,
      async status() {
        const { code, stdout } = await agent('status', '--json')
        return { code, report: JSON.parse(stdout) }
      },
      /** What the server says from now on, which the agent hears of. */
      async tellAgent(config: Partial<AgentConfig>) {
        await end.change({ config })
        await end.tell({ type: 'hint' })
      },
    }
  }

  const say = (space: Namespace, proto: 'tcp' | 'udp', address: string, port: number, word: string) =>
    space.start([process.execPath, WORD, 'say', proto, address, String(port), word], {
      logFile: `${directory}/${word}-${proto}-${port}.log`,
    })

  return {
    ...{ id, directory, edges, site, gateway, filed, lan, visitor, admit, configOf, startAgent },
    /** The programs that the services lead to, and one that nobody published. */
    async startPrograms() {
      say(site, 'tcp', '127.0.0.1', 8001, 'loopback')
      say(site, 'udp', '127.0.0.1', 8001, 'loopback')
      say(site, 'udp', '::', 8006, 'six')
      say(site, 'tcp', '0.0.0.0', 8009, 'private')
      say(lan, 'tcp', LAN_HOST, 8080, 'lan')
      say(lan, 'udp', LAN_HOST, 8053, 'lan')
      say(filed, 'tcp', '0.0.0.0', 9000, 'filed')
      startNameServer(lan, LAN_HOST, directory)
      const sockets = async (space: Namespace) =>
        (await space.must('ss', '-Hltun')).split('\n').filter((line) => /:(8|9)0\d\d /.test(line)).length
      await until('the programs', async () => {
        const found = await Promise.all([site, lan, filed].map(sockets))
        return found.join() === '4,2,1'
      })
    },
    /** The word that a program answers with and the address that it sees, or why there is no answer. */
    ask: async (from: Namespace, proto: 'tcp' | 'udp', host: string, port: number) =>
      (await from.must(process.execPath, WORD, 'ask', proto, host, String(port))).trim(),
    /** @returns how many of these visits failed, and the slowest in ms */
    async visit(edge: LabEdge, port: number, count: number): Promise<{ failed: number; slowest: number }> {
      const command = [process.execPath, REQUESTS, edge.address, String(port), String(count)]
      return JSON.parse(await visitor.must(...command))
    },
    async link(edge: LabEdge, state: 'up' | 'down') {
      await middle.must('ip', 'link', 'set', `p${20 + edge.number}`, state)
    },
    async close() {
      await Promise.all(edges.map((edge) => edge.close()))
      for (const space of spaces) await space.remove()
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
export type EdgesLab = Awaited<ReturnType<typeof startEdgesLab>>

function makeConfig(name: NodeName, edges: readonly LabEdge[]): AgentConfig {
  const { nodeId, address4, address6, presharedKey, subnets } = NODES[name]
  const network4 = parseCidr(COMMON.tunnelNetwork4)
  const network6 = parseCidr(COMMON.tunnelNetwork6)
  const ends = edges.map(({ number, publicKey, address }) => {
    const own = edgeAddressOf(number, network4, findIp(address4) ?? network4.base)
    const single = [`${formatIp(own)}/32`, `${formatIp(address6For(network6, own))}/128`]
    const allowedIps = number === 1 ? [COMMON.tunnelNetwork4, COMMON.tunnelNetwork6] : single
    const endpoint = `${address}:51820`
    const peer: TunnelEnd = { publicKey, presharedKey, endpoint, allowedIps, keepaliveSeconds: 25 }
    return { id: number, name: `edge-${number}`, peer, edgeAddress: formatIp(own) }
  })
  const [founding] = ends
  if (!founding) throw new Error('no edge')
  return {
    node: { id: nodeId, name, enabled: true },
    addresses: [`${address4}/32`, `${address6}/128`],
    dns: [],
    publicKey: null,
    gateway: name === 'gateway' ? subnets.map((subnet) => ({ interface: 'lan0', subnet })) : null,
    peer: founding.peer,
    edgeAddress: founding.edgeAddress,
    edges: ends,
    targets: name === 'site' ? TARGETS : { tcp: [], udp: [] },
  }
}
