import { writeFileSync } from 'node:fs'
import type { AgentConfig } from '@postern/contract/agent/agent'
import { isAnswered } from '@postern/host/socket'
import type { Namespace } from '@postern/testkit/lab/namespace'
import { must } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { startAgentServer } from './agent-server.ts'

export { TOKEN } from './agent-server.ts'

/** What an agent connects to, in a namespace: the tunnel's other end and the server's endpoints, as set by a test. */
export async function startEdgeEnd(space: Namespace, directory: string, link: string) {
  return startAgentServer(space, directory, await makeTunnel(space, directory, link), { link })
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
