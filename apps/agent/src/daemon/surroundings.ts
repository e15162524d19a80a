import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_EVERY = 1000
/** Of wireguard-go, which answers within a millisecond. */
const PATIENCE = 2000
const MISSES = 2

export interface SurroundingsOptions {
  /** The tunnel's interface, whose own addresses and routes do not count. */
  tunnel: string
  /** This machine has other addresses or routes. */
  onMoved(): void
  /** The userspace tunnel runs, and does not answer. */
  onHung(): Promise<void>
}

/**
 * Looks each second for what no packet tells: that this machine moved to another network, after which the server knows
 * its new address only from a packet; and that wireguard-go hangs. Until the signal.
 */
export async function watchSurroundings(options: SurroundingsOptions, signal: AbortSignal): Promise<void> {
  let before = describePlace(options.tunnel)
  let misses = 0
  while (!signal.aborted) {
    await pause(LOOK_EVERY, undefined, { signal }).catch(() => undefined)
    const place = describePlace(options.tunnel)
    if (place !== before) options.onMoved()
    before = place
    misses = (await isHung(options.tunnel)) ? misses + 1 : 0
    if (misses < MISSES) continue
    misses = 0
    await options.onHung()
  }
}

/** Global addresses and default routes: what containers come and go with, like fe80:: of their links, does not count. */
function describePlace(tunnel: string): string {
  const isElsewhere = (name: string, cidr: string | null) =>
    name === tunnel || cidr?.startsWith('fe80:') !== false
  const addresses = Object.entries(networkInterfaces()).flatMap(([name, list]) =>
    (list ?? []).flatMap(({ cidr }) => (isElsewhere(name, cidr) ? [] : `${name} ${cidr}`)),
  )
  const routes = readFileSync('/proc/net/route', 'utf8').split('\n')
  return [
    ...addresses,
    ...routes.filter((line) => !line.startsWith(`${tunnel}\t`) && line.split('\t')[1] === '00000000'),
  ].join('\n')
}

/** Asks by the socket of a userspace tunnel. WireGuard in the kernel has none. */
function isHung(tunnel: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(`/var/run/wireguard/${tunnel}.sock`)
    const end = (hung: boolean) => {
      socket.destroy()
      resolve(hung)
    }
    socket.setTimeout(PATIENCE, () => end(true))
    socket.on('error', () => end(false))
    socket.on('data', () => end(false))
    socket.on('close', () => end(false))
    socket.write('get=1\n\n')
  })
}
