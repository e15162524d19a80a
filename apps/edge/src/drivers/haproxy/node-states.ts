import type { Exec } from '@postern/host/processes/exec'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import type { RouteSections } from '@postern/render/resolved-route'
import { makeDirectories } from './files/directories.ts'
import type { MapFiles } from './files/map-files.ts'
import type { HaproxyProcess } from './process/process.ts'
import { applyMap, type RuntimeMap } from './runtime/map.ts'
import { endWaiting } from './runtime/sessions.ts'
import type { HaproxySocket } from './runtime/socket.ts'

interface NodeStatesParts {
  paths: HaproxyPaths
  exec: Exec
  socket: HaproxySocket
  haproxy: HaproxyProcess
  mapFiles: MapFiles
  map: RuntimeMap
}

/** The nodes that are down; visitors of their services get our own page from HAProxy. */
export interface NodeStates {
  /** @param routes their requests end when they wait for a node that went down */
  set(states: ReadonlyMap<number, 'up' | 'down'>, routes: RouteSections): Promise<void>
  /** Updates the map of the running HAProxy. */
  apply(): Promise<void>
}

export function createNodeStates({
  paths,
  exec,
  socket,
  haproxy,
  mapFiles,
  map,
}: NodeStatesParts): NodeStates {
  // Unknown until the peers are observed; until then the entries of the previous edge process stay in force.
  let nodes: ReadonlyMap<string, string> | undefined
  let areApplied = false
  /** Nodes that went down and may still have requests waiting for them. */
  const gone = new Set<number>()
  const isSame = (down: readonly [number, string][]) =>
    nodes?.size === down.length && down.every(([id]) => nodes?.has(String(id)))
  return {
    async set(states, routes) {
      const down = [...states].filter(([, state]) => state === 'down')
      for (const id of gone) if (states.get(id) !== 'down') gone.delete(id)
      if (areApplied && gone.size === 0 && isSame(down)) return
      for (const [id] of down) if (!nodes?.has(String(id))) gone.add(id)
      areApplied = false
      const next = new Map(down.map(([id]): [string, string] => [String(id), 'down']))
      map.want({ lines: next, touched: new Set([...(nodes?.keys() ?? []), ...next.keys()]) })
      nodes = next
      await makeDirectories(paths)
      await mapFiles.setNodes(nodes)
      map.verifyNext()
      if (!(await haproxy.findOrEnd())) return
      await applyMap(map)
      if (gone.size > 0 && (await endWaiting({ socket, exec }, routes, gone))) gone.clear()
      areApplied = true
    },
    async apply() {
      if (nodes) await applyMap(map)
    },
  }
}
