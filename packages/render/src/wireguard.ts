import type { TunnelPeer } from './tunnel-plan.ts'

export interface WireGuardInput {
  privateKey: string
  listenPort: number
  peers: readonly TunnelPeer[]
}

/**
 * The file for `wg syncconf`, which leaves exactly these peers. No endpoints: nodes call us, and no keepalive:
 * the node's own one keeps its way open.
 */
export function renderWireGuard(input: WireGuardInput): string {
  const own = ['[Interface]', `PrivateKey = ${input.privateKey}`, `ListenPort = ${input.listenPort}`]
  return `${[own, ...input.peers.map(renderPeer)].map((section) => section.join('\n')).join('\n\n')}\n`
}

function renderPeer(peer: TunnelPeer): string[] {
  return [
    '[Peer]',
    `PublicKey = ${peer.publicKey}`,
    `PresharedKey = ${peer.presharedKey}`,
    `AllowedIPs = ${peer.allowedIps.join(', ')}`,
  ]
}
