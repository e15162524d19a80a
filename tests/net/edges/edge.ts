import { chmodSync, mkdirSync } from 'node:fs'
import type { DesiredState, Peer } from '@postern/contract/edge/desired-state'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import type { Namespace } from '@postern/testkit/lab/namespace'
import { whenStarted } from '@postern/testkit/processes/started'
import { until } from '@postern/testkit/until'
import { makeRealCertificate } from '../../../apps/edge/test/certificate.ts'
import { makeKeys, makeSettings, makeState } from '../../../apps/edge/test/factories.ts'
import { installationPaths } from '../../../packages/contract/src/installation.ts'
import { ROOT, RUN_WITH } from '../../../scripts/lib/environment.ts'
import { nodeArgv } from '../../../scripts/lib/programs/programs.ts'

export interface EdgePlace {
  space: Namespace
  number: number
  /** Where nodes and visitors find it. */
  address: string
  directory: string
  tunnel: string
}

/** The networks of all edges of the lab. */
export const COMMON = makeSettings()

/** A real edge with HAProxy, WireGuard and firewall in a namespace, and its own server, which says what it should be. */
export async function startEdge(place: EdgePlace, ports: DesiredState['ports']) {
  const { space, number, address, directory, tunnel } = place
  mkdirSync(directory)
  chmodSync(directory, 0o755)
  const paths = installationPaths(directory)
  mkdirSync(paths.edgeDir, { mode: 0o700 })
  mkdirSync(paths.runDir)
  const keys = makeKeys()
  const certificates = [await makeRealCertificate(0, [`edge${number}.example.com`])]
  let peers: readonly Peer[] = []
  let revision = 1

  function stateNow(): DesiredState {
    const edge = { number, servesConsole: number === 1, isDrained: false }
    const settings = { ...COMMON, publicHost: address, tunnelPrivateKey: keys.privateKey, edge }
    const state = makeState({ settings, ports, certificates, peers: [...peers], revision })
    const hashes = Object.keys(state.hashes).map((name) => [name, `${revision}`])
    return { ...state, hashes: Object.fromEntries(hashes) }
  }

  const server: FakeServer = await startFakeServer(paths, stateNow())
  const program = space.start(nodeArgv(ROOT, 'edge'), {
    logFile: `${directory}/edge.log`,
    cwd: '/',
    env: {
      ...RUN_WITH,
      POSTERN_DATA_DIR: directory,
      POSTERN_TUNNEL_INTERFACE: tunnel,
      // The visitor of the lab is many.
      POSTERN_CONNECTIONS_PER_SOURCE: '10000',
    },
  })
  const reports = () =>
    server.messages.flatMap((message) => (message.type === 'report' ? message.report : []))
  const isApplied = () => reports().at(-1)?.applied === revision
  await whenStarted(program, `edge ${number}`, isApplied)
  return {
    ...place,
    publicKey: keys.publicKey,
    problems: () => reports().at(-1)?.problems ?? [],
    /** Its nodes from now on; resolves when they are in force. */
    async setPeers(next: readonly Peer[]) {
      peers = next
      revision++
      server.state = stateNow()
      server.hint({ type: 'changed', revision })
      await until(`edge ${number} to know its nodes`, isApplied)
    },
    suspend: () => process.kill(program.pid, 'SIGSTOP'),
    resume: () => process.kill(program.pid, 'SIGCONT'),
    async close() {
      await program.stop()
      await server.close()
    },
  }
}
export type LabEdge = Awaited<ReturnType<typeof startEdge>>
