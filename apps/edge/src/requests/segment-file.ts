import { type FileHandle, open, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, zstdCompress, zstdDecompressSync } from 'node:zlib'
import type { KeptRequest } from '@postern/contract/requests/kept'
import { writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'
import {
  type Block,
  BlockHead,
  findBlock,
  frameOf,
  makeBlock,
  packBlock,
  parseJson,
  readField,
} from './block.ts'
import { type Fields, readRows } from './rows.ts'

/** Where a block of a segment is: its first row among those of the segment, and where its body begins in the file. */
export const BlockPlace = z.object({ firstRow: z.number(), at: z.number(), head: BlockHead })
export type BlockPlace = z.infer<typeof BlockPlace>

const Index = z.array(BlockPlace)

/** A block with fewer rows is put together with its neighbours when its segment is closed. */
export const SMALL_BLOCK = 4096

const compress = promisify(zstdCompress)

/** All whole blocks of a file that was written block by block; what is behind a torn one is lost. */
export function readBlocks(file: Buffer): { block: Block; at: number }[] {
  const blocks: { block: Block; at: number }[] = []
  let at = 0
  for (let found = findBlock(file, at); found; found = findBlock(file, at)) {
    at += found.size
    blocks.push({ block: found, at: at - found.body.length })
  }
  return blocks
}

/**
 * Writes a segment as it stays: larger blocks, packed, and an index at its end.
 * @returns what is in it, and its size; undefined when the journal holds nothing
 */
export async function writeSegment(
  journal: string,
  file: string,
): Promise<{ places: BlockPlace[]; size: number } | undefined> {
  const places: BlockPlace[] = []
  const frames: Buffer[] = []
  let [at, firstRow] = [0, 0]
  for await (const block of inLargeBlocks(readBlocks(await readFile(journal)).map((each) => each.block))) {
    const packed = await packBlock(block)
    const frame = frameOf(packed)
    at += frame.length
    places.push({ firstRow, at: at - packed.body.length, head: packed.head })
    firstRow += packed.head.rows
    frames.push(frame)
  }
  if (places.length === 0) return undefined
  const all = Buffer.concat([...frames, await renderIndex(places)])
  await writeAtomic(file, all, 0o600)
  return { places, size: all.length }
}

/** Small neighbours become one. Between two of them others have their turn. */
async function* inLargeBlocks(blocks: readonly Block[]): AsyncGenerator<Block> {
  let waiting: KeptRequest[] = []
  for (const block of blocks) {
    if (block.head.rows < SMALL_BLOCK) waiting.push(...(await allRows(block)))
    const isLarge = block.head.rows >= SMALL_BLOCK
    if (waiting.length >= SMALL_BLOCK || (isLarge && waiting.length > 0)) {
      yield makeBlock(waiting)
      waiting = []
    }
    if (isLarge) yield block
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (waiting.length > 0) yield makeBlock(waiting)
}

function allRows({ head, body }: Block): Promise<KeptRequest[]> {
  const fields: Fields = {
    async read(field) {
      const [from, size, unpacked] = head.fields[field] ?? [0, 0, 0]
      return readField(body.subarray(from, from + size), unpacked)
    },
  }
  return readRows(
    fields,
    Array.from({ length: head.rows }, (_, row) => row),
  )
}

const FOOT = 12
const FOOT_MAGIC = 0x3149_5250
/** The index of 16 MB of the smallest blocks that a closed segment has is smaller. */
const MAX_INDEX = 16 * 1024 * 1024

async function renderIndex(places: readonly BlockPlace[]): Promise<Buffer> {
  const packed = await compress(Buffer.from(JSON.stringify(places)))
  const foot = Buffer.alloc(FOOT)
  foot.writeUInt32LE(packed.length, 0)
  foot.writeUInt32LE(crc32(packed), 4)
  foot.writeUInt32LE(FOOT_MAGIC, 8)
  return Buffer.concat([packed, foot])
}

/** What is in a closed segment. @returns undefined when its index cannot be read */
export async function findIndex(file: FileHandle): Promise<BlockPlace[] | undefined> {
  const { size } = await file.stat()
  const foot = await readAt(file, size - FOOT, FOOT)
  if (foot?.readUInt32LE(8) !== FOOT_MAGIC) return undefined
  const length = foot.readUInt32LE(0)
  const packed = length < size ? await readAt(file, size - FOOT - length, length) : undefined
  if (!packed || crc32(packed) !== foot.readUInt32LE(4)) return undefined
  try {
    const text = zstdDecompressSync(packed, { maxOutputLength: MAX_INDEX }).toString()
    return Index.safeParse(parseJson(text)).data
  } catch {
    // Bytes that are none of ours, under a sum that is right.
    return undefined
  }
}

/** @returns undefined when the file ends before */
export async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer | undefined> {
  if (at < 0) return undefined
  const bytes = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(bytes, 0, length, at)
  return bytesRead === length ? bytes : undefined
}

/** The fields of a block in a file, each read once. */
export function fieldsOf(file: FileHandle, { at, head }: BlockPlace): Fields {
  const read = new Map<string, ReturnType<Fields['read']>>()
  const load: Fields['read'] = async (field) => {
    const [from, size, unpacked] = head.fields[field] ?? [0, 0, 0]
    const bytes = await readAt(file, at + from, size)
    if (!bytes) throw new RangeError('the file ends inside of a block')
    return readField(bytes, unpacked)
  }
  return {
    read(field) {
      const column = read.get(field) ?? load(field)
      read.set(field, column)
      return column
    },
  }
}

export async function openForReading(path: string): Promise<FileHandle> {
  return await open(path, 'r')
}
