import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A process of a container, as the kernel knows it. */
export interface ContainerProcess {
  /** On this machine. */
  pid: number
  name: string
  argv: string[]
  uid: number
  /** Those in force, permitted and within bounds, in hexadecimal. */
  capabilities: { effective: string; permitted: string; bounding: string }
  noNewPrivileges: boolean
}

/** All processes of the container whose first process this is. */
export function listProcesses(init: number): ContainerProcess[] {
  const namespaceOf = (pid: number) => orUndefined(() => readlinkSync(`/proc/${pid}/ns/pid`))
  const own = namespaceOf(init)
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  return pids
    .filter((pid) => own !== undefined && namespaceOf(pid) === own)
    .flatMap((pid) => orUndefined(() => readProcess(pid)) ?? [])
}

function readProcess(pid: number): ContainerProcess {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''
  return {
    pid,
    name: field('Name'),
    argv: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1),
    uid: Number(field('Uid')),
    capabilities: { effective: field('CapEff'), permitted: field('CapPrm'), bounding: field('CapBnd') },
    noNewPrivileges: field('NoNewPrivs') === '1',
  }
}

const BITS = { NET_BIND_SERVICE: 10, NET_ADMIN: 12 } as const

/** A set of capabilities in the kernel's format. */
export function capabilitySet(...names: (keyof typeof BITS)[]): string {
  const bits = names.reduce((sum, name) => sum | (1n << BigInt(BITS[name])), 0n)
  return bits.toString(16).padStart(16, '0')
}

/** A process may end while it is read. */
function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
