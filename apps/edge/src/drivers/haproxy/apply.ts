import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Problem } from '@postern/contract/edge'
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
  /** @param problems collects what cannot be had, also when HAProxy itself fails and this throws. */
  apply(wanted: HaproxyWanted, problems: Problem[]): Promise<RunningHaproxy>
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  /** The last apply left certificates for the next one, so as not to delay everything else. */
  needsAnotherApply(): boolean
  /** Ports of the range that HAProxy could not have, because other programs hold them. */
  heldPorts(): number[]
}

/** Keeps the right process running, with the right contents. */
export function createApply(parts: ApplyParts): Apply {
  const { paths, haproxy, converger, mapFiles } = parts
  const contents = createContents(parts)
  let pid = 0
  /** The public host in the configuration of this HAProxy; undefined: its files have to be checked. */
  let configuredHost: string | undefined
  /** The ports of TCP services in that configuration. */
  let bound: readonly PortSpan[] | undefined

  function adoptProcess(running: RunningHaproxy | undefined): void {
    if (running?.pid === pid) return
    pid = running?.pid ?? 0
    configuredHost = undefined
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
        configuredHost = undefined
        contents.verifyNext()
      }
      if (configuredHost === undefined) await makeFiles()
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

  /** A running HAProxy gets its routes before its configuration is compared. */
  async function applyTo(
    before: RunningHaproxy | undefined,
    { wanted, rendered, problems }: Pass,
  ): Promise<RunningHaproxy> {
    const { publicHost } = wanted.settings
    if (!existsSync(paths.certificate(0))) throw new HaproxyStartError('', NO_CERTIFICATE)
    const applyContents = () => contents.apply(wanted, rendered, pid)
    let missing = before ? await applyContents().catch(leaveToNext) : []
    const after =
      before && configuredHost === publicHost
        ? before
        : await converger.converge(await filesFor(publicHost, before), before)
    if (after.pid !== pid || missing === undefined) {
      adoptProcess(after)
      missing = await applyContents()
    }
    configuredHost = publicHost
    problems.push(...findPortProblems(wanted.routes, bound ?? [], parts.options.portRange))
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
    // Another program on disk takes over like another configuration.
    const id = await parts.program.look()
    return renderHaproxyFiles(found, (content) => digest(`${id}\0${content}`))
  }
}

/** The inputs of one apply. */
interface Pass {
  wanted: HaproxyWanted
  rendered: RenderedRoutes
  problems: Problem[]
}

/** A HAProxy of an older release lacks a map: it gets no route, whose guard it may not know, and is replaced first. */
function leaveToNext(error: unknown): undefined {
  if (!(error instanceof UnknownMapError)) throw error
}

/** Where /proc/sys may not be written, a connection may take a port of the range, and its service then says so. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof PartFailedError || error instanceof PartMissingError)) throw error
}

const NO_CERTIFICATE = 'HAProxy cannot start without the certificate of the installation'
