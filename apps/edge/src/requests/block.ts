import { promisify } from 'node:util'
import { crc32, zstdCompress, zstdDecompressSync } from 'node:zlib'
import type { KeptRequest } from '@postern/contract/requests/kept'
import * as z from 'zod/mini'
import { type Column, numberColumn, packColumn, textColumn, unpackColumn } from './columns.ts'

/** The fields of a request in the order in which they lie, those that most searches look at first. */
const NUMBERS = ['service', 'status', 'at', 'total', 'received', 'sent', 'connect', 'response'] as const
const TEXTS = ['type', 'method', 'reason', 'source', 'person', 'path', 'query', 'target', 'detail'] as const
export const FIELDS = [...NUMBERS, ...TEXTS]
export type Field = (typeof FIELDS)[number]

const place = z.tuple([z.number(), z.number(), z.number()])

/** What is said of a block without a look into it. */
export const BlockHead = z.object({
  rows: z.number(),
  /** The first and the last time, in ms since the epoch. */
  from: z.number(),
  to: z.number(),
  /** Null: too many to name. */
  services: z.nullable(z.array(z.number())),
  /** One bit for each class of statuses, `2 ** 4` for 4xx; 1 for those without. */
  classes: z.number(),
  reasons: z.array(z.string()),
  /** The longest. */
  total: z.number(),
  /** Where each field begins after the head, its bytes there, and what they are unpacked; 0: they are not packed. */
  fields: z.record(z.string(), place),
})
export type BlockHead = z.infer<typeof BlockHead>

export interface Block {
  head: BlockHead
  body: Buffer
}

const MOST_SERVICES = 300
export const MAGIC = 0x3142_5250
/** Magic, length of the head, length of the body, sum of both. */
export const PREAMBLE = 16
/** What is no block has no longer head. */
const MAX_HEAD = 64 * 1024

/** @param requests at least one */
export function makeBlock(requests: readonly KeptRequest[]): Block {
  const pieces: Buffer[] = []
  const fields: BlockHead['fields'] = {}
  let at = 0
  for (const field of FIELDS) {
    const bytes = packColumn(columnOf(requests, field))
    fields[field] = [at, bytes.length, 0]
    pieces.push(bytes)
    at += bytes.length
  }
  return { head: { ...summaryOf(requests), fields }, body: Buffer.concat(pieces) }
}

function columnOf(requests: readonly KeptRequest[], field: Field): Column {
  const values = requests.map((request) => request[field])
  // The field says which of both its values are.
  return (NUMBERS as readonly string[]).includes(field)
    ? numberColumn(values as (number | null)[])
    : textColumn(values as (string | null)[])
}

function summaryOf(requests: readonly KeptRequest[]): Omit<BlockHead, 'fields'> {
  const services = new Set<number>()
  const reasons = new Set<string>()
  let [from, to, total, classes] = [Number.POSITIVE_INFINITY, 0, 0, 0]
  for (const request of requests) {
    services.add(request.service)
    if (request.reason !== null) reasons.add(request.reason)
    from = Math.min(from, request.at)
    to = Math.max(to, request.at)
    total = Math.max(total, request.total ?? 0)
    classes |= classOf(request.status)
  }
  return {
    rows: requests.length,
    from,
    to,
    services: services.size > MOST_SERVICES ? null : [...services],
    classes,
    reasons: [...reasons],
    total,
  }
}

/** The bit of a status among the classes. */
export function classOf(status: number | null): number {
  return status === null ? 1 : 1 << Math.floor(status / 100)
}

/** A block as it lies in a file. */
export function frameOf({ head, body }: Block): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const frame = Buffer.alloc(PREAMBLE)
  frame.writeUInt32LE(MAGIC, 0)
  frame.writeUInt32LE(text.length, 4)
  frame.writeUInt32LE(body.length, 8)
  frame.writeUInt32LE(crc32(body, crc32(text)), 12)
  return Buffer.concat([frame, text, body])
}

/** A whole block at this place of a file. @returns undefined for a torn one, and at the end */
export function findBlock(file: Buffer, at: number): (Block & { size: number }) | undefined {
  if (at + PREAMBLE > file.length || file.readUInt32LE(at) !== MAGIC) return undefined
  const [head, body] = [file.readUInt32LE(at + 4), file.readUInt32LE(at + 8)]
  const start = at + PREAMBLE
  const end = start + head + body
  if (head > MAX_HEAD || end > file.length) return undefined
  const bytes = file.subarray(start + head, end)
  if (crc32(bytes, crc32(file.subarray(start, start + head))) !== file.readUInt32LE(at + 12)) return undefined
  const parsed = BlockHead.safeParse(parseJson(file.toString('utf8', start, start + head)))
  return parsed.success ? { head: parsed.data, body: bytes, size: end - at } : undefined
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Refused by the schema, like anything else that is none of ours.
    return undefined
  }
}

const compress = promisify(zstdCompress)
/** Less than this gains nothing. */
const WORTHWHILE = 64

/** The same, each field packed by itself, so that a search unpacks those alone that it looks at. */
export async function packBlock({ head, body }: Block): Promise<Block> {
  const pieces: Buffer[] = []
  const fields: BlockHead['fields'] = {}
  let at = 0
  for (const [field, [from, size]] of Object.entries(head.fields)) {
    const bytes = body.subarray(from, from + size)
    const packed = size < WORTHWHILE ? bytes : await compress(bytes)
    const isSmaller = packed.length < size
    fields[field] = [at, isSmaller ? packed.length : size, isSmaller ? size : 0]
    pieces.push(isSmaller ? packed : bytes)
    at += fields[field][1]
  }
  return { head: { ...head, fields }, body: Buffer.concat(pieces) }
}

/** No field of a block is larger, unpacked: of 8192 texts of 1500 bytes each. */
const MAX_FIELD = 16 * 1024 * 1024

/** @throws when the bytes are no field */
export function readField(bytes: Buffer, unpacked: number): Column {
  if (unpacked > MAX_FIELD) throw new RangeError('not a field')
  return unpackColumn(unpacked === 0 ? bytes : zstdDecompressSync(bytes, { maxOutputLength: unpacked }))
}
