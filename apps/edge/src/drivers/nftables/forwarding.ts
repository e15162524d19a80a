import type { Exec } from '@postern/host/processes/exec'
import { errorFrom } from '../part.ts'
import { readSysctl, writeSysctl } from '../sysctl.ts'
import { parseNetconf, parseRoutes } from '../tunnel/ip-json.ts'

const TIMEOUT = { timeoutMs: 5000 }
const LOOPBACK = '/proc/sys/net/ipv4/conf/all/route_localnet'
const COUNTING = '/proc/sys/net/netfilter/nf_conntrack_acct'
/** For the kernel any number but 0 means yes; this one marks that we have set it. */
const OURS = '2'
const THEIRS = '1'

interface Family {
  /** As nft writes it. */
  protocol: 'ip' | 'ip6'
  forwarding: string
  /** Whether packets that only cross a bridge of this machine pass the table too. */
  bridged: string
}
const BRIDGE = '/proc/sys/net/bridge/bridge-nf-call'
const IPV4 = {
  protocol: 'ip',
  forwarding: '/proc/sys/net/ipv4/ip_forward',
  bridged: `${BRIDGE}-iptables`,
} as const
const IPV6 = {
  protocol: 'ip6',
  forwarding: '/proc/sys/net/ipv6/conf/all/forwarding',
  bridged: `${BRIDGE}-ip6tables`,
} as const
const FAMILIES: readonly Family[] = [IPV4, IPV6]

/**
 * The families of which the table lets nothing pass between other networks, because the kernel forwards only for us,
 * or is about to.
 * @throws PartMissingError, PartFailedError
 */
export async function findGuarded(exec: Exec, isNeeded: boolean, table: string): Promise<string[]> {
  const guarded: string[] = []
  for (const family of FAMILIES) {
    const value = await readSysctl(exec, family.forwarding)
    const isOurs = value === OURS || (value === '0' && isNeeded && !(await forwardsAlready(exec, family)))
    if (isOurs && (await readSysctl(exec, family.bridged)) !== '1') guarded.push(family.protocol)
  }
  // For us the tunnel of another installation is just another network, and so is ours for it.
  return guarded.length > 0 && (await hasOtherTable(exec, table)) ? [] : guarded
}

/**
 * Lets the kernel forward packets, marked as ours unless somebody else wants it already. It stays on while the table
 * exists, which guards it.
 * @throws PartMissingError, PartFailedError
 */
export async function enableForwarding(exec: Exec): Promise<void> {
  for (const family of FAMILIES) {
    const value = await readSysctl(exec, family.forwarding)
    if (family === IPV6 && value !== undefined) await keepRouterAdvertisements(exec)
    if (value !== '0') continue
    await writeSysctl(exec, family.forwarding, (await forwardsAlready(exec, family)) ? THEIRS : OURS)
  }
}

/**
 * Call it before removing the table, which guards what we switched on.
 * @throws PartMissingError, PartFailedError
 */
export async function disableForwarding(exec: Exec, table: string): Promise<void> {
  if (await hasOtherTable(exec, table)) return
  for (const { forwarding } of FAMILIES)
    if ((await readSysctl(exec, forwarding)) === OURS) await writeSysctl(exec, forwarding, '0')
}

/** The settings as text, to compare: there is no event when somebody changes them. */
export async function readForwarding(exec: Exec): Promise<string> {
  const paths = FAMILIES.flatMap(({ forwarding, bridged }) => [forwarding, bridged])
  return (await Promise.all(paths.map((path) => readSysctl(exec, path)))).join(' ')
}

/** Whether a single interface forwards while not all do. Only IPv4 can set that for each interface. */
async function forwardsAlready(exec: Exec, { protocol }: Family): Promise<boolean> {
  if (protocol !== 'ip') return false
  const { code, stdout, stderr } = await exec.run('ip', ['-4', '-j', 'netconf'], TIMEOUT)
  if (code !== 0) throw errorFrom('ip', stderr)
  return parseNetconf(stdout).some(({ forwarding }) => forwarding)
}

/**
 * Lets packets from outside be routed to 127.0.0.0/8 of this machine, which the table guards, or undoes that.
 * @throws PartMissingError, PartFailedError
 */
export async function routeToLoopback(exec: Exec, isWanted: boolean, table: string): Promise<void> {
  const value = await readSysctl(exec, LOOPBACK)
  if (isWanted && value === '0') await writeSysctl(exec, LOOPBACK, OURS)
  if (!isWanted && value === OURS && !(await hasOtherTable(exec, table)))
    await writeSysctl(exec, LOOPBACK, '0')
}

/** Whether another installation on this machine has a table: it may need the setting, and guards it as ours does. */
async function hasOtherTable(exec: Exec, table: string): Promise<boolean> {
  const { stdout } = await exec.run('nft', ['list', 'tables'], TIMEOUT)
  return [...stdout.matchAll(/^table inet (postern(?:_\S+)?)$/gm)].some(([, name]) => name !== table)
}

/** Makes connection tracking count bytes, for new flows only. */
export async function countBytes(exec: Exec): Promise<void> {
  if ((await readSysctl(exec, COUNTING)) === '0') await writeSysctl(exec, COUNTING, '1')
}

/** A forwarding kernel ignores router advertisements by default, and would lose its own default route. */
async function keepRouterAdvertisements(exec: Exec): Promise<void> {
  const { code, stdout } = await exec.run('ip', ['-6', '-j', 'route', 'show', 'default'], TIMEOUT)
  const routes = code === 0 ? parseRoutes(stdout) : []
  const learned = routes.filter((route) => route.protocol === 'ra' && /^[\w.@-]+$/.test(route.dev ?? ''))
  for (const device of new Set(learned.map((route) => route.dev))) {
    const path = `/proc/sys/net/ipv6/conf/${device}/accept_ra`
    if ((await readSysctl(exec, path)) === '1') await writeSysctl(exec, path, '2')
  }
}
