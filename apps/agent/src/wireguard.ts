import { rm } from 'node:fs/promises'
import { AgentError } from './errors.ts'
import type { Exec } from './exec.ts'
import { writePrivate } from './files.ts'
import type { Wanted } from './wanted.ts'

/**
 * The file for `wg syncconf`. `address` is the resolved endpoint; `listenPort` is kept, for without it
 * WireGuard takes a new port and the path through a firewall is lost. 0: any.
 */
export function renderWireGuard(
  wanted: Wanted,
  privateKey: string,
  address: string,
  listenPort: number,
): string {
  const { peer } = wanted
  const host = address.includes(':') ? `[${address}]` : address
  return [
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `ListenPort = ${listenPort}`,
    '',
    '[Peer]',
    `PublicKey = ${peer.publicKey}`,
    `PresharedKey = ${peer.presharedKey}`,
    `Endpoint = ${host}:${peer.port}`,
    `AllowedIPs = ${peer.allowedIps.join(', ')}`,
    `PersistentKeepalive = ${peer.keepaliveSeconds === 0 ? 'off' : peer.keepaliveSeconds}`,
    '',
  ].join('\n')
}

/** Gives the interface exactly this key and peer; the text goes through a file, for an argument would be seen by all. */
export async function applyWireGuard(exec: Exec, name: string, path: string, text: string): Promise<void> {
  await writePrivate(path, text)
  try {
    const { code, stderr } = await exec.run('wg', ['syncconf', name, path])
    if (code === 127) throw wireguardToolsMissing()
    if (code !== 0) throw new AgentError('failed', `wg syncconf: ${stderr.trim()}`)
  } finally {
    await rm(path, { force: true })
  }
}

export function wireguardToolsMissing(): AgentError {
  return new AgentError('tools-missing', 'wg is missing. Install it: apt-get install wireguard-tools')
}

export interface PeerState {
  publicKey: string
  /** Where the peer was last seen, `address:port`; null before the first packet. */
  endpoint: string | null
  allowedIps: string[]
  /** ms since the epoch, or null: never. */
  latestHandshake: number | null
  rx: number
  tx: number
  keepaliveSeconds: number
}

export interface TunnelState {
  /** Our own, and the UDP port we listen on. */
  publicKey: string
  listenPort: number
  peer: PeerState | undefined
}

/** @returns what the interface holds, or undefined when it is not there. */
export async function findTunnelState(exec: Exec, name: string): Promise<TunnelState | undefined> {
  const { code, stdout } = await exec.run('wg', ['show', name, 'dump'])
  if (code === 127) throw wireguardToolsMissing()
  if (code !== 0) return undefined
  const [first = '', second] = stdout.trim().split('\n')
  const [, publicKey = '', listenPort = '0'] = first.split('\t')
  return {
    publicKey,
    listenPort: Number(listenPort),
    peer: second === undefined ? undefined : parsePeer(second),
  }
}

function parsePeer(line: string): PeerState {
  const [publicKey = '', , endpoint = '', allowed = '', handshake = '', rx = '', tx = '', keepalive = ''] =
    line.split('\t')
  return {
    publicKey,
    endpoint: endpoint === '(none)' ? null : endpoint,
    allowedIps: allowed === '(none)' ? [] : allowed.split(','),
    latestHandshake: Number(handshake) > 0 ? Number(handshake) * 1000 : null,
    rx: Number(rx),
    tx: Number(tx),
    keepaliveSeconds: keepalive === 'off' ? 0 : Number(keepalive),
  }
}

/** True when the interface holds what is wanted; the endpoint may have moved by itself and is not looked at. */
export function isInForce(wanted: Wanted, publicKey: string, state: TunnelState | undefined): boolean {
  const { peer } = wanted
  return (
    state?.publicKey === publicKey &&
    state.peer?.publicKey === peer.publicKey &&
    state.peer.keepaliveSeconds === peer.keepaliveSeconds &&
    sameSet(state.peer.allowedIps, peer.allowedIps)
  )
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return [...new Set(a)].sort().join() === [...new Set(b)].sort().join()
}
