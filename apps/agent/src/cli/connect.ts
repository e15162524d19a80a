import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { AgentConfig } from '@postern/contract/agent'
import { findHolder } from '@postern/host/lock'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { createServerClient } from '../daemon/server-client.ts'
import { findDaemonStatus } from '../daemon/status-file.ts'
import { createTrust, fetchAuthority, readAuthority } from '../daemon/trust.ts'
import { AgentError } from '../errors.ts'
import { type Credentials, findCredentials, writeCredentials, writeLastGood } from '../store.ts'
import { runTool } from '../tools.ts'
import { isLinkOurs } from '../tunnel/link.ts'
import { removeTunnel } from '../tunnel/tunnel.ts'
import { parseWanted } from '../wanted.ts'
import { type Call, defineCommand, requireRoot } from './command.ts'
import { type ConnectOptions, chooseInterface, parseConnectOptions, readToken } from './connect-options.ts'
import { waitForTunnel } from './first-contact.ts'
import { startService, stopService } from './service.ts'

export const connect = defineCommand({
  summary: 'bring this machine into the tunnel and keep it there',
  help: `Usage: postern connect --url URL --token TOKEN [--fingerprint sha256:HEX]

Makes a key for this machine, registers it with the server, starts the agent in
the background and waits until the tunnel carries traffic. With other options it
moves over; with the same ones nothing changes. Without --url and --token the
stored ones are used.

  --url URL           address of the server (or POSTERN_URL)
  --token TOKEN       access token of the node; '-' reads it from standard input
  --token-file FILE   read it from a file; better than --token, which others on
                      this machine can see while the command runs
                      (or POSTERN_TOKEN)
  --fingerprint F     trust the server that signs its own certificate with the
                      authority of this fingerprint; the console shows it
  --ca-file FILE      trust the certificate authority in this file only
  --interface NAME    name of the network interface (default postern-node)
  --wait SECONDS      how long to wait for traffic (default 30)
  --no-service        run as a plain process even where systemd runs
  --json              one JSON object instead of words
  --config-dir D      directory of this agent (default /etc/postern)`,
  options: {
    url: { type: 'string' },
    token: { type: 'string' },
    'token-file': { type: 'string' },
    fingerprint: { type: 'string' },
    'ca-file': { type: 'string' },
    interface: { type: 'string' },
    wait: { type: 'string' },
    'no-service': { type: 'boolean' },
  },
  parse: parseConnectOptions,
  async run(call, options) {
    const { context, paths, json } = call
    await requireRoot(call)
    await requireTools(call)
    const say = (line: string) => json || context.io.out(line)
    say('Configuring postern...')
    const stored = await findCredentials(paths)
    const credentials = await settleCredentials(call, options, stored)
    await requireOwnInterface(call, credentials.interface)
    const config = await register(credentials)
    say('Connecting node...')
    if (!(await isRunningWith(call, credentials, stored)))
      await moveOver(call, options, credentials, stored, config)
    const status = await waitForTunnel(call, new URL(credentials.url), options.patience)
    say('Connection established!')
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
  if (await isLinkOurs(context.exec, name, paths.configDir)) return
  throw new AgentError(
    'interface-taken',
    `The network interface ${name} belongs to another program. Choose another name: --interface NAME`,
  )
}

/** Whom to ask, with what, and whom to trust. The key stays as long as it is the same token of the same server. */
async function settleCredentials(
  { context }: Call,
  options: ConnectOptions,
  stored: Credentials | undefined,
): Promise<Credentials> {
  const url = options.url ?? (stored && new URL(stored.url))
  if (!url) throw new AgentError('usage', 'The address of the server is needed: --url URL')
  const isSameServer = stored?.url === url.origin
  const token = await readToken(context, options.token, isSameServer ? stored.token : undefined)
  const isSame = isSameServer && stored.token === token
  const { privateKey, publicKey } = isSame ? stored : createWireGuardKeys(randomBytes(32))
  return {
    url: url.origin,
    token,
    ca: await settleAuthority(url, options, isSameServer ? stored.ca : null),
    interface: chooseInterface(options.interface, stored?.interface),
    privateKey,
    publicKey,
  }
}

async function settleAuthority(
  url: URL,
  { fingerprint, caFile }: ConnectOptions,
  stored: string | null,
): Promise<string | null> {
  if (fingerprint) return await fetchAuthority(url, fingerprint)
  return caFile ? await readAuthority(caFile) : stored
}

/** Tells the server our key. The answer is read whole before anything on this machine changes. */
async function register({ url, token, ca, publicKey }: Credentials): Promise<AgentConfig> {
  const client = createServerClient({ url: new URL(url), token, trust: createTrust(ca) })
  const held = await client.getConfig()
  const config = held.publicKey === publicKey ? held : await client.registerKey(publicKey)
  parseWanted(config)
  return config
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
