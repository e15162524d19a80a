import type { Exec } from '@postern/host/processes/exec'
import { errorFrom } from '../part.ts'
import { destinationOf, parseRoutes } from '../tunnel/ip-json.ts'

/**
 * The IPv6 networks that this machine itself is in, those of its containers among them. Their addresses are of the
 * internet, but their hosts often rely on a router that lets nobody in from there.
 */
export interface Neighbours {
  /** While they cannot be read, those that were read last; before the first time, everything. */
  read(): Promise<readonly string[]>
}

interface Options {
  exec: Exec
  interface: string
}

/** By whom the kernel has a route to such a network: by an address of its own, or by a router that announces it. */
const BY_ADDRESS = ['kernel', 'ra']
const EVERYTHING = ['::/0']

export function createNeighbours(options: Options): Neighbours {
  let last: readonly string[] = EVERYTHING
  return {
    async read() {
      last = await observe(options).catch(() => last)
      return last
    },
  }
}

/** @throws PartFailedError, ProgramMissingError */
async function observe({ exec, interface: tunnel }: Options): Promise<string[]> {
  const { code, stdout, stderr } = await exec.run('ip', ['-j', '-6', 'route', 'show'], { timeoutMs: 2000 })
  if (code !== 0) throw errorFrom('ip', stderr)
  const own = parseRoutes(stdout.trim()).filter(
    ({ dev, gateway, protocol = '' }) =>
      dev !== tunnel && gateway === undefined && BY_ADDRESS.includes(protocol),
  )
  return own.flatMap((route) => destinationOf(route) ?? [])
}
