import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import { findCidr, formatCidr } from '@postern/net/cidr'
import * as z from 'zod/mini'
import { FAMILIES, type Family, familyOf, ip, listRows } from '../tools.ts'

const EVERYTHING = { '-4': '0.0.0.0/0', '-6': '::/0' } as const

export interface RouteOptions {
  interface: string
  /** Networks to reach through the tunnel. If the whole internet is among them, all traffic. */
  allowedIps: readonly string[]
  families: readonly Family[]
  /** Addresses to reach outside the tunnel even when all traffic goes through it. */
  outside: readonly string[]
}

/** A network without a route through the tunnel. */
export interface Unrouted {
  network: string
  /** Another program has the route. */
  isTaken: boolean
  /** In words. */
  problem: string
}

/**
 * Makes these the only routes into the tunnel.
 * @returns those that could not be made
 */
export async function applyRoutes(exec: Exec, options: RouteOptions): Promise<Unrouted[]> {
  const problems: Unrouted[] = []
  for (const family of options.families) {
    const networks = options.allowedIps.filter((network) => familyOf(network) === family)
    const partial = networks.filter((network) => network !== EVERYTHING[family])
    problems.push(...(await applyPartial(exec, family, options.interface, partial)))
    const full = networks.length > partial.length
    const through = ['default', 'dev', options.interface, 'table', slot(options.interface).table]
    if (full) await ip(exec, family, 'route', 'replace', ...through)
    await applyRules(exec, family, full ? renderRules(family, options) : [], options.interface)
  }
  return problems
}

/** Removes our rules; the routes go with the interface. */
export async function removeRules(exec: Exec, name: string): Promise<void> {
  for (const family of FAMILIES) await applyRules(exec, family, [], name)
}

const RouteRow = z.object({ dst: z.string(), protocol: z.optional(z.string()) })

async function applyPartial(exec: Exec, family: Family, name: string, wanted: string[]): Promise<Unrouted[]> {
  const rows = await listRows(exec, RouteRow, family, 'route', 'show', 'dev', name)
  const found = rows.map((row) => ({ ...row, network: networkOf(row.dst) }))
  const surplus = found.filter((row) => row.protocol !== 'kernel' && !wanted.includes(row.network))
  for (const { dst } of surplus) await ip(exec, family, 'route', 'del', dst, 'dev', name)
  const problems: Unrouted[] = []
  for (const network of wanted.filter((one) => !found.some((row) => row.network === one))) {
    try {
      await ip(exec, family, 'route', 'add', network, 'dev', name, 'proto', 'static')
    } catch (error) {
      const why = messageOf(error)
      const problem = `No route to ${network} through the tunnel: ${why}`
      problems.push({ network, isTaken: why.includes('File exists'), problem })
    }
  }
  return problems
}

const OtherRow = z.object({ dst: z.string(), dev: z.optional(z.string()), type: z.optional(z.string()) })

/**
 * The device by which this machine reaches a part of the network, or all of it, in any table; except by default routes.
 * @param own devices that do not count @returns undefined when there is none
 */
export async function findForeignRoute(
  exec: Exec,
  network: string,
  own: readonly string[],
): Promise<string | undefined> {
  for (let looks = 1; ; looks++) {
    const device = await findDevice(exec, network, own)
    if (device === undefined || !NAMELESS.test(device) || looks === MOST_LOOKS) return device
    await pause(LOOK_AGAIN)
  }
}

/** `ip` names a device so that is deleted while it looks. It may be ours, and its routes go with it. */
const NAMELESS = /^if\d+$/
const [MOST_LOOKS, LOOK_AGAIN] = [5, 100]

async function findDevice(exec: Exec, network: string, own: readonly string[]): Promise<string | undefined> {
  for (const which of ['root', 'match']) {
    const shown = ['route', 'show', 'table', 'all', which, network]
    const rows = await listRows(exec, OtherRow, familyOf(network), ...shown)
    const other = rows.find(
      ({ dst, dev = '', type = 'unicast' }) => dst !== 'default' && type === 'unicast' && !own.includes(dev),
    )
    if (other) return other.dev ?? 'several devices'
  }
  return undefined
}

function networkOf(text: string): string {
  const cidr = findCidr(text)
  return cidr ? formatCidr(cidr) : text
}

interface Rule {
  priority: number
  /** The rest of `ip rule add`. */
  args: string[]
}

/** Three priorities and a routing table for each interface name, apart from those of other programs. */
function slot(name: string): { first: number; table: string } {
  const number = createHash('sha256').update(name).digest().readUInt16BE(0) % 2000
  return { first: 20_000 + number * 3, table: String(51_000 + number) }
}

/**
 * First the hosts that the tunnel itself needs, outside it; then every route of the machine except its default one;
 * then the tunnel. So a local network stays local, and the endpoint stays reachable whatever the default route
 * becomes.
 */
function renderRules(family: Family, options: RouteOptions): Rule[] {
  const { first, table } = slot(options.interface)
  const outside = options.outside.filter((address) => familyOf(address) === family)
  return [
    ...[...new Set(outside)].map((address) => ({ priority: first, args: ['to', address, 'table', 'main'] })),
    { priority: first + 1, args: ['table', 'main', 'suppress_prefixlength', '0'] },
    { priority: first + 2, args: ['table', table] },
  ]
}

const RuleRow = z.object({ priority: z.number(), dst: z.optional(z.string()) })

async function applyRules(exec: Exec, family: Family, wanted: Rule[], name: string): Promise<void> {
  const { first } = slot(name)
  const rows = await listRows(exec, RuleRow, family, 'rule', 'show')
  const found = rows.filter(({ priority }) => priority >= first && priority <= first + 2)
  const keyOf = (priority: number, target = '') => `${priority} ${target}`
  const wantedKeys = wanted.map(({ priority, args }) => keyOf(priority, args[0] === 'to' ? args[1] : ''))
  const foundKeys = found.map(({ priority, dst }) => keyOf(priority, dst))
  // The last rule leads into the tunnel. It is added last and removed first, so that no packet of the tunnel itself
  // ever matches it.
  for (const { priority, dst } of [...found].reverse())
    if (!wantedKeys.includes(keyOf(priority, dst)))
      await ip(exec, family, 'rule', 'del', 'priority', String(priority), ...(dst ? ['to', dst] : []))
  for (const [index, { priority, args }] of wanted.entries())
    if (!foundKeys.includes(wantedKeys[index] ?? ''))
      await ip(exec, family, 'rule', 'add', ...args, 'priority', String(priority))
}
