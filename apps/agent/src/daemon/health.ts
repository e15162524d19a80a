import { connect } from 'node:net'
import { LIMITS } from '@postern/contract/limits'
import { codeOf } from '@postern/host/errors'
import type { WgPeer } from '@postern/host/wg-dump'
import type { AgentState, DaemonStatus } from '../store.ts'
import type { WantedPeer } from '../wanted.ts'
import type { Endpoint } from './endpoint.ts'

export interface Health {
  state: Extract<AgentState, 'online' | 'no-handshake' | 'no-traffic'>
  problem: string | null
}

interface JudgedEdge {
  peer: WantedPeer
  /** There is no other. */
  isOnly: boolean
  endpoint: Pick<Endpoint, 'current'>
}

/** The state of one edge by what the tunnel shows: a fresh handshake, and an answer from the edge. */
export function judgeHealth(
  { peer, isOnly, endpoint }: JudgedEdge,
  found: WgPeer | undefined,
  isAnswered: boolean,
  now: number,
): Health {
  const { name, port, edgeAddress } = peer
  const age = found?.latestHandshake ? now - found.latestHandshake : Number.POSITIVE_INFINITY
  const address = endpoint.current() ?? peer.host
  const at = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  if (age >= LIMITS.handshakeStale)
    return {
      state: 'no-handshake',
      problem: isOnly
        ? `The server does not answer at ${at} over UDP. Open UDP port ${port} in the server's firewall, and allow outgoing UDP here`
        : `The edge ${name} does not answer at ${at} over UDP. Open UDP port ${port} in its firewall, and allow outgoing UDP here`,
    }
  if (isAnswered) return { state: 'online', problem: null }
  const end = isOnly ? at : `the edge ${name} at ${at}`
  return {
    state: 'no-traffic',
    problem: `The tunnel handshake with ${end} works, but ${edgeAddress} does not answer inside the tunnel`,
  }
}

/**
 * Whether the tunnel to one of these carries traffic: only the other end can accept or refuse a connection. Tries
 * several ports, because the installation's HTTPS port may differ.
 */
export async function isAnswering(
  addresses: readonly string[],
  ports: readonly number[],
  timeoutMs: number,
): Promise<boolean> {
  const knocks = addresses.flatMap((address) =>
    [...new Set(ports)].map((port) => knock(address, port, timeoutMs)),
  )
  return Promise.any(knocks).then(
    () => true,
    () => false,
  )
}

/** The addresses of the edges that the daemon found online. */
export function onlineEdges({ state, edges, edgeAddress }: DaemonStatus): string[] {
  if (state !== 'online') return []
  return (
    edges?.flatMap((edge) => (edge.state === 'online' ? edge.address : [])) ??
    (edgeAddress === null ? [] : [edgeAddress])
  )
}

function knock(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')))
    socket.on('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.on('error', (error) => (codeOf(error) === 'ECONNREFUSED' ? resolve() : reject(error)))
  })
}

/** The edge uses the same HTTPS port inside the tunnel as outside; 443 by default. */
export function probePorts(server: URL): number[] {
  return [443, Number(server.port) || 443]
}
