import type { Exec } from '@postern/host/processes/exec'
import { errorFrom } from '../part.ts'
import { destinationOf, type IpRoute, parseRoutes } from './ip-json.ts'

/**
 * A route of last resort for each network that is reached through the tunnel: while the tunnel is away, packets for it
 * end here. By the machine's default route they would leave it unencrypted, for whoever has the same addresses there.
 * Every other route counts before it: the tunnel's own, and one of the machine for a part of the network.
 */
export interface Barriers {
  /** Sets the networks to guard. Missing routes are added before anything is sent there. */
  want(networks: readonly string[]): Promise<void>
  /** The networks that were set last. */
  wanted(): readonly string[]
  /** Records the routes that the tunnel's last apply has left. */
  note(networks: readonly string[]): void
}

interface Options {
  exec: Exec
  interface: string
}

const TIMEOUT = { timeoutMs: 2000 }

export function createBarriers({ exec, interface: name }: Options): Barriers {
  let last: readonly string[] = []
  let known: ReadonlySet<string> = new Set()
  return {
    async want(networks) {
      last = networks
      const missing = networks.filter((each) => !known.has(each))
      if (missing.length === 0) return
      known = new Set([...known, ...missing])
      // It replaces one with the same metric only, which is ours.
      const lines = missing.map((each) => ['route', 'replace', ...barrierTo(each, name)].join(' '))
      const input = `${lines.join('\n')}\n`
      // `-force` adds the others even without IPv6. The tunnel's apply adds them, too, and reports failures.
      await exec.run('ip', ['-force', '-batch', '-'], { ...TIMEOUT, input }).catch(() => undefined)
    },
    wanted: () => last,
    note(networks) {
      known = new Set([...networks, ...last])
    },
  }
}

/** The arguments for `ip route`. */
export function barrierTo(network: string, tunnel: string): string[] {
  return ['unreachable', network, 'metric', String(metricOf(tunnel)), 'proto', 'static']
}

/** The networks that have such a route. */
export function barriersAmong(routes: readonly IpRoute[], tunnel: string): string[] {
  return routes.filter((route) => isBarrier(route, tunnel)).flatMap((route) => destinationOf(route) ?? [])
}

export function isBarrier({ type, metric }: IpRoute, tunnel: string): boolean {
  return type === 'unreachable' && metric === metricOf(tunnel)
}

/** @throws PartFailedError, PartMissingError */
export async function removeBarriers({ exec, interface: name }: Options): Promise<void> {
  const { code, stdout, stderr } = await exec.run(
    'ip',
    ['-j', '-d', 'route', 'show', 'table', 'all'],
    TIMEOUT,
  )
  if (code !== 0) throw errorFrom('ip', stderr)
  for (const network of barriersAmong(parseRoutes(stdout), name))
    await exec.run('ip', ['route', 'del', ...barrierTo(network, name)], TIMEOUT)
}

/** Above all metrics in common use, and different for each interface, so that it identifies its owner. */
const [FIRST_METRIC, METRICS] = [0xf000_0000, 0x0f00_0000]

/** An FNV-1a hash of the interface's name. */
function metricOf(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return FIRST_METRIC + ((hash >>> 0) % METRICS)
}
