import { defineCommand, requireRoot } from '../command.ts'
import { createConfigurationReader } from '../configuration.ts'
import type { Context } from '../context.ts'
import { createDaemon } from '../daemon.ts'
import { createDnsService } from '../dns-service.ts'
import { createEndpoint } from '../endpoint.ts'
import { AgentError } from '../errors.ts'
import { createLog } from '../log.ts'
import { listAddresses } from '../lookup.ts'
import type { AgentPaths } from '../paths.ts'
import { claimPidFile, removePidFile } from '../pid-file.ts'
import { isAnswering, probePorts } from '../probe.ts'
import { listNameServers } from '../resolver.ts'
import { createServerClient } from '../server-client.ts'
import { openServerSocket } from '../server-socket.ts'
import { writeDaemonStatus } from '../status-file.ts'
import { type Credentials, findCredentials, findLastGood, writeLastGood } from '../store.ts'
import { createTrust } from '../trust.ts'
import { createTunnel } from '../tunnel.ts'
import { findTunnelState } from '../wireguard.ts'

const PROBE_PATIENCE = 2000

export const run = defineCommand({
  summary: 'keep this machine in the tunnel, in the foreground (what the service runs)',
  help: `Usage: postern run [--config-dir DIR]

Keeps the tunnel as the server wants it until it is told to stop with SIGTERM or
SIGINT, and says what changes on standard output. The tunnel itself stays: only
'postern disconnect' takes it down. Needs what 'postern connect' has stored.`,
  options: {},
  parse: () => undefined,
  async run(call) {
    await requireRoot(call)
    const { context, paths } = call
    const credentials = await findCredentials(paths)
    if (!credentials)
      throw new AgentError(
        'not-connected',
        `Nothing is stored in ${paths.configDir}: use postern connect first`,
      )
    if (!(await claimPidFile(paths, context.pid)))
      throw new AgentError('failed', `Another agent runs with ${paths.configDir}`)
    try {
      await runDaemon(context, paths, credentials)
    } finally {
      await removePidFile(paths)
    }
    return 'ok'
  },
})

async function runDaemon(context: Context, paths: AgentPaths, credentials: Credentials): Promise<void> {
  const { exec, now, random, version } = context
  const server = new URL(credentials.url)
  const access = { url: server, token: credentials.token, trust: createTrust(credentials.ca) }
  const configuration = createConfigurationReader({
    client: createServerClient(access),
    publicKey: credentials.publicKey,
    lastGood: await findLastGood(paths),
    now,
    random,
    save: (config) => writeLastGood(paths, config),
  })
  const daemon = createDaemon({
    version,
    server,
    configuration,
    tunnel: createTunnel(exec, paths, credentials),
    endpoint: createEndpoint(listAddresses),
    dns: createDnsService({ listNameServers, random: (limit) => Math.floor(random() * limit) }),
    observePeer: async () => (await findTunnelState(exec, credentials.interface))?.peer,
    isAnswering: (address) => isAnswering(address, probePorts(server), PROBE_PATIENCE),
    listAddresses,
    listNameServers,
    restartSocket: () => socket.restart(),
    writeStatus: (status) => writeDaemonStatus(paths, status),
    now,
    random,
    log: createLog(context.io.out, 1, now),
  })
  const socket = openServerSocket(access, { onHint: () => daemon.hint(), random })
  try {
    await daemon.run(context.signal)
  } finally {
    socket.close()
  }
}
