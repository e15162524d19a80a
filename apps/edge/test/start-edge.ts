import { mkdirSync } from 'node:fs'
import type { DataPlane } from '@postern/contract/edge/edge'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings/settings'
import type { Exec } from '@postern/host/processes/exec'
import { pino } from 'pino'
import type { BackendSign } from '../src/drivers/haproxy/logs/log.ts'
import { createEdge, type Edge } from '../src/edge.ts'
import type { Lookups } from '../src/names.ts'
import { type FakeHaproxy, makeFakeHaproxy } from './fake-haproxy.ts'
import type { Lab } from './lab.ts'

export interface TestEdge {
  edge: Edge
  haproxy: FakeHaproxy
  /** Its message when it was ready. */
  ready: Promise<DataPlane | null>
  /** A line of HAProxy's log. */
  log(service: number, text: string, sign?: BackendSign): void
}

/** The directories that the starter makes. */
export function pathsIn(lab: Lab) {
  const paths = installationPaths(lab.dir)
  mkdirSync(paths.edgeDir, { recursive: true, mode: 0o700 })
  mkdirSync(paths.runDir, { recursive: true })
  return paths
}

/** The real edge in the lab's namespace, except HAProxy. */
export async function startEdge(lab: Lab, exec: Exec = lab.exec, lookups?: Lookups): Promise<TestEdge> {
  const settings = parseSettings({ POSTERN_DATA_DIR: lab.dir, POSTERN_TUNNEL_INTERFACE: lab.interface })
  const haproxy = makeFakeHaproxy()
  const ready = Promise.withResolvers<DataPlane | null>()
  const edge = createEdge({
    settings,
    given: {},
    paths: pathsIn(lab),
    exec,
    version: '0.1.0',
    log: pino({ level: 'silent' }),
    now: Date.now,
    random: Math.random,
    resolvConfs: [],
    edgePorts: () => [],
    haproxy,
    ...(lookups && { lookups }),
    onReady: ready.resolve,
  })
  await edge.start()
  return {
    edge,
    haproxy,
    ready: ready.promise,
    log: (service, text, sign) => haproxy.logs.emit('line', { service, text, sign: sign ?? null }),
  }
}
