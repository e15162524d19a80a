import type { Exec } from '@postern/host/processes/exec'
import { askSocket } from '@postern/host/socket'
import { parseWgDump, type WgDump, type WgPeer } from '@postern/host/wg-dump'
import { parseLinks } from './ip-json.ts'

/** An interface of WireGuard; the keys in it are secret. */
export type Tunnel = Omit<WgDump, 'publicKey'>

const LIMITS = { timeoutMs: 5000, mostBytes: 64 * 1024 * 1024 }

/**
 * The present state of WireGuard; undefined when nothing of that name answers. It runs `wg` only for the kernel's
 * interfaces: `wg` deletes a socket on which wireguard-go is not listening yet, and wireguard-go then exits.
 * @throws ProgramMissingError
 */
export async function findTunnel(exec: Exec, name: string): Promise<Tunnel | undefined> {
  const socket = `/var/run/wireguard/${name}.sock`
  const answer = await askSocket(socket, 'get=1\n\n', LIMITS).catch(() => undefined)
  if (answer !== undefined) return parseUapi(answer)
  if ((await findKind(exec, name)) !== 'wireguard') return undefined
  const { code, stdout } = await exec.run('wg', ['show', name, 'dump'], { timeoutMs: LIMITS.timeoutMs })
  return code === 0 ? parseWgDump(stdout) : undefined
}

/** @returns `wireguard` for the kernel's, `tun` for wireguard-go's; undefined when there is no such interface */
export async function findKind(exec: Exec, name: string): Promise<string | undefined> {
  const { timeoutMs } = LIMITS
  const { code, stdout } = await exec.run('ip', ['-j', '-d', 'link', 'show', 'dev', name], { timeoutMs })
  if (code !== 0) return undefined
  const [link] = parseLinks(stdout)
  return link && (link.linkinfo?.info_kind ?? 'hardware')
}

/** @see https://www.wireguard.com/xplatform/#configuration-protocol: lines `key=value`, each peer from its public key on. */
function parseUapi(text: string): Tunnel | undefined {
  const tunnel: Tunnel = { privateKey: '', listenPort: 0, peers: [] }
  let peer: WgPeer | undefined
  let isWhole = false
  for (const line of text.split('\n')) {
    const [key = '', value = ''] = splitOnce(line)
    if (key === 'errno') isWhole = value === '0'
    else if (key === 'public_key') {
      peer = { ...NEW_PEER, allowedIps: [], publicKey: toBase64(value) }
      tunnel.peers.push(peer)
    } else if (peer) readPeer(peer, key, value)
    else if (key === 'private_key') tunnel.privateKey = toBase64(value)
    else if (key === 'listen_port') tunnel.listenPort = Number(value)
  }
  for (const { allowedIps } of tunnel.peers) allowedIps.sort()
  return isWhole ? tunnel : undefined
}

const NEW_PEER: WgPeer = {
  publicKey: '',
  presharedKey: '(none)',
  endpoint: null,
  allowedIps: [],
  latestHandshake: null,
  rx: 0,
  tx: 0,
  keepaliveSeconds: 0,
}

function readPeer(peer: WgPeer, key: string, value: string): void {
  if (key === 'preshared_key' && !/^0*$/.test(value)) peer.presharedKey = toBase64(value)
  else if (key === 'endpoint') peer.endpoint = value
  else if (key === 'allowed_ip') peer.allowedIps.push(value)
  else if (key === 'last_handshake_time_sec') peer.latestHandshake = Number(value) * 1000 || null
  else if (key === 'rx_bytes') peer.rx = Number(value)
  else if (key === 'tx_bytes') peer.tx = Number(value)
  else if (key === 'persistent_keepalive_interval') peer.keepaliveSeconds = Number(value)
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf('=')
  return [line.slice(0, at), line.slice(at + 1)]
}

const toBase64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
