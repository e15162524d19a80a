import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Problem } from '@postern/contract/edge/edge'
import { type HaproxyFiles, renderHaproxyFiles } from '@postern/render/haproxy/config'
import type { RenderedRoutes } from '@postern/render/haproxy/maps/address-owners'
import type { HaproxyPaths, PortSpan } from '@postern/render/haproxy/options'
import type { SystemUser } from '../../system-user.ts'
import { PartFailedError, PartMissingError } from '../part.ts'
import { findMissingPorts, findPortProblems } from './bound-ports.ts'
import { createContents, digest } from './contents.ts'
import { makeDirectories, makeLanes } from './files/directories.ts'
import type { MapFiles } from './files/map-files.ts'
import type { LogListener } from './logs/listener.ts'
import { findOptions, type HaproxyDriverOptions, type HaproxyWanted } from './options.ts'
import { reservePorts } from './process/binds.ts'
import type { Converger } from './process/converge.ts'
import { type HaproxyProcess, HaproxyStartError } from './process/process.ts'
import type { HaproxyProgram } from './process/program.ts'
import type { RunningHaproxy } from './process/running.ts'
import { UnknownMapError } from './runtime/map.ts'
import type { HaproxySocket } from './runtime/socket.ts'

interface ApplyParts {
  options: HaproxyDriverOptions
  paths: HaproxyPaths
  socket: HaproxySocket
  haproxy: HaproxyProcess
  program: HaproxyProgram
  converger: Converger
  listener: LogListener
  user: SystemUser | undefined
  mapFiles: MapFiles
}

export interface Apply {
  /** @param problems collects what does not work, even when HAProxy itself fails and this throws */
  apply(wanted: HaproxyWanted, problems: Problem[]): Promise<RunningHaproxy>
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  /** The last apply left certificates for the next one, so as not to delay everything else. */
  needsAnotherApply(): boolean
  /** Ports of the range that HAProxy did not get, because other programs hold them. */
  heldPorts(): number[]
}

/** Keeps one HAProxy running, with the right configuration and contents. */
export function createApply(parts: ApplyParts): Apply {
  const { paths, haproxy, converger, mapFiles } = parts
  const contents = createContents(parts)
  let pid = 0
  /** What the configuration of this HAProxy has of the wanted state; undefined: its files have to be checked. */
  let configured: string | undefined
  /** The ports of TCP services in that configuration. */
  let bound: readonly PortSpan[] | undefined

  function adoptProcess(running: RunningHaproxy | undefined): void {
    if (running?.pid === pid) return
    pid = running?.pid ?? 0
    configured = undefined
    contents.forget()
  }

  return {
    async apply(wanted, problems) {
      const rendered = contents.want(wanted)
      for (const { service, message } of rendered.refused)
        problems.push({ scope: { kind: 'service', id: service }, message })
      const before = await haproxy.findOrEnd()
      adoptProcess(before)
      if (!wanted.isQuick) {
        configured = undefined
        contents.verifyNext()
      }
      if (configured === undefined) await makeFiles()
      await contents.writeCertificates(wanted)
      try {
        return await applyTo(before, { wanted, rendered, problems })
      } finally {
        for (const [id, message] of contents.refusedCertificates())
          problems.push({ scope: { kind: 'certificate', id }, message })
      }
    },
    needsAnotherApply: contents.needsAnotherApply,
    heldPorts: () => (bound ? findMissingPorts(parts.options, bound) : []),
    setNodeStates: contents.setNodeStates,
  }

  async function makeFiles(): Promise<void> {
    await makeDirectories(paths)
    await makeLanes(parts.options.lanes, parts.user)
    await mapFiles.write()
  }

  /** Before its configuration is compared, a running HAProxy gets its routes. */
  async function applyTo(
    before: RunningHaproxy | undefined,
    { wanted, rendered, problems }: Pass,
  ): Promise<RunningHaproxy> {
    const config = configOf(wanted)
    if (!existsSync(paths.certificate(0))) throw new HaproxyStartError('', NO_CERTIFICATE)
    const applyContents = () => contents.apply(wanted, rendered, pid)
    let missing = before ? await applyContents().catch(leaveToNext) : []
    const after =
      before && configured === config
        ? before
        : await converger.converge(await filesFor(wanted, before), before)
    if (after.pid !== pid || missing === undefined) {
      adoptProcess(after)
      missing = await applyContents()
    }
    configured = config
    problems.push(...findPortProblems(wanted.routes, bound ?? [], parts.options.portRange))
    for (const id of missing)
      problems.push({ scope: { kind: 'service', id }, message: "HAProxy couldn't load this route" })
    return after
  }

  async function filesFor(wanted: HaproxyWanted, before: RunningHaproxy | undefined): Promise<HaproxyFiles> {
    const { options, listener, user } = parts
    if (options.portRange) await reservePorts(options.exec, options.portRange).catch(ignoreRefusal)
    const running = before ? await readFile(paths.config, 'utf8') : ''
    const found = await findOptions(options, listener, user, wanted, running)
    bound = found.ports
    // A new program on disk takes over like a new configuration.
    const id = await parts.program.look()
    return renderHaproxyFiles(found, (content) => digest(`${id}\0${content}`))
  }
}

/** What its configuration depends on. All else changes while it runs. */
function configOf({ settings: { publicHost, formerHosts }, logQuery = false }: HaproxyWanted): string {
  return JSON.stringify([publicHost, formerHosts, logQuery])
}

/** The inputs of one apply. */
interface Pass {
  wanted: HaproxyWanted
  rendered: RenderedRoutes
  problems: Problem[]
}

/**
 * The HAProxy of an older release lacks a map: it is replaced first, because it may not know how to guard the routes.
 */
function leaveToNext(error: unknown): undefined {
  if (!(error instanceof UnknownMapError)) throw error
}

/** Where /proc/sys cannot be written, a connection may take a port of the range, which its service then reports. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof PartFailedError || error instanceof PartMissingError)) throw error
}

const NO_CERTIFICATE = 'HAProxy cannot start without the certificate of the installation'
