import { type Cidr, findCidr, parseCidr } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import { mergeNetworks, SET_NAMES, type SetName } from '@postern/render/nftables/plan'
import type { ObservedTable } from '@postern/render/nftables/table'
import * as z from 'zod/mini'

/** What `nft -j` prints, as far as we read it. */

const Element = z.union([
  z.string(),
  z.object({ prefix: z.object({ addr: z.string(), len: z.number() }) }),
  z.object({ range: z.array(z.string()) }),
])
type Element = z.infer<typeof Element>

const Chain = z.object({
  family: z.string(),
  table: z.string(),
  name: z.string(),
  hook: z.optional(z.string()),
  prio: z.optional(z.number()),
  policy: z.optional(z.string()),
})
export type NftChain = z.infer<typeof Chain>

const Rule = z.object({ chain: z.string(), comment: z.optional(z.string()), expr: z.unknown() })
const NftSet = z.object({ name: z.string(), elem: z.optional(z.array(Element)) })
const Listing = z.object({
  nftables: z.array(z.object({ chain: z.optional(Chain), rule: z.optional(Rule), set: z.optional(NftSet) })),
})

/** @throws SyntaxError or ZodError when the text is something else. */
export function parseTable(json: string): ObservedTable {
  const { nftables } = Listing.parse(JSON.parse(json))
  const rules = nftables.flatMap((item) => item.rule ?? [])
  const chains = nftables.flatMap(({ chain }) => {
    if (!chain) return []
    const comments = rules.filter((rule) => rule.chain === chain.name).map((rule) => rule.comment ?? '')
    return [{ head: `${chain.name} ${chain.hook} ${chain.prio} ${chain.policy}`, comments }]
  })
  const sets: ObservedTable['sets'] = {}
  for (const { set } of nftables) {
    const name = SET_NAMES.find((each) => each === set?.name)
    if (name && set) sets[name] = spell(name, set.elem ?? [])
  }
  return { chains, sets }
}

/** @throws SyntaxError or ZodError when the text is something else. */
export function parseChains(json: string): NftChain[] {
  return Listing.parse(JSON.parse(json)).nftables.flatMap((item) => item.chain ?? [])
}

/** True when a rule of the listed chain speaks of the interface, as one that lets its packets pass does. */
export function mentions(json: string, name: string): boolean {
  const { nftables } = Listing.parse(JSON.parse(json))
  return nftables.some((item) => item.rule && JSON.stringify(item.rule.expr).includes(`"${name}"`))
}

function spell(name: SetName, elements: readonly Element[]): string[] {
  if (name === 'internet4' || name === 'internet6')
    return elements.flatMap((element) => {
      const ip = typeof element === 'string' ? findIp(element) : undefined
      return ip ? [formatIp(ip)] : []
    })
  return mergeNetworks(elements.flatMap(toNetworks), name.endsWith('4') ? 4 : 6)
}

function toNetworks(element: Element): Cidr[] {
  if (typeof element === 'string') return [parseCidr(element)]
  if ('prefix' in element) {
    const network = findCidr(`${element.prefix.addr}/${element.prefix.len}`)
    return network ? [network] : []
  }
  const [from, to] = element.range.map(findIp)
  return from && to ? rangeToNetworks(from, to) : []
}

/** The networks that together are exactly the addresses from `from` to `to`. */
export function rangeToNetworks(from: Ip, to: Ip): Cidr[] {
  const width = from.family === 4 ? 32 : 128
  const networks: Cidr[] = []
  let start = from.value
  while (start <= to.value) {
    let bits = 0
    while (
      bits < width &&
      start % (1n << BigInt(bits + 1)) === 0n &&
      start + (1n << BigInt(bits + 1)) - 1n <= to.value
    )
      bits++
    networks.push({ base: { family: from.family, value: start }, prefix: width - bits })
    start += 1n << BigInt(bits)
  }
  return networks
}
