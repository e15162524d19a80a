import { findCidr, formatCidr, parseCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import type { OccupiedNetwork } from '@postern/render/wireguard/plan'
import * as z from 'zod/mini'

/** The part of `ip -j`'s output that we read. With a filter, iproute2 prints `{}` for what it left out. */

const AddressInfo = z.object({
  local: z.optional(z.string()),
  prefixlen: z.optional(z.number()),
  scope: z.optional(z.string()),
})

const Link = z.object({
  ifname: z.optional(z.string()),
  ifalias: z.optional(z.string()),
  flags: z.optional(z.array(z.string())),
  mtu: z.optional(z.number()),
  linkinfo: z.optional(z.object({ info_kind: z.optional(z.string()) })),
  addr_info: z._default(z.array(AddressInfo), []),
})
export type Link = z.infer<typeof Link>

const Route = z.object({
  dst: z.string(),
  gateway: z.optional(z.string()),
  dev: z.optional(z.string()),
  table: z.optional(z.string()),
  protocol: z.optional(z.string()),
  type: z.optional(z.string()),
  metric: z.optional(z.number()),
  prefsrc: z.optional(z.string()),
})
export type IpRoute = z.infer<typeof Route>

const Netconf = z.object({ forwarding: z.optional(z.boolean()) })

/** @throws SyntaxError or ZodError when the text has another form */
export function parseLinks(json: string): Link[] {
  return z.array(Link).parse(JSON.parse(json === '' ? '[]' : json))
}

/** @throws SyntaxError or ZodError when the text has another form */
export function parseNetconf(json: string): z.infer<typeof Netconf>[] {
  return z.array(Netconf).parse(JSON.parse(json === '' ? '[]' : json))
}

/** @throws SyntaxError or ZodError when the text has another form */
export function parseRoutes(json: string): IpRoute[] {
  return z.array(Route).parse(JSON.parse(json === '' ? '[]' : json))
}

/** The addresses of a link in their one spelling with prefix length, without the kernel's own link-local ones. */
export function addressesOf(link: Link): string[] {
  return link.addr_info.flatMap((info) => {
    const ip = findIp(info.local ?? '')
    return ip && info.scope !== 'link' ? [`${formatIp(ip)}/${info.prefixlen}`] : []
  })
}

/** The destination of a route in its one spelling, or undefined for `default` and other words. */
export function destinationOf(route: IpRoute): string | undefined {
  const cidr = findCidr(route.dst)
  return cidr && formatCidr(cidr)
}

/** The address from which packets leave by a route, in its one spelling; null: the kernel chooses. */
export function sourceOf(route: IpRoute): string | null {
  const ip = findIp(route.prefsrc ?? '')
  return ip ? formatIp(ip) : null
}

/**
 * The networks that this machine uses by itself, so that no gateway may take them over.
 * @param routes the main table, without those of our interface
 */
export function occupiedNetworks(
  links: readonly Link[],
  routes: readonly IpRoute[],
  resolvers: readonly string[],
  ownInterface: string,
): OccupiedNetwork[] {
  const networks = links
    .filter((link) => link.ifname !== ownInterface && link.ifname !== 'lo')
    .flatMap((link) =>
      addressesOf(link).map((text) => ({ network: parseCidr(text), what: `${text} on ${link.ifname}` })),
    )
  const led = routes.flatMap((route) => {
    const network = findCidr(route.dst)
    // The kernel's routes are the networks of its own addresses.
    if (!network || route.protocol === 'kernel') return []
    const way = [route.gateway && ` via ${route.gateway}`, route.dev && ` on ${route.dev}`]
    return [{ network, what: `the route ${route.dst}${way.filter(Boolean).join('')}` }]
  })
  const gateways = routes.flatMap((route) => {
    const network = findCidr(route.dst === 'default' ? (route.gateway ?? '') : '')
    return network ? [{ network, what: `the router ${route.gateway}` }] : []
  })
  const dns = resolvers.flatMap((text) => {
    const network = findCidr(text)
    return network ? [{ network, what: `the name server ${text}` }] : []
  })
  return [...networks, ...gateways, ...dns, ...led]
}
