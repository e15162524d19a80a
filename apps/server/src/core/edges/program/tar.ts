import { createReadStream } from 'node:fs'

/** A file of an archive. */
export interface TarEntry {
  /** At most 100 bytes of ASCII, below the place where it is unpacked. */
  name: string
  mode: number
  /** A file on this machine, or what it contains. */
  from: { path: string; size: number } | { content: Buffer }
}

const BLOCK = 512

/**
 * An archive in the format of POSIX (ustar), piece by piece: root's, and with one time, so that the same files give the
 * same archive.
 * @throws when a file is not as large as its entry says
 */
export async function* writeTar(entries: readonly TarEntry[]): AsyncGenerator<Buffer> {
  for (const { name, mode, from } of entries) {
    const size = 'content' in from ? from.content.length : from.size
    yield headerOf(name, mode, size)
    if ('content' in from) yield from.content
    else yield* readWhole(from.path, size)
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
  }
  yield Buffer.alloc(2 * BLOCK)
}

async function* readWhole(path: string, size: number): AsyncGenerator<Buffer> {
  let read = 0
  for await (const piece of createReadStream(path, { highWaterMark: 262_144 })) {
    read += piece.length
    yield piece
  }
  if (read !== size) throw new Error(`${path} changed while it was read`)
}

function headerOf(name: string, mode: number, size: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, '0'), at, 'ascii')
  header.write(name, 0, 100, 'ascii')
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  // The sum counts its own place as spaces.
  header.fill(' ', 148, 156)
  header.write('0', 156, 'ascii')
  header.write('ustar\x0000', 257, 'ascii')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'ascii')
  return header
}
