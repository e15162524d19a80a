import { RESPONSE_BUCKETS } from '@postern/contract/edge/response-times'
import { type BitReader, type BitWriter, createBitReader, createBitWriter, riceCost } from './bits.ts'

/**
 * Connections, bytes received, bytes sent, and of what answers HTTP the errors, then the answers by the bucket of their
 * time; zeros at the end may be absent.
 */
export type Count = readonly [connections: number, received: number, sent: number, ...answers: number[]]

/** Errors and buckets. */
const MOST_ANSWERS = 1 + RESPONSE_BUCKETS

/** The counts in the minutes of an hour, or the hours of a day; a slot without traffic is absent. */
export type Slots = ReadonlyMap<number, Count>

const SLOT_BITS = 6
const REST_BITS = 6
const COLUMNS = [0, 1, 2] as const
/** How many columns of answers there are, and the width of those numbers. */
const WIDTH_BITS = 6
/** From this mean on, numbers of answers are packed like the first columns. */
const LARGE = 8

/**
 * Lossless: which slots exist and, for each of the first three columns, the median and the others' distance from it.
 * Random numbers can hardly be packed smaller. Then, where there are answers, which of their columns are not empty, and
 * those as Rice codes. Rows without them end before, and read the same as rows of servers that knew none.
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
  writeAnswers(
    writer,
    present.map(([, [, , , ...answers]]) => answers),
  )
  return writer.bytes()
}

export function unpack(packed: Uint8Array): Map<number, Count> {
  const reader = createBitReader(packed)
  const present = readPresent(reader)
  const [connections = [], received = [], sent = []] = COLUMNS.map(() => readColumn(reader, present.length))
  const answers = readAnswers(reader, present.length)
  return new Map(
    present.map((slot, index) => [
      slot,
      [
        connections[index] ?? 0,
        received[index] ?? 0,
        sent[index] ?? 0,
        ...answers.map((column) => column[index] ?? 0),
      ],
    ]),
  )
}

/** Capped at the largest exact whole number. */
export function add(a: Count, b: Count): Count {
  const [longer, shorter] = a.length < b.length ? [b, a] : [a, b]
  // As long as the longer one, which is a count.
  return longer.map((value, column) =>
    Math.min(value + (shorter[column] ?? 0), Number.MAX_SAFE_INTEGER),
  ) as unknown as Count
}

export function sum(counts: Iterable<Count>): Count {
  let all: Count = [0, 0, 0]
  for (const count of counts) all = add(all, count)
  return all
}

/** Adds the counts of a slot. */
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

/** Writes nothing where there are none: behind the end of a row there are zeros, and the width reads as one. */
function writeAnswers(writer: BitWriter, rows: readonly (readonly number[])[]): void {
  const width = Math.max(...rows.map((row) => row.findLastIndex((value) => value > 0) + 1))
  if (width === 0) return
  writer.write(width, WIDTH_BITS)
  for (let column = 0; column < width; column++) {
    const values = rows.map((row) => row[column] ?? 0)
    const isUsed = values.some((value) => value > 0)
    writer.write(isUsed ? 1 : 0, 1)
    if (!isUsed) continue
    const mean = values.reduce((all, value) => all + value, 0) / values.length
    // Large numbers lie around their median, small ones above zero.
    writer.write(mean < LARGE ? 0 : 1, 1)
    if (mean < LARGE) writeSmall(writer, values, mean)
    else writeColumn(writer, values)
  }
}

function writeSmall(writer: BitWriter, values: readonly number[], mean: number): void {
  const rest = Math.max(bitsOf(mean) - 1, 0)
  writer.write(rest, REST_BITS)
  for (const value of values) writer.writeRice(value, rest)
}

/** @returns the columns */
function readAnswers(reader: BitReader, length: number): number[][] {
  const width = Math.min(reader.read(WIDTH_BITS), MOST_ANSWERS)
  return Array.from({ length: width }, () => {
    if (reader.read(1) === 0) return Array<number>(length).fill(0)
    if (reader.read(1) === 1) return readColumn(reader, length)
    const rest = reader.read(REST_BITS)
    return Array.from({ length }, () => reader.readRice(rest))
  })
}

function bitsOf(value: number): number {
  let bits = 0
  while (2 ** bits <= value) bits++
  return bits
}

/** The mean usually gives the cheapest width; with an outlier it is far too large. */
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
