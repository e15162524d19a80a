import { randomBytes } from 'node:crypto'
import type { AgentConfig } from '@postern/contract/agent/agent'
import type { Exec } from '@postern/host/processes/exec'
import { createTrust } from '@postern/host/trust'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { contains, findCidrs, parseCidr } from '@postern/net/cidr'
import { isForPrivateUse } from '@postern/net/special'
import { createServerClient } from '../daemon/server-client.ts'
import { fetchAuthority, findVouched, readAuthority } from '../daemon/trust.ts'
import { listAllNameServers } from '../dns/resolver.ts'
import { AgentError } from '../errors.ts'
import { PLAIN, type Policy, tunnelOf } from '../policy.ts'
import type { Credentials } from '../store.ts'
import { findForeignRoute } from '../tunnel/routes.ts'
import { parseFirstWanted, type Wanted } from '../wanted.ts'
import type { Context } from './command.ts'
import { type ConnectOptions, chooseInterface, chooseSource, readToken } from './connect-options.ts'

/** The server, the token, the roots to trust, and the key, which stays while server and token are the same. */
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
    // In the stored order, because both are compared as text.
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

/** With the tunnel's present networks, which a server cannot change later. */
export function withTunnel(credentials: Credentials, config: AgentConfig): Credentials {
  return { ...credentials, policy: { ...(credentials.policy ?? PLAIN), tunnel: tunnelOf(config) } }
}

export async function settleAuthority(
  url: URL,
  { fingerprint, caFile }: Pick<ConnectOptions, 'fingerprint' | 'caFile'>,
  stored: string | null,
): Promise<string | null> {
  // The stored roots may include the server's next one, and need no connection.
  if (fingerprint) return findVouched(stored, fingerprint) ?? (await fetchAuthority(url, fingerprint))
  return caFile ? await readAuthority(caFile) : stored
}

/** Registers our key with the server. Checks the whole answer before anything on this machine changes. */
export async function register(
  exec: Exec,
  { url, token, ca, publicKey, interface: device, policy }: Credentials,
  stored: Credentials | undefined,
): Promise<AgentConfig> {
  const client = createServerClient({ url: new URL(url), token, trust: createTrust(ca) })
  const held = await client.getConfig()
  const config = held.publicKey === publicKey ? held : await client.registerKey(publicKey)
  const wanted = parseFirstWanted(config)
  // Those that the server may set can be in the tunnel, and this machine has them already when it connects again.
  const servers = (await listAllNameServers(exec)).filter(
    (each) => !policy?.dns || !wanted.dns.includes(each),
  )
  await refuseForeignTunnel(exec, wanted, [device, stored?.interface ?? device], servers)
  return config
}

/**
 * The traffic for the tunnel's networks goes to the server, so no other route of this machine may be in them, nor a name
 * server behind its router: the server would answer in its place.
 */
async function refuseForeignTunnel(
  exec: Exec,
  { addresses }: Wanted,
  devices: readonly string[],
  servers: readonly string[],
): Promise<void> {
  for (const network of tunnelOf({ addresses })) {
    const device = await findForeignRoute(exec, network, devices)
    const server = servers.find((text) => findCidrs([text]).some((one) => contains(parseCidr(network), one)))
    if (isForPrivateUse(parseCidr(network)) && device === undefined && server === undefined) continue
    const taken = server && `has this machine's name server ${server} in it`
    const why = device ? `this machine reaches by ${device}` : (taken ?? 'is not for private use')
    throw new AgentError('server-answer', `The server wants ${network} for its tunnel, which ${why}`)
  }
}
