import { existsSync, readFileSync } from 'node:fs'

/** What Postern may do on this machine. */
export interface Machine {
  isRoot: boolean
  isLinux: boolean
  /** Capabilities that the edge needs and root lacks here, as in many containers. */
  missingCapabilities: string[]
}

/** The capabilities that starter and edge need, as bits of /usr/include/linux/capability.h. */
const NEEDED = {
  CAP_CHOWN: 0,
  CAP_SETGID: 6,
  CAP_SETUID: 7,
  CAP_NET_BIND_SERVICE: 10,
  CAP_NET_ADMIN: 12,
}

export function observeMachine(): Machine {
  const isRoot = process.getuid?.() === 0
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  return {
    isRoot,
    isLinux: process.platform === 'linux',
    missingCapabilities: isRoot ? listMissingCapabilities(status) : [],
  }
}

/** @param status the text of /proc/self/status */
export function listMissingCapabilities(status: string): string[] {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1]
  if (!effective) return []
  const bits = BigInt(`0x${effective}`)
  return Object.entries(NEEDED)
    .filter(([, bit]) => (bits & (1n << BigInt(bit))) === 0n)
    .map(([name]) => name)
}

/** Why the edge cannot run here, or undefined when it can. */
export function findEdgeObstacle({ isLinux, isRoot }: Machine): string | undefined {
  if (!isLinux)
    return 'HAProxy, WireGuard and nftables run on Linux only, so no service is reachable from outside'
  if (!isRoot)
    return 'ports below 1024, WireGuard and nftables need root, so no service is reachable from outside: start Postern with sudo'
  return undefined
}
