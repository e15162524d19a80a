import { type Cidr, findCidr, formatCidr, parseCidr } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import { mergeNetworks, SET_NAMES, type SetName } from '@postern/render/nftables/plan'
import type { ObservedTable } from '@postern/render/nftables/table'
import * as z from 'zod/mini'

/** The part of `nft -j`'s output that we read. */

const Part = z.union([
  z.string(),
  z.number(),
  z.object({ prefix: z.object({ addr: z.string(), len: z.number() }) }),
  z.object({ range: z.array(z.string()) }),
])
type Part = z.infer<typeof Part>
const Concat = z.object({ concat: z.array(Part) })
/** An element of a set, or of a map with its target or the name of its counter. */
const Element = z.union([Part, Concat, z.tuple([Part, z.union([Concat, z.string()])])])
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
/** Elements that the kernel adds have another form. */
const NftSet = z.object({ name: z.string(), elem: z.optional(z.array(z.unknown())) })
const Elements = z.array(Element)
const Noted = z.array(
  z.object({
    elem: z.object({ val: z.object({ concat: z.tuple([z.number(), z.string()]) }), expires: z.number() }),
  }),
)
const Counter = z.object({ name: z.string(), packets: z.number(), bytes: z.number() })
export type NftCounter = z.infer<typeof Counter>
const Listing = z.object({
  nftables: z.array(
    z.object({
      chain: z.optional(Chain),
      rule: z.optional(Rule),
      set: z.optional(NftSet),
      map: z.optional(NftSet),
      counter: z.optional(Counter),
      table: z.optional(z.object({ handle: z.number() })),
    }),
  ),
})

/** @throws SyntaxError or ZodError when the text has another form */
export function parseTable(json: string): ObservedTable {
  const { nftables } = Listing.parse(JSON.parse(json))
  const rules = nftables.flatMap((item) => item.rule ?? [])
  const chains = nftables.flatMap(({ chain }) => {
    if (!chain) return []
    const comments = rules.filter((rule) => rule.chain === chain.name).map((rule) => rule.comment ?? '')
    return [{ head: `${chain.name} ${chain.hook} ${chain.prio} ${chain.policy}`, comments }]
  })
  const sets: ObservedTable['sets'] = {}
  for (const { map, set = map } of nftables) {
    const name = SET_NAMES.find((each) => each === set?.name)
    if (name && set) sets[name] = spell(name, Elements.parse(set.elem ?? []))
  }
  return { chains, sets, counters: nftables.flatMap(({ counter }) => counter?.name ?? []) }
}

/** The handle tells a table from a later one of the same name. @throws SyntaxError or ZodError */
export function parseCounters(json: string): { handle: number; counters: NftCounter[] } {
  const { nftables } = Listing.parse(JSON.parse(json))
  const [handle = 0] = nftables.flatMap(({ table }) => table?.handle ?? [])
  return { handle, counters: nftables.flatMap(({ counter }) => counter ?? []) }
}

/** @throws SyntaxError or ZodError when the text has another form */
export function parseChains(json: string): NftChain[] {
  return Listing.parse(JSON.parse(json)).nftables.flatMap((item) => item.chain ?? [])
}

/** A source that a service's lists refused, and for how many seconds the kernel still remembers it. */
export interface Refusal {
  port: number
  source: string
  expires: number
}

/** @throws SyntaxError or ZodError when the text has another form */
export function parseRefusals(json: string): Refusal[] {
  const { nftables } = Listing.parse(JSON.parse(json))
  return nftables.flatMap(({ set }) =>
    Noted.parse(set?.elem ?? []).map(({ elem: { val, expires } }) => {
      const [port, source] = val.concat
      return { port, source, expires }
    }),
  )
}

/** True when a rule of the listed chain names the interface, as one that lets its packets pass would. */
export function mentions(json: string, name: string): boolean {
  const { nftables } = Listing.parse(JSON.parse(json))
  return nftables.some((item) => item.rule && JSON.stringify(item.rule.expr).includes(`"${name}"`))
}

/**
 * Whether a rule or a set of the listed table may let a TCP port in: one that names it, alone or in a range; one that
 * asks for no port, like all of an interface; or one that nft cannot read itself (`xt`), as iptables writes them.
 */
export function mayLetPortIn(json: string, port: number): boolean {
  const { nftables } = Listing.parse(JSON.parse(json))
  const isPort = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(isPort)
    if (typeof value !== 'object' || value === null) return value === port
    return Object.entries(value).some(
      ([key, inside]) => key === 'xt' || isRange(key, inside) || isPort(inside),
    )
  }
  const isRange = (key: string, ends: unknown) =>
    key === 'range' && Array.isArray(ends) && ends[0] <= port && port <= ends[1]
  const isOpen = (rule: string) => rule.includes('"accept"') && !/"dport"|"ct"|icmp|"lo"/.test(rule)
  const isLetIn = (expr: unknown) => isPort(expr) || isOpen(JSON.stringify(expr ?? ''))
  return nftables.some(({ rule, set, map }) => isLetIn(rule?.expr) || isPort(set?.elem) || isPort(map?.elem))
}

/** The elements in the spelling of the plan. */
function spell(name: SetName, elements: readonly Element[]): string[] {
  if (!NETWORKS.test(name)) return elements.flatMap(spellElement)
  return mergeNetworks(elements.flatMap(toNetworks), name.endsWith('4') ? 4 : 6)
}

/** Sets of plain networks, which the kernel joins where they touch. */
const NETWORKS = /^(tunnel|private)[46]$/

/** @returns more than one for a range */
function spellElement(element: Element): string[] {
  if (Array.isArray(element)) {
    const [start, end] = element
    const [[key], [target]] = [spellPart(start), typeof end === 'string' ? [end] : spellConcat(end)]
    return [`${key} : ${target}`]
  }
  return typeof element === 'object' && 'concat' in element ? spellConcat(element) : spellPart(element)
}

/** A visitor's network is the last part and has a length in any case; a target begins with its address. */
function spellConcat({ concat: [first = '', second = ''] }: z.infer<typeof Concat>): string[] {
  const isTarget = typeof first === 'string'
  const seconds = isTarget ? spellPart(second) : toNetworks(second).map(formatCidr)
  return spellPart(first).flatMap((start) => seconds.map((end) => `${start} . ${end}`))
}

function spellPart(part: Part): string[] {
  if (typeof part === 'number') return [String(part)]
  if (typeof part !== 'string') return toNetworks(part).map(formatCidr)
  const ip = findIp(part)
  return ip ? [formatIp(ip)] : [part]
}

function toNetworks(part: Element): Cidr[] {
  if (typeof part === 'string') return [parseCidr(part)]
  if (typeof part === 'number' || Array.isArray(part)) return []
  if ('prefix' in part) {
    const network = findCidr(`${part.prefix.addr}/${part.prefix.len}`)
    return network ? [network] : []
  }
  const [from, to] = 'range' in part ? part.range.map(findIp) : []
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
