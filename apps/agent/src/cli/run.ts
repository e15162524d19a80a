import { mkdir, rm } from 'node:fs/promises'
import type { AgentConfig } from '@postern/contract/agent/agent'
import { releaseLock, takeLock } from '@postern/host/lock'
import { createTrust } from '@postern/host/trust'
import { endUserspaceTunnel, MOST_UNANSWERED, watchUserspaceTunnel } from '@postern/host/userspace-tunnel'
import type { AgentPaths, Environment } from '../config.ts'
import { createConfigurationReader } from '../daemon/configuration.ts'
import { createDaemon } from '../daemon/daemon.ts'
import { listAddresses } from '../daemon/endpoint.ts'
import { isAnswering, probePorts } from '../daemon/health.ts'
import { createReportSender } from '../daemon/reporter.ts'
import { followRoots } from '../daemon/roots.ts'
import { createServerClient } from '../daemon/server-client.ts'
import { openServerSocket } from '../daemon/server-socket.ts'
import { watchSurroundings } from '../daemon/surroundings.ts'
import { findEngineAddress } from '../discovery/engine.ts'
import { createSources, type SourceSettings } from '../discovery/sources.ts'
import { createDnsService } from '../dns/forwarder.ts'
import { listAllNameServers, listNameServers } from '../dns/resolver.ts'
import { AgentError } from '../errors.ts'
import { createLog, type Log } from '../io.ts'
import { applyPolicy, PLAIN } from '../policy.ts'
import {
  type Credentials,
  type DaemonStatus,
  findLastGood,
  writeCredentials,
  writeDaemonStatus,
  writeLastGood,
} from '../store.ts'
import { createTunnel } from '../tunnel/tunnel.ts'
import { findTunnelState } from '../tunnel/wireguard.ts'
import { parseWanted } from '../wanted.ts'
import { type Context, defineCommand, requirePrivilege } from './command.ts'
import { chooseSource } from './connect-options.ts'
import { enrol } from './enrol.ts'

const PROBE_PATIENCE = 2000

export const run = defineCommand({
  summary: 'keep this machine connected, in the foreground (what the service runs)',
  help: `Usage: postern run [--config-dir DIR]

Keeps the tunnel as the server wants it until SIGTERM or SIGINT, and prints what
changes to standard output. The tunnel itself stays up: only 'postern disconnect'
takes it down. Run 'postern connect' first: it stores what this command needs.
In a container, POSTERN_URL and POSTERN_TOKEN (or POSTERN_TOKEN_FILE) replace that, and POSTERN_FINGERPRINT or POSTERN_CA_FILE; POSTERN_GATEWAY,
POSTERN_ALL_TRAFFIC and POSTERN_DNS say what the server may make of the node.`,
  options: {},
  parse: () => undefined,
  async run(call) {
    await requirePrivilege(call)
    const { context, paths } = call
    const log = createLog(context.io.out, 1, context.now)
    await mkdir(paths.runDir, { recursive: true, mode: 0o700 })
    if (takeLock(paths.pid))
      throw new AgentError('failed', `Another agent is already running with ${paths.configDir}`)
    try {
      // A previous agent's state is no longer valid.
      await rm(paths.status, { force: true })
      const credentials = await enrol(call, log)
      if (credentials) await runDaemon(context, paths, credentials, log)
    } finally {
      releaseLock(paths.pid)
    }
    return 'ok'
  },
})

