import type { Exec } from '@postern/host/processes/exec'
import { errorFrom, PartFailedError } from '../part.ts'
import { parseLinks } from './ip-json.ts'

/**
 * Several installations can share a machine: the alias of a tunnel's interface names the data directory of the one
 * that made it, so that no other adopts or removes it. One without an alias is from a release before aliases.
 */
export interface OwnTunnel {
  exec: Exec
  /** Its name in the settings. */
  interface: string
  dataDir: string
}

const TIMEOUT = { timeoutMs: 10_000 }
const PREFIX = 'postern:'
const NAME = /^[a-z][a-z0-9-]{0,14}$/

/** @throws PartFailedError, PartMissingError */
export async function markAsOwn({ exec, interface: name, dataDir }: OwnTunnel): Promise<void> {
  const { code, stderr } = await exec.run(
    'ip',
    ['link', 'set', 'dev', name, 'alias', PREFIX + dataDir],
    TIMEOUT,
  )
  if (code !== 0) throw errorFrom('Making the tunnel', stderr)
}

/** @throws PartFailedError when the interface is the tunnel of another installation */
export async function assertNotOfOthers(tunnel: OwnTunnel): Promise<void> {
  const owner = (await listOwners(tunnel.exec)).get(tunnel.interface)
  if (owner !== undefined && owner !== tunnel.dataDir)
    throw new PartFailedError(
      `${tunnel.interface} is the tunnel of the installation in ${owner}: set POSTERN_TUNNEL_INTERFACE to another name.`,
    )
}

/** The interfaces of this installation, including one from another setting. */
export async function listOwnInterfaces({ exec, interface: name, dataDir }: OwnTunnel): Promise<string[]> {
  const owners = await listOwners(exec)
  const marked = [...owners].flatMap(([each, owner]) => (owner === dataDir ? [each] : []))
  return owners.has(name) ? marked : [...marked, name]
}

/** @returns the data directory by the name of the interface, for those that are marked */
async function listOwners(exec: Exec): Promise<Map<string, string>> {
  // If `ip` is missing or hangs, HAProxy can still work, and the tunnel's part reports why it cannot.
  const answer = await exec.run('ip', ['-j', 'link', 'show'], { timeoutMs: 2000 }).catch(() => undefined)
  const links = answer?.code === 0 ? parseLinks(answer.stdout) : []
  return new Map(
    links.flatMap(({ ifname = '', ifalias = '' }) =>
      NAME.test(ifname) && ifalias.startsWith(PREFIX) ? [[ifname, ifalias.slice(PREFIX.length)]] : [],
    ),
  )
}
