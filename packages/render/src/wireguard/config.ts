import { LIMITS } from '@postern/contract/limits'
import type { TunnelPeer } from './plan.ts'

export interface WireGuardInput {
  privateKey: string
  listenPort: number
  peers: readonly WireGuardPeer[]
}

/** `endpoint`: only for one that the interface does not have yet. A closed spelling, like `203.0.113.7:51820`. */
export type WireGuardPeer = TunnelPeer & { endpoint?: string | undefined }

/**
 * The file for `wg syncconf`, which leaves exactly these peers. No endpoints: nodes call us, and no keepalive:
 * the node's own one keeps its way open. But a peer whose endpoint we remember is called: the keepalive, which the
 * next file takes off again, makes WireGuard shake hands as soon as the interface is up.
 */
export function renderWireGuard(input: WireGuardInput): string {
  const own = ['[Interface]', `PrivateKey = ${input.privateKey}`, `ListenPort = ${input.listenPort}`]
  return `${[own, ...input.peers.map(renderPeer)].map((section) => section.join('\n')).join('\n\n')}\n`
}

function renderPeer(peer: WireGuardPeer): string[] {
  return [
    '[Peer]',
    `PublicKey = ${peer.publicKey}`,
    `PresharedKey = ${peer.presharedKey}`,
    `AllowedIPs = ${peer.allowedIps.join(', ')}`,
    ...(peer.endpoint ? [`Endpoint = ${peer.endpoint}`] : []),
    `PersistentKeepalive = ${peer.endpoint ? LIMITS.keepaliveSeconds : 'off'}`,
  ]
}
