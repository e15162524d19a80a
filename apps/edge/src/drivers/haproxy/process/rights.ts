import { readFile } from 'node:fs/promises'

/** Bits of /usr/include/linux/capability.h. */
const CAP_SETGID = 6n
const CAP_SETUID = 7n

/** What this process may become, as the kernel tells it. */
export interface Rights {
  /** Whether HAProxy can become a user of its own. In a container root may not change users (0042). */
  mayChangeUser: boolean
  /** Whether rights that a program gives up stay given up in programs that it executes, even for root. */
  keepsLess: boolean
}

/** @param status the text of /proc/self/status */
export function parseRights(status: string): Rights {
  const field = (name: string) => new RegExp(`^${name}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0'
  const effective = BigInt(`0x${field('CapEff')}`)
  const has = (bit: bigint) => (effective & (1n << bit)) !== 0n
  return {
    mayChangeUser: has(CAP_SETUID) && has(CAP_SETGID),
    keepsLess: field('NoNewPrivs') === '1',
  }
}

export async function readRights(): Promise<Rights> {
  return parseRights(await readFile('/proc/self/status', 'utf8'))
}

/** Root would keep all rights except those given up. */
export class RightsError extends Error {
  readonly code = 'rights'
}

/**
 * The argv that starts HAProxy. Root that cannot become another user first gives up all rights but that to open
 * ports below 1024.
 * @throws RightsError where a program cannot give up rights
 */
export function haproxyArgv(args: readonly string[], isRoot: boolean, rights: Rights): [string, string[]] {
  if (!isRoot || rights.mayChangeUser) return ['haproxy', [...args]]
  if (!rights.keepsLess)
    throw new RightsError(
      'HAProxy would keep all rights of the edge: start the container with no-new-privileges',
    )
  return ['capsh', ['--caps=cap_net_bind_service=ep', '--shell=/usr/bin/env', '--', 'haproxy', ...args]]
}
