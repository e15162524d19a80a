import type { Exec } from '@postern/host/exec'
import { readSysctl, writeSysctl } from '../sysctl.ts'
import { parseRoutes } from '../tunnel/ip-json.ts'

const TIMEOUT = { timeoutMs: 5000 }
const IPV4 = '/proc/sys/net/ipv4/ip_forward'
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
