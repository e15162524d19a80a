import { readFileSync } from 'node:fs'
import type { Measured } from '../figures.ts'
import { SIZES } from '../sizes.ts'
import type { FullInstallation } from './full-installation.ts'

/**
 * The memory of server and edge, in MB: the private memory of each, plus, once, the files that both map, which is
 * Node itself. Other programs that run from these files make no difference.
 */
export function heldMegabytes({ installation }: FullInstallation): number {
  const held = [installation.server.pid, installation.edge.pid].map(readMemory)
  const own = held.reduce((sum, { anonymous }) => sum + anonymous, 0)
  return own + Math.max(...held.map(({ files }) => files))
}

/** @param idle their memory before anything was published */
export async function measureMemory(full: FullInstallation, idle: number): Promise<Measured> {
  await full.addNodes(SIZES.nodes.heavy)
  return { name: 'all: memory of server and edge', heavy: heldMegabytes(full), light: idle, unit: 'MB' }
}

function readMemory(pid: number): { anonymous: number; files: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024
  const anonymous = megabytes('Anonymous')
  return { anonymous, files: megabytes('Rss') - anonymous }
}
