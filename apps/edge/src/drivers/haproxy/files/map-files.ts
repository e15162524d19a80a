import { existsSync } from 'node:fs'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import { changeFile } from './change-file.ts'

type Entries = ReadonlyMap<string, string>

/** The maps as files, which HAProxy reads when it starts and never again. */
export interface MapFiles {
  /** Sets the wanted content; the maps themselves may still change. */
  want(maps: Record<'routes' | 'lists' | 'signIn', Entries>): void
  /** The nodes that are down. Until the first call the file of the previous edge process stays. */
  setNodes(nodes: Entries): Promise<void>
  /** Brings them up to date: before HAProxy starts, and with each full check. */
  write(): Promise<void>
}

export function createMapFiles(paths: HaproxyPaths): MapFiles {
  let maps: Record<'routes' | 'lists' | 'signIn', Entries> | undefined
  let nodes: Entries | undefined
  return {
    want(next) {
      maps = next
    },
    async setNodes(next) {
      nodes = next
      await changeFile(paths.nodes, formatMap(next))
    },
    async write() {
      if (nodes || !existsSync(paths.nodes)) await changeFile(paths.nodes, formatMap(nodes ?? new Map()))
      if (!maps) return
      await changeFile(paths.lists, formatMap(maps.lists))
      await changeFile(paths.signIn, formatMap(maps.signIn))
      await changeFile(paths.routes, formatMap(maps.routes))
    },
  }
}

/** HAProxy takes the first blank as the end of the key. */
function formatMap(entries: Entries): string {
  let text = ''
  for (const [key, value] of entries) text += `${key} ${value}\n`
  return text
}
