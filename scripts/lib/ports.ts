import { createSocket } from 'node:dgram'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { installationPaths } from '@postern/contract/installation'
import type { Settings } from '@postern/contract/settings/settings'
import { CommandError } from './command.ts'

export type Protocol = 'tcp' | 'udp'

export interface Binding {
  port: number
  protocol: Protocol
  address: string
}

interface PortUse extends Binding {
  setting: string
  /** Whether the holder is this installation's own data plane, which outlives the starter. */
  isOurs: (holder: Holder | undefined) => boolean
  /** The server starts without it, and takes it over once it is free. */
  canWait?: boolean
}

/** The server's port, and with the edge those of the data plane. */
function listPorts(settings: Settings, withEdge: boolean): PortUse[] {
  const { haproxyDir } = installationPaths(settings.POSTERN_DATA_DIR)
  const device = settings.POSTERN_TUNNEL_INTERFACE
  const isOurProxy = (holder?: Holder) => holder?.command.includes(`${haproxyDir}/`) ?? false
  // The kernel's WireGuard holds its port without a process.
  const isOurTunnel = (holder?: Holder) =>
    holder ? holder.command.split(' ').includes(device) : existsSync(`/sys/class/net/${device}`)
  const at = (name: 'CONSOLE' | 'HTTP' | 'HTTPS' | 'TUNNEL', rest: Omit<PortUse, 'setting' | 'port'>) => ({
    setting: `POSTERN_${name}_PORT`,
    port: settings[`POSTERN_${name}_PORT`],
    ...rest,
  })
  const console = at('CONSOLE', {
    protocol: 'tcp',
    address: '127.0.0.1',
    isOurs: () => false,
    canWait: true,
  })
  if (!withEdge) return [console]
  return [
    console,
    at('HTTP', { protocol: 'tcp', address: '0.0.0.0', isOurs: isOurProxy }),
    at('HTTPS', { protocol: 'tcp', address: '0.0.0.0', isOurs: isOurProxy }),
    at('TUNNEL', { protocol: 'udp', address: '0.0.0.0', isOurs: isOurTunnel }),
  ]
}

/**
 * @returns whether the console's own port is free, too
 * @throws CommandError that names the port, its holder, and the setting.
 */
export async function assertPortsFree(settings: Settings, withEdge: boolean): Promise<boolean> {
  let isConsoleFree = true
  const ports = listPorts(settings, withEdge)
  for (const [index, use] of ports.entries()) {
    const twin = ports
      .slice(0, index)
      .find(({ port, protocol }) => port === use.port && protocol === use.protocol)
    if (twin)
      throw new CommandError(`${use.setting} and ${twin.setting} are both ${use.port}: choose two ports`)
    const problem = await findBindError(use)
    if (!problem) continue
    if (problem === 'EADDRINUSE' && use.canWait) {
      isConsoleFree = false
      continue
    }
    const holders = problem === 'EADDRINUSE' ? listHolders(use.port, use.protocol) : []
    if (problem === 'EADDRINUSE' && (holders.length ? holders.every(use.isOurs) : use.isOurs(undefined)))
      continue
    throw new CommandError(describeTaken(use, problem, holders[0]))
  }
  return isConsoleFree
}

function describeTaken({ setting, port, protocol }: PortUse, problem: string, holder?: Holder): string {
  const name = `port ${port}${protocol === 'udp' ? '/udp' : ''}`
  const remedy = `set ${setting} to another port`
  if (problem === 'EACCES') return `${name} needs root: start with sudo, or ${remedy}`
  if (problem !== 'EADDRINUSE') return `${name} cannot be used (${problem}): ${remedy}`
  const program = holder ? `${holder.command.slice(0, 80)} (pid ${holder.pid})` : 'another program'
  return `${name} is taken by ${program}: stop it, or ${remedy}`
}

/** The error code of binding the port, like EADDRINUSE, or undefined when the port is free. */
function findBindError({ port, protocol, address }: Binding): Promise<string | undefined> {
  return protocol === 'tcp' ? findTcpError(port, address) : findUdpError(port, address)
}

function findTcpError(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

function findUdpError(port: number, address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.bind({ port, address, exclusive: true }, () => socket.close(() => resolve(undefined)))
  })
}

/** The first free port of the hundred from `start` on. */
export async function findFreePort(start: number, protocol: Protocol): Promise<number> {
  for (let port = start; port < start + 100; port++)
    if (!(await findBindError({ port, protocol, address: '0.0.0.0' }))) return port
  throw new Error(`no free ${protocol} port from ${start} on`)
}

/** A program that holds a port. */
interface Holder {
  pid: number
  /** Its argv, joined by blanks. */
  command: string
}

/** The inodes of sockets bound to a port, from the text of /proc/net/tcp and its like (state 0A is LISTEN). */
export function parseInodes(table: string, port: number, protocol: Protocol): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(wanted) && (protocol === 'udp' || state === '0A'))
    .flatMap((fields) => fields[9] ?? [])
}

/** The programs that hold a port on this machine, as far as /proc shows them. */
function listHolders(port: number, protocol: Protocol): Holder[] {
  const tables = [`/proc/net/${protocol}`, `/proc/net/${protocol}6`].map(readOrEmpty)
  const inodes = new Set(tables.flatMap((table) => parseInodes(table, port, protocol)))
  if (inodes.size === 0) return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids
    .filter((pid) => listSockets(pid).some((inode) => inodes.has(inode)))
    .map((pid) => ({
      pid: Number(pid),
      command: readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
    }))
}

function listSockets(pid: string): string[] {
  const folder = `/proc/${pid}/fd`
  return orElse(() => readdirSync(folder), []).flatMap((fd) => {
    const target = orElse(() => readlinkSync(`${folder}/${fd}`), '')
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []
  })
}

const readOrEmpty = (path: string) => orElse(() => readFileSync(path, 'utf8'), '')

/** Processes and descriptors may disappear meanwhile, and /proc or IPv6 may be missing: then nothing is known. */
function orElse<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}
