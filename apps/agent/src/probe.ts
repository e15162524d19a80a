import { connect } from 'node:net'
import { codeOf } from './errors.ts'

/**
 * Whether the tunnel carries traffic: somebody at the other end accepts a connection or refuses it, which only
 * that end can do. Several ports, because the installation may have another one for HTTPS.
 */
export async function isAnswering(
  address: string,
  ports: readonly number[],
  timeoutMs: number,
): Promise<boolean> {
  const knocks = [...new Set(ports)].map((port) => knock(address, port, timeoutMs))
  return Promise.any(knocks).then(
    () => true,
    () => false,
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

/** The edge answers inside the tunnel where it answers outside; 443 unless the installation says otherwise. */
export function probePorts(server: URL): number[] {
  return [443, Number(server.port) || 443]
}
