import { closedPortsOf } from '@postern/contract/settings/settings'
import { containsIp, findCidrs, parseCidr, single, unmapped } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import { isForPrivateUse, isPrivate, isSpecial } from '@postern/net/special'
import type { Context } from '../../../context.ts'
import { DeliveryError } from './delivery-error.ts'

/** Where a message goes. */
export interface Destination {
  /** A name or an address. */
  host: string
  port: number
  /** Private addresses are allowed, because a person said so. */
  inPrivateNetwork: boolean
  /** Without TLS only to private addresses. */
  isPlain: boolean
  /** A mail server of this machine itself is usual. */
  isMail: boolean
}

type Parts = Pick<Context, 'config' | 'network' | 'tunnel' | 'outside'>

const LOOKUP_MS = 10_000
/** Where mail servers of a machine itself listen. */
const MAIL_PORTS = [25, 465, 587, 2525]
const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr)

/**
 * Looks a host up and checks every address, so that what is checked is what is dialled.
 * @returns the address to connect to
 * @throws DeliveryError
 */
export async function findAddress(parts: Parts, to: Destination): Promise<string> {
  const addresses = await lookUp(parts, to.host)
  for (const address of addresses) {
    const fault = findFault(parts, to, address)
    if (fault !== undefined) throw new DeliveryError(fault)
  }
  const [first] = addresses
  if (first === undefined) throw new DeliveryError(`${to.host} has no address.`)
  return first
}

async function lookUp({ outside }: Parts, host: string): Promise<string[]> {
  if (findIp(host)) return [host]
  const timeout = AbortSignal.timeout(LOOKUP_MS)
  const late = new Promise<never>((_resolve, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('late')))
  })
  try {
    return await Promise.race([outside.lookup(host), late])
  } catch (cause) {
    throw new DeliveryError(`${host} was not found in DNS.`, { cause })
  }
}

function findFault(parts: Parts, to: Destination, address: string): string | undefined {
  if (parts.outside.isExempt(address, to.port)) return undefined
  const found = findIp(address)
  // An IPv4 address in the form of an IPv6 one is judged as what it is.
  const ip = found && unmapped(single(found)).base
  const place = `${to.host} leads to ${address}, `
  if (!ip) return `${place}which is no address.`
  if (isOwnMail(to, ip)) return undefined
  if (isSpecial(single(ip)))
    return `${place}a loopback, link-local or reserved address, where no alert is sent.`
  if (isInTunnel(parts, ip)) return `${place}inside the tunnel, where no alert is sent.`
  if (isOwn(parts, ip))
    return isOwnVisit(parts, to)
      ? undefined
      : `${place}this server itself. Publish the program there as a service, and enter its public address.`
  if (to.isPlain && !isForPrivateUse(single(ip)) && !to.isMail)
    return `${place}a public address, where nothing is sent without TLS. Use https://.`
  if (!isPrivate(single(ip))) return undefined
  if (!isForPrivateUse(single(ip))) return `${place}a reserved address, where no alert is sent.`
  return to.inPrivateNetwork
    ? undefined
    : `${place}a private address. Say that the server is in a private network.`
}

const isOwnMail = (to: Destination, ip: Ip) =>
  to.isMail &&
  to.inPrivateNetwork &&
  MAIL_PORTS.includes(to.port) &&
  LOOPBACK.some((network) => containsIp(network, ip))

function isInTunnel({ tunnel }: Parts, ip: Ip): boolean {
  return findCidrs([tunnel.network4, tunnel.network6]).some((network) => containsIp(network, ip))
}

function isOwn({ network, config }: Parts, ip: Ip): boolean {
  const own = [...network().addresses, config.publicHost].flatMap((text) => findIp(text) ?? [])
  return own.some((each) => formatIp(each) === formatIp(ip))
}

/** Through HAProxy, like any visitor: a service that runs behind this very installation. */
function isOwnVisit({ config: { settings } }: Parts, to: Destination): boolean {
  if (to.isMail) return to.inPrivateNetwork && !closedPortsOf(settings).includes(to.port)
  return to.port === settings.POSTERN_HTTPS_PORT && !to.isPlain
}
