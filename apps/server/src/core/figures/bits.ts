/** A sequence of bits, most significant first, in which whole numbers up to 2^53 take as few bits as they need. */
export interface BitWriter {
  write(value: number, bits: number): void
  /**
   * Writes a number that is probably below 2^`rest`: a run of ones, then `rest` bits.
   * @param rest up to 52
   */
  writeRice(value: number, rest: number): void
  bytes(): Uint8Array
}

export interface BitReader {
  read(bits: number): number
  readRice(rest: number): number
}

/** At most this many at once: more would not fit into JavaScript's shifts together with the pending bits. */
const PIECE = 16
/** After a longer run of ones the number follows in full. */
const LONGEST_RUN = 12
/** Enough for any whole number that JavaScript has. */
const WHOLE = 53

export function createBitWriter(): BitWriter {
  const bytes: number[] = []
  let pending = 0
  let count = 0
  const put = (value: number, bits: number) => {
    pending = (pending << bits) | value
    count += bits
    for (; count >= 8; count -= 8) bytes.push((pending >>> (count - 8)) & 0xff)
    pending &= (1 << count) - 1
  }
  const write = (value: number, bits: number) => {
    let rest = value
    for (let left = bits; left > 0; ) {
      const size = Math.min(PIECE, left)
      left -= size
      const piece = Math.floor(rest / 2 ** left)
      rest -= piece * 2 ** left
      put(piece, size)
    }
  }
  return {
    write,
    writeRice(value, rest) {
      const run = Math.floor(value / 2 ** rest)
      if (run >= LONGEST_RUN) {
        put((1 << LONGEST_RUN) - 1, LONGEST_RUN)
        return write(value, WHOLE)
      }
      put(((1 << run) - 1) << 1, run + 1)
      write(value - run * 2 ** rest, rest)
    },
    bytes: () => Uint8Array.from(count > 0 ? [...bytes, (pending << (8 - count)) & 0xff] : bytes),
  }
}

/** How many bits `writeRice` takes. */
export function riceCost(value: number, rest: number): number {
  const run = Math.floor(value / 2 ** rest)
  return run >= LONGEST_RUN ? LONGEST_RUN + WHOLE : run + 1 + rest
}

/** @param bytes of a writer; behind its end there are zeros */
export function createBitReader(bytes: Uint8Array): BitReader {
  let at = 0
  const bit = () => {
    const value = ((bytes[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1
    at++
    return value
  }
  const read = (bits: number) => {
    let value = 0
    for (let left = bits; left > 0; ) {
      const size = Math.min(8 - (at & 7), left)
      const piece = ((bytes[at >>> 3] ?? 0) >>> (8 - (at & 7) - size)) & ((1 << size) - 1)
      value = value * 2 ** size + piece
      at += size
      left -= size
    }
    return value
  }
  return {
    read,
    readRice(rest) {
      let run = 0
      while (run < LONGEST_RUN && bit() === 1) run++
      return run === LONGEST_RUN ? read(WHOLE) : run * 2 ** rest + read(rest)
    },
  }
}
