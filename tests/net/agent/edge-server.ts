import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { type FakeNode, serveAgents } from '@postern/testkit/fakes/fake-agent-server'

/**
 * The HTTPS server that an agent connects to; with `link`, also what gives the WireGuard in place of an edge its peer.
 * Runs in a namespace of the lab; the test sends its answers over IPC.
 */

export type ToEdgeServer =
  | { type: 'node'; node: FakeNode }
  | { type: 'hint' }
  | { type: 'publicKey'; publicKey: string | null }
export type FromEdgeServer =
  | { type: 'ready' }
  | { type: 'done'; sockets: number }
  | { type: 'call'; method: string; path: string; body: string }

const [, , directory = '', link = '', port = '443'] = process.argv
const tell = (message: FromEdgeServer) => process.send?.(message)
const inDirectory = (file: string) => `${directory}/${file}`

const server = createServer({
  key: readFileSync(inDirectory('leaf.key')),
  cert: readFileSync(inDirectory('leaf.crt')),
})
const fake = serveAgents(server, {
  onCall: (method, path, body) => tell({ type: 'call', method, path, body }),
  ...(link !== '' && { onKey: addPeer }),
})
fake.authority = readFileSync(inDirectory('ca.crt'), 'utf8')

function addPeer(key: string): void {
  const psk = inDirectory('psk')
  writeFileSync(psk, `${fake.node?.config.peer.presharedKey}\n`, { mode: 0o600 })
  const others = wg('show', link, 'peers')
    .split('\n')
    .filter((old) => old !== '' && old !== key)
  for (const old of others) wg('set', link, 'peer', old, 'remove')
  const networks = '10.64.0.0/24,fd64::/64,192.168.77.0/24,192.168.88.0/24'
  wg('set', link, 'peer', key, 'preshared-key', psk, 'allowed-ips', networks)
}

function wg(...args: string[]): string {
  return execFileSync('wg', args, { encoding: 'utf8' })
}

process.on('message', (message: ToEdgeServer) => {
  if (message.type === 'node') fake.node = message.node
  if (message.type === 'publicKey') fake.publicKey = message.publicKey
  if (message.type === 'hint') fake.hint()
  tell({ type: 'done', sockets: fake.countSockets() })
})
process.on('disconnect', () => process.exit())
server.listen(Number(port), () => tell({ type: 'ready' }))
