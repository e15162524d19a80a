import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Problem } from '@postern/contract/edge'
import { type HaproxyFiles, renderHaproxyFiles } from '@postern/render/haproxy/config'
import { renderChallenges } from '@postern/render/haproxy/maps/challenges'
import type { RenderedRoutes } from '@postern/render/haproxy/maps/claims'
import { createRouteTable } from '@postern/render/haproxy/maps/route-table'
import { createSignInTable, type SignInLines } from '@postern/render/haproxy/maps/sign-in'
import type { HaproxyPaths, PortSpan } from '@postern/render/haproxy/options'
import type { RouteSections } from '@postern/render/resolved-route'
import type { SystemUser } from '../../system-user.ts'
import { PartFailedError, PartMissingError } from '../part.ts'
import { findMissingPorts, findPortProblems } from './bound-ports.ts'
import { type CertificateFiles, createCertificateStore } from './files/certificate-store.ts'
import { makeDirectories, makeLanes } from './files/directories.ts'
import type { MapFiles } from './files/map-files.ts'
import type { LogListener } from './logs/listener.ts'
import { createNodeStates } from './node-states.ts'
import { findOptions, type HaproxyDriverOptions, type HaproxyWanted } from './options.ts'
import { reservePorts } from './process/binds.ts'
import type { Converger } from './process/converge.ts'
import { type HaproxyProcess, HaproxyStartError } from './process/process.ts'
import type { RunningHaproxy } from './process/running.ts'
import { createCertificateLoader } from './runtime/certificates.ts'
import { applyMap, createRuntimeMap, UnknownMapError } from './runtime/map.ts'
import { endUnwanted, parseLine, takesAway } from './runtime/sessions.ts'
import type { HaproxySocket } from './runtime/socket.ts'

export interface ApplyParts {
  options: HaproxyDriverOptions
  paths: HaproxyPaths
  socket: HaproxySocket
  haproxy: HaproxyProcess
  converger: Converger
  listener: LogListener
  user: SystemUser | undefined
  mapFiles: MapFiles
}

export interface Apply {
  /** @param problems collects what cannot be had, also when HAProxy itself fails and this throws. */
  apply(wanted: HaproxyWanted, problems: Problem[]): Promise<RunningHaproxy>
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  /** The last apply left certificates for the next one, so as not to delay everything else. */
  needsAnotherApply(): boolean
  /** Ports of the range that HAProxy could not have, because other programs hold them. */
  heldPorts(): number[]
}