async function runDaemon(
  context: Context,
  paths: AgentPaths,
  credentials: Credentials,
  log: Log,
): Promise<void> {
  const { now, random, version } = context
  const server = new URL(credentials.url)
  const access = { url: server, token: credentials.token, trust: createTrust(credentials.ca) }
  const roots = followRoots(access, credentials.ca, {
    save: (ca) => writeCredentials(paths, { ...credentials, ca }),
    log,
  })
  const client = createServerClient(access)
  const { publicKey } = credentials
  // An agent without a policy gets one from its present configuration, which applies from now on.
  await writeCredentials(paths, credentials)
  const lastGood = await findLastGood(paths)
  const save = createSaver(paths, lastGood, () => sources.sendAgain())
  const read = (config: AgentConfig) => applyPolicy(parseWanted(config), credentials.policy ?? PLAIN)
  const configuration = createConfigurationReader({ client, publicKey, lastGood, now, random, save, read })
  const sources = createSources(readSources(context.environment, credentials), {
    send: client.publish,
    getNetworks: () => configuration.held.wanted?.gateway,
    onChange: () => daemon.wake(),
    ...{ log, random },
  })
  const machine = createMachine(context, paths, credentials)
  const reports = createReportSender({ send: client.report, now, log })
  const daemon = createDaemon({
    sources,
    report: reports.tell,
    version,
    server,
    configuration,
    ...machine,
    restartSocket: () => socket.restart(),
    ...{ now, random, log },
  })
  const onHint = () => {
    for (const part of [daemon, sources]) part.hint()
  }
  const onOpen = () => {
    sources.sendAgain()
    reports.sendAgain()
    daemon.wake()
  }
  const socket = openServerSocket(access, { onOpen, onHint, random })
  const onMoved = () => {
    daemon.moved()
    // Connections from the old address are dead.
    socket.restart()
  }
  const tunnel = credentials.interface
  const surroundings = {
    tunnel,
    onMoved,
    ports: () => machine.tunnel.watched(configuration.held.wanted?.targets ?? NO_PORTS),
    onListening: () => daemon.listening(),
  }
  const watch = { run: (signal: AbortSignal) => watchSurroundings(surroundings, signal) }
  try {
    await runTogether([daemon, sources, watch, createHangWatch(tunnel, onMoved, log)], context.signal)
  } finally {
    socket.close()
    roots.stop()
  }
}

const NO_PORTS = { tcp: [], udp: [] }

/** Restarts a wireguard-go that hangs. */
function createHangWatch(tunnel: string, onMoved: () => void, log: Log) {
  const onLook = async (unanswered: number) => {
    if (unanswered < MOST_UNANSWERED) return
    log('wireguard-go is not responding and is restarted')
    endUserspaceTunnel(tunnel)
    onMoved()
  }
  return { run: (signal: AbortSignal) => watchUserspaceTunnel(tunnel, onLook, signal) }
}

/** Runs all until the signal, or until one of them fails: then the others end too. */
async function runTogether(
  parts: readonly { run(signal: AbortSignal): Promise<void> }[],
  stop: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([stop, failed.signal])
  try {
    await Promise.all(parts.map((part) => part.run(signal)))
  } finally {
    failed.abort()
  }
}

/**
 * Stores the server's configuration. When it takes the right to publish away it removes the services, and does not
 * restore them by itself: `publishAgain` does.
 */
function createSaver(paths: AgentPaths, lastGood: AgentConfig | undefined, publishAgain: () => void) {
  let mayPublish = lastGood?.mayPublish
  return (config: AgentConfig) => {
    if (config.mayPublish !== mayPublish) publishAgain()
    mayPublish = config.mayPublish
    return writeLastGood(paths, config)
  }
}

/** The parts of this machine that the daemon changes and observes. */
function createMachine({ exec, random }: Context, paths: AgentPaths, credentials: Credentials) {
  const ports = probePorts(new URL(credentials.url))
  return {
    tunnel: createTunnel(exec, paths, credentials),
    dns: createDnsService({ listNameServers, random: (limit) => Math.floor(random() * limit) }),
    observePeers: async () => (await findTunnelState(exec, credentials.interface))?.peers,
    isAnswering: (address: string) => isAnswering([address], ports, PROBE_PATIENCE),
    listAddresses,
    listNameServers: () => listAllNameServers(exec),
    writeStatus: (status: DaemonStatus) => writeDaemonStatus(paths, status),
  }
}

/** The environment takes precedence over what connecting stored. */
function readSources({ docker, publishFile }: Environment, stored: Credentials): SourceSettings {
  const address = chooseSource(docker, stored.docker)
  return {
    docker: address === undefined ? undefined : findEngineAddress(address),
    publishFile: chooseSource(publishFile, stored.publishFile),
  }
}
