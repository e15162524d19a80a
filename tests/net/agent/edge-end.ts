import { type ChildProcess, spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AgentConfig } from '@postern/contract/agent/agent'
import { isAnswered } from '@postern/host/socket'
import type { FakeNode } from '@postern/testkit/fakes/fake-agent-server'
import type { Namespace } from '@postern/testkit/lab/namespace'
import { must } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import type { FromEdgeServer, ToEdgeServer } from './edge-server.ts'

const SERVER = fileURLToPath(new URL('edge-server.ts', import.meta.url))

export const TOKEN = 'pn_lab-token-1234567890'

/** What an agent connects to, in a namespace: the tunnel's other end and the server's endpoints, as set by a test. */
export async function startEdgeEnd(space: Namespace, directory: string, link: string) {
  const config = await makeTunnel(space, directory, link)
  let node: FakeNode = { token: TOKEN, config, isRevoked: false }
  let server: ChildProcess | undefined
  const calls: Extract<FromEdgeServer, { type: 'call' }>[] = []

  async function startServer(): Promise<void> {
    const [program = '', ...args] = space.argv(process.execPath, SERVER, directory, link)
    server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    server.on('message', (message: FromEdgeServer) => {
      if (message.type === 'call') calls.push(message)
    })
    await heard(server, 'ready')
    await tell({ type: 'node', node })
  }

  /** @returns how many agents are connected */
  async function tell(message: ToEdgeServer): Promise<number> {
    if (!server) throw new Error('the server does not run')
    const done = heard(server, 'done')
    server.send(message)
    return (await done).sockets
  }

  await startServer()
  return {
    calls,
    startServer,
    tell,
    config: () => node.config,
    /** Changes what the server answers; agents hear of it only with a hint. */
    async change(changes: Partial<Omit<FakeNode, 'config'>> & { config?: Partial<AgentConfig> }) {
      node = { ...node, ...changes, config: { ...node.config, ...changes.config } }
      await tell({ type: 'node', node })
    },
    async stopServer() {
      if (server?.kill('SIGKILL')) await once(server, 'exit')
    },
  }
}

async function heard<T extends FromEdgeServer['type']>(server: ChildProcess, type: T) {
  // Over IPC comes only what edge-server.ts sends.
  for await (const [message] of on(server, 'message') as AsyncIterable<[FromEdgeServer]>)
    if (message.type === type) return message as Extract<FromEdgeServer, { type: T }>
  throw new Error('the server has ended')
}

/** @returns the answer for the node's agent */
async function makeTunnel(edge: Namespace, directory: string, link: string): Promise<AgentConfig> {
  const privateKey = await must(['wg', 'genkey'])
  const publicKey = await must(['wg', 'pubkey'], { input: privateKey })
  const presharedKey = await must(['wg', 'genpsk'])
  const file = `${directory}/edge.key`
  writeFileSync(file, privateKey, { mode: 0o600 })
  edge.start(['wireguard-go', '-f', link], { logFile: `${directory}/wireguard.log` })
  // `wg` would delete a socket on which wireguard-go is not listening yet.
  await until('the tunnel of the edge', () => isAnswered(`/var/run/wireguard/${link}.sock`))
  await edge.must('wg', 'set', link, 'listen-port', '51820', 'private-key', file)
  await edge.must('ip', 'addr', 'add', '10.64.0.1/16', 'dev', link)
  await edge.must('ip', 'addr', 'add', 'fd64::1/64', 'dev', link)
  await edge.must('ip', 'link', 'set', link, 'mtu', '1420', 'up')
  await edge.must('ip', 'route', 'add', '192.168.77.0/24', 'dev', link)
  return {
    node: { id: 2, name: 'office', enabled: true },
    addresses: ['10.64.0.2/32', 'fd64::2/128'],
    dns: [],
    publicKey: null,
    gateway: null,
    peer: {
      publicKey: publicKey.trim(),
      presharedKey: presharedKey.trim(),
      endpoint: '203.0.113.1:51820',
      allowedIps: ['10.64.0.0/16', 'fd64::/64'],
      keepaliveSeconds: 25,
    },
    edgeAddress: '10.64.0.1',
    targets: { tcp: [], udp: [] },
  }
}
