import { findText } from '@postern/host/files'
import { type CounterMap, parseCounterName } from '@postern/render/nftables/counters'
import type { FirewallPlan } from '@postern/render/nftables/plan'
import type { ObservedTable } from '@postern/render/nftables/table'
import { addCounts, type Count, NONE, type Reading } from '../../counts/reading.ts'
import { type NftCounter, parseCounters, parseTable } from './nft-json.ts'

/** Reads the counters of UDP services. One that no map leads to any more is removed once it has been read. */
export interface CountReader {
  read(): Promise<Reading | undefined>
  /** Adds the unread counters of former services to a plan, so that they stay. */
  keepUnread(plan: FirewallPlan, observed: ObservedTable | undefined): FirewallPlan
}

/** @param list our table as `nft -j` shows it; undefined when there is none */
export function createCountReader(list: () => Promise<string | undefined>): CountReader {
  let hasCounters: boolean | undefined
  let loose = new Set<string>()
  /** Read when nothing led to them any more. */
  let settled = new Set<string>()
  return {
    async read() {
      if (hasCounters === false) return undefined
      const json = await list()
      const boot = (await findText('/proc/sys/kernel/random/boot_id'))?.trim()
      if (json === undefined || !boot) return undefined
      // The previous reading is on disk by now.
      settled = loose
      loose = looseOf(parseTable(json))
      const { handle, counters } = parseCounters(json)
      return { source: `nftables ${boot} ${handle}`, counts: toCounts(counters) }
    },
    keepUnread(plan, observed) {
      const wanted = new Set(plan.counters)
      const kept = (observed?.counters ?? []).filter((name) => !wanted.has(name) && !settled.has(name))
      const counters = [...plan.counters, ...kept]
      hasCounters = counters.length > 0
      return { ...plan, counters }
    },
  }
}

function looseOf({ sets, counters }: ObservedTable): Set<string> {
  const elements = Object.values(sets).flat()
  const led = new Set(elements.map((element) => element.slice(element.indexOf(' : ') + 3)))
  return new Set(counters.filter((name) => !led.has(name)))
}

/** Bytes of the headers of IP and UDP in each packet. */
const HEADERS = { '4': 28, '6': 48 }

function toCounts(counters: readonly NftCounter[]): Map<number, Count> {
  const counts = new Map<number, Count>()
  for (const { name, packets, bytes } of counters) {
    const of = parseCounterName(name)
    if (!of) continue
    const payload = Math.max(bytes - packets * HEADERS[of.map.endsWith('4') ? '4' : '6'], 0)
    counts.set(of.service, addCounts(counts.get(of.service) ?? NONE, countOf(of.map, packets, payload)))
  }
  return counts
}

function countOf(map: CounterMap, packets: number, payload: number): Count {
  if (map.startsWith('flows')) return [packets, 0, 0]
  return map.startsWith('in') ? [0, payload, 0] : [0, 0, payload]
}
