import { rm } from 'node:fs/promises'
import type { Exec } from '@postern/host/processes/exec'
import { parseWgDump, type WgDump, type WgPeer } from '@postern/host/wg-dump'
import { AgentError } from '../errors.ts'
import { writePrivate } from '../files.ts'
import { runTool } from '../tools.ts'
import type { Wanted, WantedPeer } from '../wanted.ts'
import { findLink } from './link.ts'

/** A peer with its resolved endpoint; undefined while there is none. */
export type ResolvedPeer = WantedPeer & { address: string | undefined }

/** One peer, for a file of `wg`. A peer that has no endpoint keeps the one that it has in WireGuard. */
export function renderPeer(peer: ResolvedPeer): string {
  const { address = '' } = peer
  const host = address.includes(':') ? `[${address}]` : address
  return [
    '[Peer]',
    `PublicKey = ${peer.publicKey}`,
    `PresharedKey = ${peer.presharedKey}`,
    ...(address === '' ? [] : [`Endpoint = ${host}:${peer.port}`]),
    `AllowedIPs = ${peer.allowedIps.join(', ')}`,
    `PersistentKeepalive = ${peer.keepaliveSeconds === 0 ? 'off' : peer.keepaliveSeconds}`,
    '',
  ].join('\n')
}

/**
 * The file for `wg syncconf`. Pass the present `listenPort`: with a new one the path through a firewall is lost.
 * 0: any.
 */
export function renderWireGuard(
  peers: readonly ResolvedPeer[],
  privateKey: string,
  listenPort: number,
): string {
  const own = ['[Interface]', `PrivateKey = ${privateKey}`, `ListenPort = ${listenPort}`, '']
  return [own.join('\n'), ...peers.map(renderPeer)].join('\n')
}

/**
 * `syncconf`: exactly this key and these peers; `addconf`: these peers, and the others stay untouched. By a file,
 * because every user can see arguments.
 */
export async function applyWireGuard(
  exec: Exec,
  how: 'syncconf' | 'addconf',
  name: string,
  path: string,
  text: string,
): Promise<void> {
  await writePrivate(path, text)
  try {
    await wg(exec, how, name, path)
  } finally {
    await rm(path, { force: true })
  }
}

/** @throws AgentError */
export async function wg(exec: Exec, ...args: string[]): Promise<void> {
  const { code, stderr } = await runTool(exec, 'wg', args)
  if (code !== 0) throw new AgentError('failed', `wg ${args[0]}: ${stderr.trim()}`)
}

export interface TunnelState extends Pick<WgDump, 'publicKey' | 'listenPort'> {
  peers: WgPeer[]
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
  return { publicKey, listenPort, peers }
}

/** True when the interface has the wanted state. Endpoints do not count, because they may have roamed. */
export function isInForce(wanted: Wanted, publicKey: string, state: TunnelState | undefined): boolean {
  return (
    state?.publicKey === publicKey &&
    state.peers.length === wanted.peers.length &&
    wanted.peers.every((peer) => isPeerInForce(peer, state))
  )
}

export function isPeerInForce(peer: WantedPeer, state: TunnelState): boolean {
  const found = state.peers.find(({ publicKey }) => publicKey === peer.publicKey)
  return (
    found?.presharedKey === peer.presharedKey &&
    found.keepaliveSeconds === peer.keepaliveSeconds &&
    sameSet(found.allowedIps, peer.allowedIps)
  )
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return [...new Set(a)].sort().join() === [...new Set(b)].sort().join()
}
