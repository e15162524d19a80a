import { lookup } from 'node:dns/promises'
import { CONTROL_NAME } from '@postern/contract/edge/join'
import { findIp } from '@postern/net/ip'
import type { FarServers } from '@postern/render/haproxy/options'
import type { IdentityStore } from './identity.ts'

interface Options {
  identity: Pick<IdentityStore, 'current'>
  /** ms since the epoch. */
  now: () => number
  lookup?: (host: string) => Promise<string>
}

/** HAProxy asks each few seconds; a name that changes its address is followed within a minute. */
const VALID = 60_000
const PATIENCE = 2000
/** Nothing listens there: HAProxy has to start even while no name can be resolved. */
const NOWHERE = '127.0.0.1'

/**
 * The servers as HAProxy dials them. It gets addresses, because it would neither start with a name that does not resolve
 * nor look into /etc/hosts later. An address stays in use while its name cannot be resolved.
 */
export function createFarServers({
  identity,
  now,
  lookup: find = lookupOne,
}: Options): () => Promise<FarServers> {
  const found = new Map<string, { address: string; until: number }>()

  async function resolve(host: string): Promise<string> {
    if (findIp(host)) return host
    const known = found.get(host)
    if (known && now() < known.until) return known.address
    const address = await find(host).catch(() => known?.address ?? NOWHERE)
    found.set(host, { address, until: now() + VALID })
    return address
  }
  return async () => {
    const { key, certificate, root, known } = identity.current()
    const addresses = known.servers.map(async ({ url }) => {
      const { hostname, port } = new URL(url)
      return { host: await resolve(hostname.replace(/^\[|\]$/g, '')), port: Number(port) || 443 }
    })
    return {
      addresses: await Promise.all(addresses),
      root,
      name: CONTROL_NAME,
      proof: `${certificate}\n${key}`,
    }
  }
}

async function lookupOne(host: string): Promise<string> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, PATIENCE).unref())
  // The order of a system that prefers IPv6 would lead into nothing where this machine has none.
  const [first] = await Promise.race([lookup(host, { all: true, order: 'ipv4first' }), late])
  if (!first) throw new Error(`${host} has no address`)
  return first.address
}
