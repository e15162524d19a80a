import { LIMITS } from '@postern/contract/limits'
import type { TunnelPeer } from './plan.ts'

export interface WireGuardInput {
  privateKey: string
  listenPort: number
  peers: readonly WireGuardPeer[]
}

/** `endpoint`: only for a peer that the interface does not have yet; checked, like `203.0.113.7:51820`. */
export type WireGuardPeer = TunnelPeer & { endpoint?: string | undefined }

/**
 * The file for `wg syncconf`, which leaves exactly these peers. Without endpoints, because nodes connect to us, and
 * without keepalive, because the node's own keeps its path open. A peer whose endpoint we remember gets both: the
 * keepalive, which the next file removes again, makes WireGuard shake hands as soon as the interface is up.
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
