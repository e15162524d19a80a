import type { Route } from '@postern/contract/edge/desired-state'
import { type Cidr, containsIp, findCidr, formatCidr, mergeCidrs, unmapped } from '@postern/net/cidr'
import { findIp, type Ip } from '@postern/net/ip'

type Lists = Pick<Route, 'allowedIps' | 'blockedIps'>
type WholeLists = Lists & Partial<Pick<Route, 'signIn'>>

/** What one route lets in, as lines of `lists.map`; `name` is what the route's own line refers to. */
export interface RenderedList {
  /** `<hash>.<number of parts>`; empty: everybody may come in. */
  name: string
  /**
   * `<hash>.<part>` → entries like `b203.0.113.0/24`, separated by commas: addresses that are `a`llowed or `b`locked,
   * `p`aths in hexadecimal digits and `e`xpressions that need no sign-in.
   */
  parts: Map<string, string>
}

/** A list that HAProxy cannot read, so that it denies everybody. */
const DENY_ALL: RenderedList = { name: 'unreadable', parts: new Map() }

/** Far below the 15 kB at which HAProxy's socket silently drops a command. */
const PART_LENGTH = 4000

/** A text's hash, as 32 hexadecimal digits; passed in, because this package is pure. */
export type Digest = (text: string) => string

/** Named by content: a changed list gets a new name, so that no request ever sees half of it. */
export function renderList(lists: WholeLists, digest: Digest): RenderedList {
  const parsed = parseLists(lists)
  if (!parsed) return DENY_ALL
  const entries = [
    ...parsed.allowed.map((cidr) => `a${formatCidr(cidr)}`),
    ...parsed.blocked.map((cidr) => `b${formatCidr(cidr)}`),
    ...(lists.signIn?.paths ?? []).map((path) => `p${hexOf(path)}`),
    ...(lists.signIn?.expressions ?? []).map((expression) => `e${expression}`),
  ]
  if (entries.length === 0) return { name: '', parts: new Map() }
  const hash = digest(entries.join())
  const parts = split(entries).map((text, index): [string, string] => [`${hash}.${index}`, text])
  return { name: `${hash}.${parts.length}`, parts: new Map(parts) }
}

/** Paths are ASCII. */
function hexOf(path: string): string {
  return [...path].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}

/** Decides as HAProxy's Lua does, for connections that are open already. An unreadable list admits nobody. */
export function isAllowed(lists: Lists, address: string): boolean {
  const parsed = parseLists(lists)
  const ip = findIp(address)
  return parsed !== undefined && ip !== undefined && isAdmitted(parsed, ip)
}

export function isAdmitted({ allowed, blocked }: ParsedLists, ip: Ip): boolean {
  if (blocked.some((cidr) => containsIp(cidr, ip))) return false
  return allowed.length === 0 || allowed.some((cidr) => containsIp(cidr, ip))
}

/** The networks of both lists, without overlaps; undefined when an entry cannot be read. */
export interface ParsedLists {
  allowed: readonly Cidr[]
  blocked: readonly Cidr[]
}

export function parseLists(lists: Lists): ParsedLists | undefined {
  const allowed = parseAll(lists.allowedIps)
  const blocked = parseAll(lists.blockedIps)
  return allowed && blocked && { allowed, blocked }
}

function parseAll(texts: readonly string[]): Cidr[] | undefined {
  const found: Cidr[] = []
  for (const text of texts) {
    const cidr = findCidr(text)
    if (!cidr) return undefined
    found.push(unmapped(cidr))
  }
  return mergeCidrs(found)
}

function split(entries: readonly string[]): string[] {
  const parts: string[] = []
  let part = ''
  for (const entry of entries) {
    if (part.length + entry.length >= PART_LENGTH) {
      parts.push(part)
      part = entry
    } else part = part === '' ? entry : `${part},${entry}`
  }
  return [...parts, part]
}
