import { rm } from 'node:fs/promises'
import type { Exec } from '@postern/host/processes/exec'
import { parseWgDump, type WgDump, type WgPeer } from '@postern/host/wg-dump'
import { AgentError } from '../errors.ts'
import { writePrivate } from '../files.ts'
import { runTool } from '../tools.ts'
import type { Wanted } from '../wanted.ts'
import { findLink } from './link.ts'

/**
 * The file for `wg syncconf`. `address` is the resolved endpoint. Pass the present `listenPort`: with a new one the
 * path through a firewall is lost. 0: any.
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

/** Gives the interface exactly this key and peer, by a file, because every user can see arguments. */
export async function applyWireGuard(exec: Exec, name: string, path: string, text: string): Promise<void> {
  await writePrivate(path, text)
  try {
    const { code, stderr } = await runTool(exec, 'wg', ['syncconf', name, path])
    if (code !== 0) throw new AgentError('failed', `wg syncconf: ${stderr.trim()}`)
  } finally {
    await rm(path, { force: true })
  }
}

export interface TunnelState extends Pick<WgDump, 'publicKey' | 'listenPort'> {
  peer: WgPeer | undefined
}

/**
 * @returns the interface's present state, or undefined when it does not exist or has no alias yet. It gets the alias
 * when wireguard-go listens: `wg` deletes a socket on which wireguard-go is not listening yet, and wireguard-go then
 * exits.
 */
export async function findTunnelState(exec: Exec, name: string): Promise<TunnelState | undefined> {
  if ((await findLink(exec, name))?.ifalias === undefined) return undefined
  const { code, stdout } = await runTool(exec, 'wg', ['show', name, 'dump'])
  if (code !== 0) return undefined
  const { publicKey, listenPort, peers } = parseWgDump(stdout)
  return { publicKey, listenPort, peer: peers[0] }
}

/** True when the interface has the wanted state. The endpoint does not count, because it may have roamed. */
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
