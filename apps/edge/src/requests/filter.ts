import type { KeptFilter } from '@postern/contract/requests/kept'
import { type Cidr, containsIp, findCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { type BlockHead, classOf } from './block.ts'
import { type Column, type TextColumn, textOf } from './columns.ts'
import type { Fields } from './rows.ts'

/** A filter, ready to look into blocks. */
export interface Matcher {
  /** Whether a segment or block may have what is looked for, by its times. */
  overlaps(times: { from: number; to: number }): boolean
  /** Whether a block may have it, by its head. */
  mayHave(head: BlockHead): boolean
  /** @returns the rows that match, of those from `first` up to `end`, in their order */
  match(fields: Fields, head: BlockHead, first: number, end: number): Promise<number[]>
}

export function createMatcher(filter: KeptFilter): Matcher {
  const { from, to, type, status, method, path, person, reason, minTotal } = filter
  const services = filter.services && new Set(filter.services)
  const network = filter.source === null ? undefined : findCidr(filter.source)
  const beginning = network ? commonBeginning(network) : ''
  const classes = status === null ? 0 : classesOf(status)

  const mayHave = (head: BlockHead) =>
    (services === null || head.services === null || head.services.some((id) => services.has(id))) &&
    (status === null || (head.classes & classes) !== 0) &&
    (minTotal === null || head.total >= minTotal) &&
    (reason === null || (reason === 'any' ? head.reasons.length > 0 : head.reasons.includes(reason)))

  return {
    overlaps: (times) => (to === null || times.from < to) && (from === null || times.to >= from),
    mayHave,
    async match(fields, head, first, end) {
      let rows: number[] = []
      for (let row = first; row < end; row++) rows.push(row)
      const keep = (column: Column, isWanted: Wanted) => {
        rows =
          column.kind === 'number'
            ? keepNumbers(column, rows, isWanted.number)
            : keepTexts(column, rows, isWanted.text)
      }
      const byText = async (field: 'type' | 'method' | 'person' | 'reason', value: string | null) => {
        if (value === null || rows.length === 0) return
        keep(await fields.read(field), { text: (_, text) => value === 'any' || text() === value })
      }
      const isWhole = (from === null || head.from >= from) && (to === null || head.to < to)
      if (services !== null) keep(await fields.read('service'), { number: (id) => services.has(id) })
      if (status !== null && rows.length > 0)
        keep(await fields.read('status'), { number: (code) => code >= status[0] && code <= status[1] })
      if (!isWhole && rows.length > 0)
        keep(await fields.read('at'), {
          number: (at) => (from === null || at >= from) && (to === null || at < to),
        })
      if (minTotal !== null && rows.length > 0)
        keep(await fields.read('total'), { number: (total) => total >= minTotal })
      await byText('reason', reason)
      await byText('type', type)
      await byText('method', method)
      await byText('person', person)
      if (network && rows.length > 0) {
        const sources = await fields.read('source')
        if (sources.kind === 'text') {
          const near = beginning === '' ? null : indicesWith(sources, beginning)
          keep(sources, { text: (index, text) => (near?.has(index) ?? true) && isIn(network, text()) })
        }
      }
      if (path !== null && rows.length > 0) {
        const paths = await fields.read('path')
        if (paths.kind === 'text') {
          const having = indicesWith(paths, path)
          keep(paths, { text: (index) => having.has(index) })
        }
      }
      return rows
    },
  }
}

interface Wanted {
  number?: (value: number) => boolean
  text?: (index: number, text: () => string) => boolean
}

function keepNumbers(
  { values, base }: Extract<Column, { kind: 'number' }>,
  rows: readonly number[],
  isWanted: Wanted['number'] = () => false,
): number[] {
  const kept: number[] = []
  for (const row of rows) {
    const value = values[row] ?? 0
    if (value !== 0 && isWanted(value - 1 + base)) kept.push(row)
  }
  return kept
}

/** Each text is looked at once, however many rows have it. */
function keepTexts(
  column: TextColumn,
  rows: readonly number[],
  isWanted: Wanted['text'] = () => false,
): number[] {
  const known = new Uint8Array(column.ends.length)
  const kept: number[] = []
  for (const row of rows) {
    const index = (column.values[row] ?? 0) - 1
    if (index < 0) continue
    if (known[index] === 0) known[index] = isWanted(index, () => textOf(column, index)) ? 1 : 2
    if (known[index] === 1) kept.push(row)
  }
  return kept
}

function isIn(network: Cidr, source: string): boolean {
  const ip = findIp(source)
  return ip !== undefined && containsIp(network, ip)
}

/** What the texts of all addresses of an IPv4 network begin with: looking for it is much faster than reading them all. */
function commonBeginning({ base, prefix }: Cidr): string {
  if (base.family === 6) return ''
  const octets = formatIp(base)
    .split('.')
    .slice(0, Math.floor(prefix / 8))
  return octets.length === 0 || octets.length === 4 ? octets.join('.') : `${octets.join('.')}.`
}

/** The texts with this part, found in all of them at once: most blocks have none. */
function indicesWith({ texts, ends }: TextColumn, part: string): ReadonlySet<number> {
  const found = new Set<number>()
  const needle = Buffer.from(part, 'latin1')
  let index = 0
  for (let at = texts.indexOf(needle); at >= 0; ) {
    while ((ends[index] ?? Number.POSITIVE_INFINITY) <= at) index++
    const end = ends[index] ?? 0
    // It may begin in one text and end in the next.
    const isInside = at + needle.length <= end
    if (isInside) found.add(index)
    // A visitor may have written it a thousand times into each.
    at = texts.indexOf(needle, isInside ? end : at + 1)
  }
  return found
}

function classesOf([first, last]: readonly [number, number]): number {
  let classes = 0
  for (let status = first; status <= last; status += 100) classes |= classOf(status)
  return classes | classOf(last)
}
