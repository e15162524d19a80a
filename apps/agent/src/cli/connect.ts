import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { AgentConfig } from '@postern/contract/agent/agent'
import { findText } from '@postern/host/files'
import { findHolder } from '@postern/host/lock'
import { isAnswering, onlineEdges, probePorts } from '../daemon/health.ts'
import { AgentError, type Failure } from '../errors.ts'
import {
  type Credentials,
  type DaemonStatus,
  findCredentials,
  findDaemonStatus,
  writeCredentials,
  writeLastGood,
} from '../store.ts'
import { runTool } from '../tools.ts'
import { interfaceTaken, isLinkOurs } from '../tunnel/link.ts'
import { removeTunnel } from '../tunnel/tunnel.ts'
import { type Call, defineCommand, requirePrivilege } from './command.ts'
import { type ConnectOptions, parseConnectOptions } from './connect-options.ts'
import { register, settleCredentials, withTunnel } from './credentials.ts'
import { startService, stopService } from './service.ts'

export const connect = defineCommand({
  summary: 'connect this machine to the tunnel and keep it connected',
  help: `Usage: postern connect --url URL --token TOKEN [--fingerprint sha256:HEX]

Creates a key for this machine, registers it with the server, starts the agent in
the background and waits until the tunnel carries traffic. Run it again with other
options to change them; with the same options nothing changes. Without --url and
--token it uses the stored ones.

  --url URL           server address (or POSTERN_URL)
  --token TOKEN       the node's access token; '-' reads it from standard input
  --token-file FILE   read the token from a file. Safer than --token, which other
                      users of this machine can see while the command runs
                      (or POSTERN_TOKEN, POSTERN_TOKEN_FILE)
  --fingerprint F     trust the certificate authority with this fingerprint; the
                      console shows it (or POSTERN_FINGERPRINT)
  --ca-file FILE      trust only the certificate authority in this file
                      (or POSTERN_CA_FILE)
  --interface NAME    name of the network interface (default postern-node)
  --docker SOCKET     publish the containers that have labels for it, as seen by Docker
                      at unix:///var/run/docker.sock or tcp://HOST:PORT; 'none' ends
                      that (or POSTERN_DOCKER)
  --publish FILE      publish the services in this file, a list in JSON; 'none' ends
                      that (or POSTERN_PUBLISH_FILE)
  --gateway NETS      let the server have this node forward into these networks, like
                      192.168.1.0/24,10.20.0.0/16; alone: the private networks that it
                      is in; 'private': all private ones; 'none' (or POSTERN_GATEWAY)
  --all-traffic       let the server take all traffic of this node (or
                      POSTERN_ALL_TRAFFIC=true)
  --dns               let the server set this node's name servers (or POSTERN_DNS=true)
  --plain             take back what these three allowed before
  --wait SECONDS      how long to wait for traffic (default 30)
  --no-service        run as a plain process even where systemd runs
  --json              print one JSON object instead of text
  --config-dir D      where this agent keeps its files (default /etc/postern)`,
  options: {
    url: { type: 'string' },
    token: { type: 'string' },
    'token-file': { type: 'string' },
    fingerprint: { type: 'string' },
    'ca-file': { type: 'string' },
    interface: { type: 'string' },
    docker: { type: 'string' },
    publish: { type: 'string' },
    gateway: { type: 'string', bare: 'own' },
    'all-traffic': { type: 'boolean' },
    dns: { type: 'boolean' },
    plain: { type: 'boolean' },
    wait: { type: 'string' },
    'no-service': { type: 'boolean' },
  },
  parse: parseConnectOptions,
  async run(call, options) {
    const { context, paths, json } = call
    await requirePrivilege(call)
    await requireTools(call)
    const say = (line: string) => json || context.io.out(line)
    say('Configuring postern...')
    const stored = await findCredentials(paths)
    const asked = await settleCredentials(context, options, stored)
    await requireOwnInterface(call, asked.interface)
    const config = await register(context.exec, asked, stored)
    const credentials = withTunnel(asked, config)
    say('Connecting node...')
    if (!(await isRunningWith(call, credentials, stored)))
      await moveOver(call, options, credentials, stored, config)
    const status = await waitForTunnel(call, new URL(credentials.url), options.patience)
    say('Connection established!')
    for (const note of status.notes) say(`Note: ${note}`)
    if (json)
      context.io.out(JSON.stringify({ state: status.state, node: status.node, addresses: status.addresses }))
    return 'ok'
  },
})

