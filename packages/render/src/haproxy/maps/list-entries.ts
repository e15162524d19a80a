import type { Bypass } from '@postern/net/bypass'
import { isBypassed } from '@postern/net/bypass-match'
import { findCidr } from '@postern/net/cidr'
import type { Ip } from '@postern/net/ip'
import { isAdmitted } from './lists.ts'

/** What a route's line calls its list: how many parts the map has of it. @returns undefined for one that denies everybody */
export function listPartsOf(name: string): string[] | undefined {
  const [, hash, parts] = /^([0-9a-f]+)\.(\d{1,4})$/.exec(name) ?? []
  if (hash === undefined) return undefined
  return Array.from({ length: Number(parts) }, (_, part) => `${hash}.${part}`)
}

/** What HAProxy's Lua decides by a list; undefined for what it cannot read, which lets nobody in. */
export interface HeldList {
  hasAddresses: boolean
  judge(ip: Ip): 'allowed' | 'blocked' | 'not allowed'
  isBypassed(path: string): boolean
}

/** @param parts the values of the map, in their order */
export function readHeldList(parts: readonly string[]): HeldList | undefined {
  const entries = parts.flatMap((part) => part.split(','))
  const of = (kind: string) =>
    entries.filter((entry) => entry.startsWith(kind)).map((entry) => entry.slice(1))
  const [allowed, blocked] = [of('a').map(findCidr), of('b').map(findCidr)]
  if ([...allowed, ...blocked].includes(undefined)) return undefined
  const lists = {
    allowed: allowed.filter((cidr) => cidr !== undefined),
    blocked: blocked.filter((cidr) => cidr !== undefined),
  }
  const bypass: Bypass = { paths: of('p').map(textOf), expressions: of('e') }
  return {
    hasAddresses: allowed.length + blocked.length > 0,
    judge(ip) {
      if (isAdmitted(lists, ip)) return 'allowed'
      return isAdmitted({ allowed: [], blocked: lists.blocked }, ip) ? 'not allowed' : 'blocked'
    },
    isBypassed: (path) => isBypassed(bypass, path),
  }
}

function textOf(hex: string): string {
  return hex.replace(/[0-9a-f]{2}/g, (digits) => String.fromCharCode(Number.parseInt(digits, 16)))
}
