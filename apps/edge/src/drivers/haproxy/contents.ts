import { createHash } from 'node:crypto'
import { DRAINED } from '@postern/render/haproxy/health'
import type { RenderedRoutes } from '@postern/render/haproxy/maps/address-owners'
import { renderChallenges } from '@postern/render/haproxy/maps/challenges'
import { renderEdgeMap } from '@postern/render/haproxy/maps/edge'
import { createRouteTable } from '@postern/render/haproxy/maps/route-table'
import { parseRouteLine } from '@postern/render/haproxy/maps/routes'
import { createSignInTable } from '@postern/render/haproxy/maps/sign-in'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import type { RouteSections } from '@postern/render/resolved-route'
import type { MapFiles } from './files/map-files.ts'
import { createNodeStates } from './node-states.ts'
import type { HaproxyDriverOptions, HaproxyWanted } from './options.ts'
import type { HaproxyProcess } from './process/process.ts'
import { createCertificateLoader } from './runtime/certificates.ts'
import { applyMap, createRuntimeMap } from './runtime/map.ts'
import { endUnwanted, takesAway } from './runtime/sessions.ts'
import type { HaproxySocket } from './runtime/socket.ts'

interface ContentsParts {
  options: Pick<HaproxyDriverOptions, 'exec'>
  paths: HaproxyPaths
  socket: HaproxySocket
  haproxy: HaproxyProcess
  mapFiles: MapFiles
}

/**
 * The parts of a HAProxy that change while it runs: its certificates, its maps, and the connections that these allow.
 */
export interface Contents {
  /** Sets the wanted content of the maps. */
  want(wanted: HaproxyWanted): RenderedRoutes
  /** Writes the files of the certificates, from which HAProxy starts. */
  writeCertificates(wanted: HaproxyWanted): Promise<void>
  /**
   * Brings the HAProxy of this pid up to date.
   * @returns the services whose route it didn't load
   * @throws UnknownMapError before any route changes, when it lacks a map
   */
  apply(wanted: HaproxyWanted, rendered: RenderedRoutes, pid: number): Promise<number[]>
  /** Certificate id → why it is not served. */
  refusedCertificates(): ReadonlyMap<number, string>
  /** The last apply left certificates for the next one, so as not to delay everything else. */
  needsAnotherApply(): boolean
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  /** Makes the next apply check everything. */
  verifyNext(): void
  /** Forgets the state of HAProxy: it is a new process, which may have been started from other files. */
  forget(): void
}

export function createContents(parts: ContentsParts): Contents {
  const { paths, socket, haproxy, mapFiles } = parts
  const certificates = createCertificateLoader(socket, paths)
  const table = createRouteTable(digest)
  const signInTable = createSignInTable()
  const maps = {
    routes: createRuntimeMap(socket, paths.routes),
    lists: createRuntimeMap(socket, paths.lists),
    nodes: createRuntimeMap(socket, paths.nodes),
    signIn: createRuntimeMap(socket, paths.signIn),
    challenges: createRuntimeMap(socket, paths.challenges),
    edge: createRuntimeMap(socket, paths.edge),
  }
  const nodeStates = createNodeStates({ ...parts, exec: parts.options.exec, map: maps.nodes })
  let routes: RouteSections = new Map()
  let challenges: ReadonlyMap<string, string> = new Map()
  // The first apply also checks what a previous edge process left unfinished.
  let checksAllStreams = true

  return {
    want(wanted) {
      routes = wanted.routes
      const { publicHost, formerHosts, edge } = wanted.settings
      const rendered = table.update(routes, [publicHost, ...formerHosts], edge?.servesConsole === false)
      const before = challenges
      challenges = renderChallenges(wanted.challenges ?? [])
      const next = {
        routes: { lines: rendered.routes, touched: rendered.touched.routes },
        lists: { lines: rendered.lists, touched: rendered.touched.lists },
        signIn: signInTable.update(wanted.signIns, wanted.settings, rendered.routes),
        challenges: { lines: challenges, touched: new Set([...before.keys(), ...challenges.keys()]) },
        edge: { lines: renderEdgeMap(wanted.settings), touched: new Set([DRAINED]) },
      }
      maps.routes.want(next.routes)
      maps.lists.want(next.lists)
      maps.signIn.want(next.signIn)
      maps.challenges.want(next.challenges)
      maps.edge.want(next.edge)
      mapFiles.want(next)
      return rendered
    },
    writeCertificates: (wanted) => certificates.write(wanted.certificates),
    async apply(wanted, rendered, pid) {
      await certificates.apply(wanted.isQuick ?? false)
      await nodeStates.apply()
      await applyMap(maps.edge)
      await applyMap(maps.challenges)
      // A route must never name a list that does not exist yet, or no longer.
      await applyMap(maps.lists, 'others too')
      const change = await maps.routes.compare()
      const signIn = await maps.signIn.compare()
      const changed = {
        lines: change.lines,
        wanted: wanted.routes,
        entries: signIn.lines,
        signIns: wanted.signIns,
      }
      // Before the change, so that an edge that is killed in between finds the same difference again.
      if (takesAway(changed)) await haproxy.endOthers(pid)
      await maps.signIn.change(signIn)
      const missing = await maps.routes.change(change)
      const lists = await applyMap(maps.lists)
      const checksAll = checksAllStreams
      // If this fails, the next apply checks every stream.
      checksAllStreams = true
      checksAllStreams = !(await endUnwanted(socket, changed, checksAll))
      return servicesOf(rendered.routes, missing, lists)
    },
    refusedCertificates: certificates.refused,
    needsAnotherApply: certificates.needsAnotherApply,
    setNodeStates: (states) => nodeStates.set(states, routes),
    verifyNext() {
      certificates.verifyNext()
      for (const map of Object.values(maps)) map.verifyNext()
    },
    forget() {
      certificates.forget()
      for (const map of Object.values(maps)) map.forget()
    },
  }
}

/** The services that these routes or lists belong to: a service without its list admits no visitor. */
function servicesOf(
  routes: ReadonlyMap<string, string>,
  keys: readonly string[],
  listKeys: readonly string[],
): number[] {
  if (keys.length + listKeys.length === 0) return []
  const hashOf = (list: string) => list.split('.', 1)[0]
  const hashes = new Set(listKeys.map(hashOf))
  const wrong = [...routes].filter(
    ([key, line]) => keys.includes(key) || hashes.has(hashOf(parseRouteLine(line).list)),
  )
  return [...new Set(wrong.map(([, line]) => Number(parseRouteLine(line).service)))]
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
