import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { Problem } from '@postern/contract/edge'
import type { HaproxyOptions } from '@postern/render/haproxy-config'
import { renderHaproxyFiles } from '@postern/render/haproxy-files'
import type { HaproxyPaths } from '@postern/render/haproxy-paths'
import { type RenderedRoutes, renderRoutes } from '@postern/render/haproxy-routes'
import type { HaproxyDriverOptions, HaproxyWanted } from './haproxy.ts'
import { type CertificateFiles, createCertificateStore } from './haproxy-certificate-files.ts'
import { createCertificateLoader } from './haproxy-certificates.ts'
import { changeFile } from './haproxy-change-file.ts'
import type { Converger } from './haproxy-converge.ts'
import { endUnwanted, parseLine, takesAway } from './haproxy-ended.ts'
import type { LogListener } from './haproxy-logs.ts'
import { createRuntimeMap, formatMap, type RuntimeMap } from './haproxy-maps.ts'
import type { RunningHaproxy } from './haproxy-observe.ts'
import { type HaproxyProcess, HaproxyStartError } from './haproxy-process.ts'
import type { HaproxySocket } from './haproxy-socket.ts'
import { type ProxyUser, readFileLimit } from './haproxy-user.ts'

export interface ApplyParts {
  options: HaproxyDriverOptions
  paths: HaproxyPaths
  socket: HaproxySocket
  haproxy: HaproxyProcess
  converger: Converger
  listener: LogListener
  user: ProxyUser | undefined
}

export interface Apply {
  /** @param problems collects what cannot be had, also when HAProxy itself fails and this throws. */
  apply(wanted: HaproxyWanted, problems: Problem[]): Promise<RunningHaproxy>
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  /** More certificates wait than the last apply could load without holding up all else. */
  isBehind(): boolean
}

export function createApply(parts: ApplyParts): Apply {
  const { paths, socket, haproxy, converger } = parts
  const store = createCertificateStore(paths)
  const loader = createCertificateLoader(socket, paths, store)
  const maps = {
    routes: createRuntimeMap(socket, paths.routes),
    lists: createRuntimeMap(socket, paths.lists),
    nodes: createRuntimeMap(socket, paths.nodes),
  }
  // Unknown until somebody says; an edge that comes back leaves those of before in force until then.
  let nodes: ReadonlyMap<string, string> | undefined
  // What an edge before us left undone is looked for once.
  let isThorough = true
  let pid = 0
  let isBehind = false

  /** Another HAProxy may hold anything, and may have been started from other files. */
  function meet(running: RunningHaproxy | undefined): void {
    if (running?.pid === pid) return
    pid = running?.pid ?? 0
    store.forget()
    loader.forget()
    forgetMaps()
  }

  function forgetMaps(): void {
    for (const map of Object.values(maps)) map.forget()
  }

  return {
    async apply(wanted, problems) {
      const rendered = renderRoutes(wanted.routes, wanted.settings.publicHost, digest)
      for (const { service, message } of rendered.refused)
        problems.push({ scope: { kind: 'service', id: service }, message })
      await makeDirectories(paths)
      const before = await haproxy.findOrEnd()
      meet(before)
      if (!wanted.isQuick) forgetMaps()
      await writeMaps(paths, rendered, nodes)
      const certificates = await store.write(wanted.certificates)
      try {
        if (!existsSync(paths.certificate(0))) throw new HaproxyStartError('', NO_CERTIFICATE)
        // A HAProxy of before learns of its routes also when it cannot take over changed settings.
        let missing = before ? await applyAll(wanted, rendered, certificates) : []
        const options = await renderOptions(parts, wanted.settings.publicHost)
        const after = await converger.converge(renderHaproxyFiles(options, digest), before)
        if (after.pid !== pid) {
          meet(after)
          missing = await applyAll(wanted, rendered, certificates)
        }
        for (const id of missing)
          problems.push({ scope: { kind: 'service', id }, message: 'HAProxy did not take the route' })
        return after
      } finally {
        for (const [id, message] of certificates.refused)
          problems.push({ scope: { kind: 'certificate', id }, message })
      }
    },
    isBehind: () => isBehind,
    async setNodeStates(states) {
      const down = [...states].filter(([, state]) => state === 'down')
      nodes = new Map(down.map(([id]): [string, string] => [String(id), 'down']))
      await makeDirectories(paths)
      await changeFile(paths.nodes, formatMap(nodes))
      maps.nodes.forget()
      if (await haproxy.findOrEnd()) await applyMap(maps.nodes, nodes)
    },
  }

  /** @returns the services whose route was not taken */
  async function applyAll(
    wanted: HaproxyWanted,
    rendered: RenderedRoutes,
    certificates: CertificateFiles,
  ): Promise<number[]> {
    isBehind = !(await loader.apply(certificates, wanted.isQuick ?? false))
    if (nodes) await applyMap(maps.nodes, nodes)
    // A route must never name a list that is not there yet, nor one that is already gone.
    await applyMap(maps.lists, rendered.lists, 'others too')
    const change = await maps.routes.compare(rendered.routes)
    const routes = { lines: change.lines, wanted: wanted.routes }
    // Before the change: an edge that is killed in between finds the same difference again.
    if (takesAway(routes)) await haproxy.endOthers(pid)
    const missing = await maps.routes.change(change)
    const lists = await applyMap(maps.lists, rendered.lists)
    const thorough = isThorough
    // Should this fail, the next apply looks at every stream.
    isThorough = true
    isThorough = !(await endUnwanted(socket, routes, thorough))
    return servicesOf(rendered.routes, missing, lists)
  }
}

