import { randomBytes } from 'node:crypto'
import type { AgentConfig } from '@postern/contract/agent'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { createServerClient } from '../daemon/server-client.ts'
import { createTrust, fetchAuthority, findVouched, readAuthority } from '../daemon/trust.ts'
import { AgentError } from '../errors.ts'
import { PLAIN, type Policy, tunnelOf } from '../policy.ts'
import type { Credentials } from '../store.ts'
import { parseWanted } from '../wanted.ts'
import type { Context } from './command.ts'
import { type ConnectOptions, chooseInterface, chooseSource, readToken } from './connect-options.ts'

/** The server, the token, whom to trust, and the key, which stays while server and token are the same. */
export async function settleCredentials(
  context: Context,
  options: ConnectOptions,
  stored: Credentials | undefined,
): Promise<Credentials> {
  const url = options.url ?? (stored && new URL(stored.url))
  if (!url) throw new AgentError('usage', 'Give the server address: --url URL')
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
    // In the order in which they are stored: both are compared as text.
    docker: chooseSource(options.docker, stored?.docker),
    publishFile: chooseSource(options.publishFile, stored?.publishFile),
    policy: settlePolicy(options.policy, isSameServer ? stored.policy : undefined),
  }
}

function settlePolicy(asked: ConnectOptions['policy'], stored: Policy = PLAIN): Policy {
  const base = asked.isPlain ? { ...PLAIN, tunnel: stored.tunnel } : stored
  return {
    gateway: asked.gateway ?? base.gateway,
    allTraffic: asked.allTraffic || base.allTraffic,
    dns: asked.dns || base.dns,
    tunnel: base.tunnel,
  }
}

/** With the tunnel's networks as they are now, which a server cannot change later. */
export function withTunnel(credentials: Credentials, config: AgentConfig): Credentials {
  return { ...credentials, policy: { ...(credentials.policy ?? PLAIN), tunnel: tunnelOf(config) } }
}

async function settleAuthority(
  url: URL,
  { fingerprint, caFile }: ConnectOptions,
  stored: string | null,
): Promise<string | null> {
  // What is stored may hold the server's next root as well, and needs no connection.
  if (fingerprint) return findVouched(stored, fingerprint) ?? (await fetchAuthority(url, fingerprint))
  return caFile ? await readAuthority(caFile) : stored
}

/** Registers our key with the server. Checks the whole answer before anything on this machine changes. */
export async function register({ url, token, ca, publicKey }: Credentials): Promise<AgentConfig> {
  const client = createServerClient({ url: new URL(url), token, trust: createTrust(ca) })
  const held = await client.getConfig()
  const config = held.publicKey === publicKey ? held : await client.registerKey(publicKey)
  parseWanted(config)
  return config
}
