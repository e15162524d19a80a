import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Protocol } from './bind.ts'

/** A program that holds a port. */
export interface Holder {
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

/** The programs that hold a port of this machine, as far as /proc shows them. */
export function listHolders(port: number, protocol: Protocol): Holder[] {
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

/** Processes and their descriptors go away while one looks, and /proc or IPv6 may not be there: then nothing is known. */
function orElse<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}
