import type { Exec } from '@postern/host/exec'
import { readSysctl, writeSysctl } from '../sysctl.ts'
import { parseRoutes } from '../tunnel/ip-json.ts'

const TIMEOUT = { timeoutMs: 5000 }
const IPV4 = '/proc/sys/net/ipv4/ip_forward'
const LOOPBACK = '/proc/sys/net/ipv4/conf/all/route_localnet'
const OURS = '2'
const COUNTING = '/proc/sys/net/netfilter/nf_conntrack_acct'
const IPV6 = '/proc/sys/net/ipv6/conf/all/forwarding'

/**
 * Lets the kernel forward packets. It is never switched off again, because other programs may need it by now.
 * @throws PartMissingError, PartFailedError
 */
export async function enableForwarding(exec: Exec): Promise<void> {
  await writeSysctl(exec, IPV4, '1')
  if ((await readSysctl(exec, IPV6)) === undefined) return
  await keepRouterAdvertisements(exec)
  await writeSysctl(exec, IPV6, '1')
}

/** Whether the kernel still forwards: no event tells when somebody switches it off. */
export async function isForwarding(exec: Exec): Promise<boolean> {
  return (await readSysctl(exec, IPV4)) === '1' && (await readSysctl(exec, IPV6)) !== '0'
}

/**
 * Lets what comes from outside reach 127.0.0.0/8 of this machine, against which the table guards it, or takes that
 * away again. Any number but 0 means yes to the kernel; ours says that nobody else has set it.
 * @throws PartMissingError, PartFailedError
 */
export async function routeToLoopback(exec: Exec, isWanted: boolean, table: string): Promise<void> {
  const value = await readSysctl(exec, LOOPBACK)
  if (isWanted && value === '0') await writeSysctl(exec, LOOPBACK, OURS)
  if (!isWanted && value === OURS && !(await hasOtherTable(exec, table)))
    await writeSysctl(exec, LOOPBACK, '0')
}

/** Whether another installation on this machine has a table, which may need it and guards against it as ours does. */
async function hasOtherTable(exec: Exec, table: string): Promise<boolean> {
  const { stdout } = await exec.run('nft', ['list', 'tables'], TIMEOUT)
  return [...stdout.matchAll(/^table inet (postern(?:_\S+)?)$/gm)].some(([, name]) => name !== table)
}

/** Lets connection tracking count bytes; of flows that are there already it does not. */
export async function countBytes(exec: Exec): Promise<void> {
  if ((await readSysctl(exec, COUNTING)) === '0') await writeSysctl(exec, COUNTING, '1')
}

/** A forwarding kernel ignores router advertisements unless told otherwise, and would lose its own way out. */
async function keepRouterAdvertisements(exec: Exec): Promise<void> {
  const { code, stdout } = await exec.run('ip', ['-6', '-j', 'route', 'show', 'default'], TIMEOUT)
  const routes = code === 0 ? parseRoutes(stdout) : []
  const learned = routes.filter((route) => route.protocol === 'ra' && /^[\w.@-]+$/.test(route.dev ?? ''))
  for (const device of new Set(learned.map((route) => route.dev))) {
    const path = `/proc/sys/net/ipv6/conf/${device}/accept_ra`
    if ((await readSysctl(exec, path)) === '1') await writeSysctl(exec, path, '2')
  }
}
