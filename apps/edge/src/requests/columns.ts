/** One field of the requests of a block, one after the other. */
export type Column = NumberColumn | TextColumn

/** `base + values[i] - 1`; a 0 stands for null. */
export interface NumberColumn {
  kind: 'number'
  values: Uint8Array | Uint16Array | Uint32Array | Float64Array
  base: number
}

/** Each text once; `values[i] - 1` says which, and a 0 stands for null. */
export interface TextColumn {
  kind: 'text'
  texts: Buffer
  /** Where each text ends. */
  ends: Uint32Array
  values: Uint8Array | Uint16Array | Uint32Array | Float64Array
}

const WIDTHS = [Uint8Array, Uint16Array, Uint32Array, Float64Array] as const
type Width = (typeof WIDTHS)[number]

function widthFor(most: number): Width {
  if (most < 2 ** 8) return Uint8Array
  if (most < 2 ** 16) return Uint16Array
  return most < 2 ** 32 ? Uint32Array : Float64Array
}

/** @param values whole numbers from 0 on; null where there is none */
export function numberColumn(values: readonly (number | null)[]): NumberColumn {
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (const value of values) {
    if (value === null) continue
    if (value < least) least = value
    if (value > most) most = value
  }
  const base = Number.isFinite(least) ? least : 0
  const packed = new (widthFor(most - base + 1))(values.length)
  for (let i = 0; i < packed.length; i++) {
    const value = values[i] ?? null
    packed[i] = value === null ? 0 : value - base + 1
  }
  return { kind: 'number', values: packed, base }
}

export function textColumn(values: readonly (string | null)[]): TextColumn {
  const places = new Map<string, number>()
  const indices = new Uint32Array(values.length)
  for (let i = 0; i < indices.length; i++) {
    const value = values[i] ?? null
    if (value === null) continue
    let place = places.get(value)
    if (place === undefined) {
      place = places.size + 1
      places.set(value, place)
    }
    indices[i] = place
  }
  const ends = new Uint32Array(places.size)
  let end = 0
  let index = 0
  for (const text of places.keys()) {
    end += text.length
    ends[index++] = end
  }
  // All texts of a line are latin1; an e-mail that is not loses its letters here and nowhere else.
  const texts = Buffer.from([...places.keys()].join(''), 'latin1')
  return { kind: 'text', texts, ends, values: widthFor(places.size).from(indices) }
}

export function numberAt({ values, base }: NumberColumn, row: number): number | null {
  const value = values[row] ?? 0
  return value === 0 ? null : value - 1 + base
}

export function textAt(column: TextColumn, row: number): string | null {
  const place = column.values[row] ?? 0
  return place === 0 ? null : textOf(column, place - 1)
}

/** The text with this number. */
export function textOf({ texts, ends }: TextColumn, index: number): string {
  return texts.toString('latin1', index === 0 ? 0 : ends[index - 1], ends[index])
}

/** A column as bytes: its kind, its width, and what it holds. */
export function packColumn(column: Column): Buffer {
  const { values } = column
  const width = WIDTHS.findIndex((type) => values instanceof type)
  const head = Buffer.alloc(16)
  head.writeUInt8(column.kind === 'number' ? 1 : 2, 0)
  head.writeUInt8(width, 1)
  head.writeUInt32LE(values.length, 4)
  if (column.kind === 'number') {
    head.writeDoubleLE(column.base, 8)
    return Buffer.concat([head, bytesOf(values)])
  }
  head.writeUInt32LE(column.ends.length, 8)
  head.writeUInt32LE(column.texts.length, 12)
  return Buffer.concat([head, bytesOf(column.ends), bytesOf(values), column.texts])
}

/** @throws RangeError for bytes that are no column */
export function unpackColumn(bytes: Buffer): Column {
  const width = WIDTHS[bytes.readUInt8(1)]
  if (!width) throw new RangeError('not a column')
  const rows = bytes.readUInt32LE(4)
  if (bytes.readUInt8(0) === 1)
    return { kind: 'number', base: bytes.readDoubleLE(8), values: read(width, bytes, 16, rows) }
  const [texts, length] = [bytes.readUInt32LE(8), bytes.readUInt32LE(12)]
  const ends = read(Uint32Array, bytes, 16, texts)
  const values = read(width, bytes, 16 + ends.byteLength, rows)
  const from = 16 + ends.byteLength + values.byteLength
  if (from + length > bytes.length) throw new RangeError('not a column')
  return { kind: 'text', ends: ends as Uint32Array, values, texts: bytes.subarray(from, from + length) }
}

function bytesOf(values: Column['values']): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** A copy, since numbers of several bytes must begin at a multiple of their size. */
function read(type: Width, bytes: Buffer, from: number, count: number): Column['values'] {
  const to = from + count * type.BYTES_PER_ELEMENT
  if (to > bytes.length) throw new RangeError('not a column')
  return new type(new Uint8Array(bytes.subarray(from, to)).buffer)
}
