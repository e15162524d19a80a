import { createWireGuardKeys, publicKeyOf } from '@postern/host/wireguard-keys'
import { formatCidr, parseCidr } from '@postern/net/cidr'
import { formatIp } from '@postern/net/ip'
import { edgeAddressOf } from '@postern/net/tunnel-addresses'
import type { Kysely } from 'kysely'
import { bracketed, type ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import { address6Of, createNetwork6 } from './addresses.ts'

/** The installation's end of the tunnel: the same keys and networks on every edge. */
export interface Tunnel {
  readonly publicKey: string
  readonly privateKey: string
  /** CIDR: a /16 and a /64. */
  readonly network4: string
  readonly network6: string
  /** `host:port` for nodes, an IPv6 address in brackets. */
  readonly endpoint: string
  address6(address4: string): string
  /** The address inside the tunnel of the edge with this number, for the node with this address. */
  edgeAddress(number: number, address4: string): string
  /** The networks that a node sends through the tunnel. */
  allowedIps(node: { allowInternet: boolean }): string[]
}

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  config: ServerConfig
  randomBytes(count: number): Buffer
}

export const PRIVATE_KEY = 'tunnel.private_key'
const NETWORK6 = 'tunnel.network6'

/** Reads the tunnel's own secrets, or makes them at the first start. @throws SecretsError */
export async function loadTunnel(parts: Parts): Promise<Tunnel> {
  const { config, secrets } = parts
  const values = (await findSettings(parts.db, PRIVATE_KEY, NETWORK6)) ?? (await createValues(parts))
  const privateKey = secrets.open(values[PRIVATE_KEY], PLACES.setting(PRIVATE_KEY))
  const network4 = config.settings.POSTERN_TUNNEL_NETWORK
  const network6 = formatCidr(parseCidr(values[NETWORK6]))
  return {
    privateKey,
    publicKey: publicKeyOf(privateKey),
    network4,
    network6,
    get endpoint() {
      return `${bracketed(config.publicHost)}:${config.settings.POSTERN_TUNNEL_PORT}`
    },
    address6: (address4) => address6Of(network6, address4),
    edgeAddress: (number, address4) =>
      formatIp(edgeAddressOf(number, parseCidr(network4), parseCidr(address4).base)),
    allowedIps: (node) => (node.allowInternet ? ['0.0.0.0/0', '::/0'] : [network4, network6]),
  }
}

async function createValues({ db, secrets, randomBytes }: Parts) {
  const values = {
    [PRIVATE_KEY]: secrets.seal(createWireGuardKeys(randomBytes(32)).privateKey, PLACES.setting(PRIVATE_KEY)),
    [NETWORK6]: createNetwork6(randomBytes(5)),
  }
  await putSettings(db, values)
  return values
}