/** @returns the keys that are not as wanted */
async function applyMap(map: RuntimeMap, ...wanted: Parameters<RuntimeMap['compare']>): Promise<string[]> {
  return await map.change(await map.compare(...wanted))
}

/** Whose routes or lists these keys are: without its list a service lets nobody in. */
function servicesOf(
  routes: RenderedRoutes['routes'],
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

const NO_CERTIFICATE = 'HAProxy cannot start without the certificate of the installation'

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

async function makeDirectories(paths: HaproxyPaths): Promise<void> {
  for (const path of [paths.pages, paths.certificates]) await mkdir(path, { recursive: true, mode: 0o700 })
}

async function writeMaps(
  paths: HaproxyPaths,
  rendered: RenderedRoutes,
  nodes: ReadonlyMap<string, string> | undefined,
): Promise<void> {
  await changeFile(paths.lists, formatMap(rendered.lists))
  await changeFile(paths.routes, formatMap(rendered.routes))
  if (nodes || !existsSync(paths.nodes)) await changeFile(paths.nodes, formatMap(nodes ?? new Map()))
}

/** Each connection takes two files; the rest is for listeners, idle connections and the log. */
const OTHER_FILES = 1000
const MOST_CONNECTIONS = 50_000

async function renderOptions(
  { options, listener, user }: ApplyParts,
  publicHost: string,
): Promise<HaproxyOptions> {
  const limit = await readFileLimit(4 * OTHER_FILES)
  return {
    directory: options.directory,
    serverSocket: options.serverSocket,
    addresses: options.addresses ?? (existsSync('/proc/net/if_inet6') ? ['0.0.0.0', '::'] : ['0.0.0.0']),
    httpPort: options.httpPort,
    httpsPort: options.httpsPort,
    publicHost,
    user: user ?? null,
    maxConnections: Math.min(MOST_CONNECTIONS, Math.max(100, Math.floor((limit - OTHER_FILES) / 2))),
    connectionsPerSource: options.connectionsPerSource ?? 500,
    logPort: await listener.listen(),
    connectTimeout: 5,
    idleTimeout: options.idleTimeout ?? 300,
    tunnelTimeout: 3600,
  }
}
