import { existsSync } from 'node:fs'
import { installationPaths } from '@postern/contract/installation'
import type { Settings } from '@postern/contract/settings'
import { type Binding, findBindError } from './bind.ts'
import { CommandError } from './errors.ts'
import { type Holder, listHolders } from './port-holders.ts'

interface PortUse extends Binding {
  setting: string
  /** Whether the holder is this installation's own data plane, which outlives the starter. */
  isOurs: (holder: Holder | undefined) => boolean
}

/** The ports that the server takes, and with the edge those of the data plane. */
function listPorts(settings: Settings, withEdge: boolean): PortUse[] {
  const { haproxyDir } = installationPaths(settings.POSTERN_DATA_DIR)
  const device = settings.POSTERN_TUNNEL_INTERFACE
  const isOurProxy = (holder?: Holder) => holder?.command.includes(`${haproxyDir}/`) ?? false
  // The kernel's own WireGuard holds its port without a process.
  const isOurTunnel = (holder?: Holder) =>
    holder ? holder.command.split(' ').includes(device) : existsSync(`/sys/class/net/${device}`)
  const at = (name: 'CONSOLE' | 'HTTP' | 'HTTPS' | 'TUNNEL', rest: Omit<PortUse, 'setting' | 'port'>) => ({
    setting: `POSTERN_${name}_PORT`,
    port: settings[`POSTERN_${name}_PORT`],
    ...rest,
  })
  const console = at('CONSOLE', { protocol: 'tcp', address: '127.0.0.1', isOurs: () => false })
  if (!withEdge) return [console]
  return [
    console,
    at('HTTP', { protocol: 'tcp', address: '0.0.0.0', isOurs: isOurProxy }),
    at('HTTPS', { protocol: 'tcp', address: '0.0.0.0', isOurs: isOurProxy }),
    at('TUNNEL', { protocol: 'udp', address: '0.0.0.0', isOurs: isOurTunnel }),
  ]
}

/** @throws CommandError that names the port, who holds it, and the setting. */
export async function assertPortsFree(settings: Settings, withEdge: boolean): Promise<void> {
  const ports = listPorts(settings, withEdge)
  for (const [index, use] of ports.entries()) {
    const twin = ports
      .slice(0, index)
      .find(({ port, protocol }) => port === use.port && protocol === use.protocol)
    if (twin)
      throw new CommandError(`${use.setting} and ${twin.setting} are both ${use.port}: choose two ports`)
    const problem = await findBindError(use)
    if (!problem) continue
    const holders = problem === 'EADDRINUSE' ? listHolders(use.port, use.protocol) : []
    if (problem === 'EADDRINUSE' && (holders.length ? holders.every(use.isOurs) : use.isOurs(undefined)))
      continue
    throw new CommandError(describeTaken(use, problem, holders[0]))
  }
}

function describeTaken({ setting, port, protocol }: PortUse, problem: string, holder?: Holder): string {
  const name = `port ${port}${protocol === 'udp' ? '/udp' : ''}`
  const remedy = `set ${setting} to another port`
  if (problem === 'EACCES') return `${name} needs root: start with sudo, or ${remedy}`
  if (problem !== 'EADDRINUSE') return `${name} cannot be used (${problem}): ${remedy}`
  const program = holder ? `${holder.command.slice(0, 80)} (pid ${holder.pid})` : 'another program'
  return `${name} is taken by ${program}: stop it, or ${remedy}`
}
