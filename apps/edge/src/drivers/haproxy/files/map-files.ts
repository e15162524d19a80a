import { stat } from 'node:fs/promises'
import { codeOf } from '@postern/host/errors'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import type { MapLines } from '../runtime/map.ts'
import { changeFile } from './change-file.ts'

type Entries = ReadonlyMap<string, string>

/** The maps as files, which HAProxy reads only when it starts. */
export interface MapFiles {
  /** Sets the wanted content. */
  want(maps: Record<'routes' | 'lists' | 'signIn' | 'challenges' | 'edge', MapLines>): void
  /** The nodes that are down. Until the first call the file of the previous edge process stays. */
  setNodes(nodes: Entries): Promise<void>
  /** Brings them up to date: before HAProxy starts, and with each full check. */
  write(): Promise<void>
}

export function createMapFiles(paths: HaproxyPaths): MapFiles {
  const files = {
    nodes: createMapFile(paths.nodes),
    lists: createMapFile(paths.lists),
    signIn: createMapFile(paths.signIn),
    challenges: createMapFile(paths.challenges),
    edge: createMapFile(paths.edge),
    routes: createMapFile(paths.routes),
  }
  return {
    want({ routes, lists, signIn, challenges, edge }) {
      files.routes.want(routes)
      files.lists.want(lists)
      files.signIn.want(signIn)
      files.challenges.want(challenges)
      files.edge.want(edge)
    },
    async setNodes(nodes) {
      files.nodes.want({ lines: nodes, touched: new Set(nodes.keys()) })
      await files.nodes.write()
    },
    async write() {
      for (const file of [files.nodes, files.challenges, files.edge]) await file.makeSure()
      for (const file of Object.values(files)) await file.write()
    },
  }
}

/** One file. Its text is built only when the content has changed, or another program has changed the file. */
function createMapFile(path: string) {
  let wanted: Entries | undefined
  /** Identifies the file as it was written; undefined: it must be checked. */
  let mark: string | undefined
  return {
    want({ lines, touched }: MapLines) {
      if (touched.size > 0 || lines !== wanted) mark = undefined
      wanted = lines
    },
    /** Unknown content stays as the previous edge process left it; HAProxy does not start without the file. */
    async makeSure() {
      if (!wanted && (await findMark(path)) === undefined) wanted = new Map()
    },
    async write() {
      if (!wanted || (mark !== undefined && mark === (await findMark(path)))) return
      await changeFile(path, formatMap(wanted))
      mark = await findMark(path)
    },
  }
}

/** Tells a file from every other one that ever had its path; undefined: there is none. */
async function findMark(path: string): Promise<string | undefined> {
  try {
    const { ino, ctimeNs } = await stat(path, { bigint: true })
    return `${ino} ${ctimeNs}`
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** For HAProxy, the first blank ends the key. */
function formatMap(entries: Entries): string {
  let text = ''
  for (const [key, value] of entries) text += `${key} ${value}\n`
  return text
}