async function requireTools({ context }: Call): Promise<void> {
  const { exec } = context
  await runTool(exec, 'wg', ['--version'])
  await runTool(exec, 'ip', ['-V'])
}

async function requireOwnInterface({ context, paths }: Call, name: string): Promise<void> {
  if (!(await isLinkOurs(context.exec, name, paths.configDir))) throw interfaceTaken(name)
}

async function isRunningWith(
  { context, paths }: Call,
  credentials: Credentials,
  stored: Credentials | undefined,
): Promise<boolean> {
  if (JSON.stringify(credentials) !== JSON.stringify(stored)) return false
  if (findHolder(paths.pid) === undefined) return false
  return (await findDaemonStatus(paths))?.version === context.version
}

async function moveOver(
  { context, paths }: Call,
  { withSystemd }: ConnectOptions,
  credentials: Credentials,
  stored: Credentials | undefined,
  config: AgentConfig,
): Promise<void> {
  await stopService(context, paths, stored?.interface ?? credentials.interface)
  if (stored && stored.interface !== credentials.interface)
    await removeTunnel(context.exec, paths, stored.interface)
  await rm(paths.status, { force: true })
  await writeCredentials(paths, credentials)
  await writeLastGood(paths, config)
  await startService(context, paths, credentials.interface, withSystemd)
}

const START_WITHIN = 10_000
const CHECK_INTERVAL = 100

/** Failures that do not go away by waiting. */
const FINAL: readonly string[] = [
  'token-refused',
  'node-disabled',
  'tools-missing',
  'interface-taken',
] satisfies Failure[]

/** Waits up to `patience` ms for traffic through the tunnel. @throws AgentError that says why there is none. */
async function waitForTunnel({ context, paths }: Call, server: URL, patience: number): Promise<DaemonStatus> {
  const began = context.now()
  for (let looks = 0; looks < patience / CHECK_INTERVAL; looks++) {
    const status = await findDaemonStatus(paths)
    // The agent checks only every few seconds, so its last state may be out of date.
    if (status && (await isAnswering(onlineEdges(status), probePorts(server), 2000))) return status
    if (status && FINAL.includes(status.outcome)) throw failureOf(status)
    const waited = context.now() - began
    if (waited > patience) break
    if (waited > START_WITHIN && findHolder(paths.pid) === undefined) break
    await pause(CHECK_INTERVAL)
  }
  const status = await findDaemonStatus(paths)
  if (status && findHolder(paths.pid) !== undefined) throw failureOf(status)
  throw new AgentError('failed', `The agent did not start.${await lastWords(paths.log)}`)
}

function failureOf({ outcome, problem }: DaemonStatus): AgentError {
  const rest = FINAL.includes(outcome) && outcome !== 'node-disabled' ? '' : KEEPS_TRYING
  return new AgentError(
    outcome === 'ok' ? 'failed' : outcome,
    `${problem ?? 'The agent has no answer yet'}.${rest}`,
  )
}

const KEEPS_TRYING =
  ' The agent keeps trying in the background. See postern status; postern disconnect stops it.'

async function lastWords(path: string): Promise<string> {
  const lines = (await findText(path))?.trim().split('\n') ?? []
  const last = lines.at(-1)
  return last ? ` Last line of ${path}: ${last}` : ' See journalctl -u postern-agent'
}
