import { type BitReader, type BitWriter, createBitReader, createBitWriter, riceCost } from './bits.ts'

/** Connections, bytes received and bytes sent. */
export type Count = readonly [connections: number, received: number, sent: number]

/** What was counted in the minutes of an hour, or the hours of a day; a slot without traffic is not there. */
export type Slots = ReadonlyMap<number, Count>

const SLOT_BITS = 6
const REST_BITS = 6
const COLUMNS = [0, 1, 2] as const

/**
 * As few bytes as it takes, without losing one of those counted: which slots there are, and for each of the three
 * columns its median and how far the others are from it. Random numbers cannot be made much smaller.
 * @param slots at least one, below 64
 */
export function pack(slots: Slots): Uint8Array {
  const present = [...slots].sort(([a], [b]) => a - b)
  const writer = createBitWriter()
  writePresent(
    writer,
    present.map(([slot]) => slot),
  )
  for (const column of COLUMNS)
    writeColumn(
      writer,
      present.map(([, count]) => count[column]),
    )
  return writer.bytes()
}

export function unpack(packed: Uint8Array): Map<number, Count> {
  const reader = createBitReader(packed)
  const present = readPresent(reader)
  const [connections = [], received = [], sent = []] = COLUMNS.map(() => readColumn(reader, present.length))
  return new Map(
    present.map((slot, index) => [slot, [connections[index] ?? 0, received[index] ?? 0, sent[index] ?? 0]]),
  )
}

/** Beyond the largest whole number that is exact there is no more. */
export function add(a: Count, b: Count): Count {
  const both = (column: 0 | 1 | 2) => Math.min(a[column] + b[column], Number.MAX_SAFE_INTEGER)
  return [both(0), both(1), both(2)]
}

export function sum(counts: Iterable<Count>): Count {
  let all: Count = [0, 0, 0]
  for (const count of counts) all = add(all, count)
  return all
}

/** Adds what was counted in a slot. */
export function addTo(slots: Map<number, Count>, slot: number, count: Count): void {
  const before = slots.get(slot)
  slots.set(slot, before ? add(before, count) : count)
}

function writePresent(writer: BitWriter, present: readonly number[]): void {
  const [first = 0, last = first] = [present[0], present.at(-1)]
  const isDense = present.length === last - first + 1
  writer.write(first, SLOT_BITS)
  writer.write(last, SLOT_BITS)
  writer.write(isDense ? 1 : 0, 1)
  if (isDense) return
  const has = new Set(present)
  for (let slot = first; slot <= last; slot++) writer.write(has.has(slot) ? 1 : 0, 1)
}

function readPresent(reader: BitReader): number[] {
  const [first, last] = [reader.read(SLOT_BITS), reader.read(SLOT_BITS)]
  const isDense = reader.read(1) === 1
  const slots: number[] = []
  for (let slot = first; slot <= last; slot++) if (isDense || reader.read(1) === 1) slots.push(slot)
  return slots
}

function writeColumn(writer: BitWriter, values: readonly number[]): void {
  const sorted = [...values].sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] ?? 0
  const medianBits = bitsOf(median)
  const distances = values.map((value) => Math.abs(value - median))
  const rest = bestRest(distances)
  writer.write(medianBits, REST_BITS)
  writer.write(median, medianBits)
  writer.write(rest, REST_BITS)
  for (const [index, distance] of distances.entries()) {
    writer.write((values[index] ?? 0) < median ? 1 : 0, 1)
    writer.writeRice(distance, rest)
  }
}

function readColumn(reader: BitReader, length: number): number[] {
  const median = reader.read(reader.read(REST_BITS))
  const rest = reader.read(REST_BITS)
  return Array.from({ length }, () => {
    const isBelow = reader.read(1) === 1
    const distance = reader.readRice(rest)
    return isBelow ? median - distance : median + distance
  })
}

function bitsOf(value: number): number {
  let bits = 0
  while (2 ** bits <= value) bits++
  return bits
}

/** The mean says nearly which is the cheapest; beside one outlier it is too large by far. */
function bestRest(distances: readonly number[]): number {
  const mean = distances.reduce((all, distance) => all + distance, 0) / Math.max(distances.length, 1)
  const sorted = [...distances].sort((a, b) => a - b)
  const middle = sorted[sorted.length >> 1] ?? 0
  const guesses = [bitsOf(mean) - 1, bitsOf(mean), bitsOf(middle), bitsOf(middle) + 1]
  let best = { rest: 0, cost: Number.POSITIVE_INFINITY }
  for (const guess of guesses) {
    const rest = Math.min(Math.max(guess, 0), 52)
    const cost = distances.reduce((all, distance) => all + riceCost(distance, rest), 0)
    if (cost < best.cost) best = { rest, cost }
  }
  return best.rest
}