export function createApply(parts: ApplyParts): Apply {
  const { paths, socket, haproxy, converger, mapFiles } = parts
  const store = createCertificateStore(paths)
  const loader = createCertificateLoader(socket, paths, store)
  const table = createRouteTable(digest)
  const signInTable = createSignInTable()
  const maps = {
    routes: createRuntimeMap(socket, paths.routes),
    lists: createRuntimeMap(socket, paths.lists),
    nodes: createRuntimeMap(socket, paths.nodes),
    signIn: createRuntimeMap(socket, paths.signIn),
    challenges: createRuntimeMap(socket, paths.challenges),
  }
  const nodeStates = createNodeStates({ ...parts, map: maps.nodes })
  let routes: RouteSections = new Map()
  let challenges: ReadonlyMap<string, string> = new Map()
  // The first apply also checks what a previous edge process left unfinished.
  let checksAllStreams = true
  let pid = 0
  let needsAnotherApply = false
  /** The certificates that this HAProxy is known to have loaded; undefined: unknown. */
  let loaded: Loaded | undefined
  /** The public host in the configuration of this HAProxy; undefined: its files have to be checked. */
  let configuredHost: string | undefined
  /** The ports of TCP services in that configuration. */
  let bound: readonly PortSpan[] | undefined

  /** Nothing is known of a new process: it may have been started from other files. */
  function adoptProcess(running: RunningHaproxy | undefined): void {
    if (running?.pid === pid) return
    pid = running?.pid ?? 0
    store.forget()
    loader.forget()
    loaded = configuredHost = undefined
    for (const map of Object.values(maps)) map.forget()
  }

  return {
    async apply(wanted, problems) {
      const rendered = table.update(wanted.routes, wanted.settings.publicHost)
      for (const { service, message } of rendered.refused)
        problems.push({ scope: { kind: 'service', id: service }, message })
      want(wanted, rendered, signInTable.update(wanted.signIns, wanted.settings, rendered.routes))
      const before = await haproxy.findOrEnd()
      adoptProcess(before)
      if (!wanted.isQuick) {
        loaded = configuredHost = undefined
        for (const map of Object.values(maps)) map.verifyNext()
      }
      if (configuredHost === undefined) await makeFiles()
      const certificates =
        loaded?.certificates === wanted.certificates ? loaded.files : await store.write(wanted.certificates)
      try {
        return await applyTo(before, { wanted, rendered, certificates, problems })
      } finally {
        for (const [id, message] of certificates.refused)
          problems.push({ scope: { kind: 'certificate', id }, message })
      }
    },
    needsAnotherApply: () => needsAnotherApply,
    heldPorts: () => (bound ? findMissingPorts(parts.options, bound) : []),
    setNodeStates: (states) => nodeStates.set(states, routes),
  }

  async function makeFiles(): Promise<void> {
    await makeDirectories(paths)
    await makeLanes(parts.options.lanes, parts.user)
    await mapFiles.write()
  }

  function want(wanted: HaproxyWanted, rendered: RenderedRoutes, signIn: SignInLines): void {
    routes = wanted.routes
    const before = challenges
    challenges = renderChallenges(wanted.challenges ?? [])
    const next = {
      routes: { lines: rendered.routes, touched: rendered.touched.routes },
      lists: { lines: rendered.lists, touched: rendered.touched.lists },
      signIn,
      challenges: { lines: challenges, touched: new Set([...before.keys(), ...challenges.keys()]) },
    }
    maps.routes.want(next.routes)
    maps.lists.want(next.lists)
    maps.signIn.want(next.signIn)
    maps.challenges.want(next.challenges)
    mapFiles.want(next)
  }

  /** A running HAProxy gets its routes before its configuration is compared. */
  async function applyTo(before: RunningHaproxy | undefined, pass: Pass): Promise<RunningHaproxy> {
    const { wanted, problems } = pass
    const { publicHost } = wanted.settings
    if (!existsSync(paths.certificate(0))) throw new HaproxyStartError('', NO_CERTIFICATE)
    let missing = before ? await applyAll(pass).catch(leaveToNext) : []
    const after =
      before && configuredHost === publicHost
        ? before
        : await converger.converge(await filesFor(publicHost, before), before)
    if (after.pid !== pid || missing === undefined) {
      adoptProcess(after)
      missing = await applyAll(pass)
    }
    configuredHost = publicHost
    // Only now it is sure that this HAProxy was started with such a map.
    await applyMap(maps.challenges)
    problems.push(...findPortProblems(routes, bound ?? [], parts.options.portRange))
    for (const id of missing)
      problems.push({ scope: { kind: 'service', id }, message: "HAProxy couldn't load this route" })
    return after
  }

  async function filesFor(publicHost: string, before: RunningHaproxy | undefined): Promise<HaproxyFiles> {
    const { options, listener, user } = parts
    if (options.portRange) await reservePorts(options.exec, options.portRange).catch(ignoreRefusal)
    const running = before ? await readFile(paths.config, 'utf8') : ''
    const found = await findOptions(options, listener, user, publicHost, running)
    bound = found.ports
    return renderHaproxyFiles(found, digest)
  }

  /** @returns the services whose route HAProxy didn't load */
  async function applyAll({ wanted, rendered, certificates }: Pass): Promise<number[]> {
    if (loaded?.certificates !== wanted.certificates) {
      loaded = undefined
      needsAnotherApply = !(await loader.apply(certificates, wanted.isQuick ?? false))
      if (!needsAnotherApply) loaded = { certificates: wanted.certificates, files: certificates }
    }
    await nodeStates.apply()
    // A route must never name a list that is not there yet, nor one that is already gone.
    await applyMap(maps.lists, 'others too')
    const change = await maps.routes.compare()
    const signIn = await maps.signIn.compare()
    const routes = {
      lines: change.lines,
      wanted: wanted.routes,
      entries: signIn.lines,
      signIns: wanted.signIns,
    }
    // Before the change: an edge that is killed in between finds the same difference again.
    if (takesAway(routes)) await haproxy.endOthers(pid)
    await maps.signIn.change(signIn)
    const missing = await maps.routes.change(change)
    const lists = await applyMap(maps.lists)
    const checksAll = checksAllStreams
    // If this fails, the next apply checks every stream.
    checksAllStreams = true
    checksAllStreams = !(await endUnwanted(socket, routes, checksAll))
    return servicesOf(rendered.routes, missing, lists)
  }
}

interface Loaded {
  certificates: HaproxyWanted['certificates']
  files: CertificateFiles
}

/** The inputs of one apply. */
interface Pass {
  wanted: HaproxyWanted
  rendered: RenderedRoutes
  certificates: CertificateFiles
  problems: Problem[]
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
    ([key, line]) => keys.includes(key) || hashes.has(hashOf(parseLine(line).list)),
  )
  return [...new Set(wrong.map(([, line]) => parseLine(line).id))]
}

/** A HAProxy of an older release knows no guard of the routes, so it gets none of them and is replaced first. */
function leaveToNext(error: unknown): undefined {
  if (!(error instanceof UnknownMapError)) throw error
}

/** Where /proc/sys may not be written, a connection may take a port of the range, and its service then says so. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof PartFailedError || error instanceof PartMissingError)) throw error
}

const NO_CERTIFICATE = 'HAProxy cannot start without the certificate of the installation'

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
