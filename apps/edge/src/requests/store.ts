import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptRequest } from '@postern/contract/requests/kept'
import { codeOf } from '@postern/host/errors'
import { frameOf, makeBlock } from './block.ts'
import { type BlockPlace, findIndex, openForReading, readBlocks, writeSegment } from './segment-file.ts'

export interface StoreOptions {
  directory: string
  /** Bytes of all segments together, and how long they are kept, in ms; asked each time. */
  limits: () => { maxBytes: number; maxAge: number }
  /** Bytes of the disk that stay free for everything else. */
  reserve?: number
  /** A segment is closed when its journal is as large, or as old. */
  segmentBytes?: number
  segmentAge?: number
  now: () => number
}

/** One file of requests, in the order in which they ended. */
export interface Segment {
  /** They count up. */
  seq: number
  rows: number
  from: number
  to: number
  bytes: number
  /** Only of one that still grows, or waits to be packed. */
  places?: BlockPlace[]
}

/** There is no room on the disk, or too little to take more of it. */
export class DiskFullError extends Error {
  readonly code = 'disk_full'
  constructor() {
    super('the disk is full')
  }
}

/** The kept requests on disk: a journal that grows block by block, and packed segments. Reads may come at any time. */
export interface RequestStore {
  open(): Promise<void>
  /** One at a time, and not beside `closeDue`. @throws DiskFullError, or what the system says; nothing of it is kept then */
  append(requests: readonly KeptRequest[]): Promise<void>
  /** Closes a journal that is large or old enough, or has what is not to be kept. @returns whether it did */
  closeDue(): Promise<boolean>
  /** Packs what is closed, and removes what is too old or too much; one at a time. */
  tidy(): Promise<void>
  /** All segments, the oldest first. The same object as long as nothing is added. */
  segments(): readonly Segment[]
  /** A segment to read in. @returns undefined when it is gone */
  read(seq: number): Promise<{ file: FileHandle; places: readonly BlockPlace[] } | undefined>
  close(): Promise<void>
}

const MB = 1024 * 1024
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EROFS'])

export function createRequestStore(options: StoreOptions): RequestStore {
  const { directory, limits, now } = options
  const { reserve = 200 * MB, segmentBytes = 16 * MB, segmentAge = 3_600_000 } = options
  const segments = new Map<number, Segment>()
  let journal: { segment: Segment; file: FileHandle; began: number } | undefined
  const journalPath = (seq: number) => join(directory, `${String(seq).padStart(10, '0')}.open`)
  const packedPath = (seq: number) => join(directory, `${String(seq).padStart(10, '0')}.seg`)

  async function beginJournal() {
    const seq = Math.max(0, ...segments.keys()) + 1
    const file = await open(journalPath(seq), 'wx', 0o600)
    const segment: Segment = { seq, rows: 0, from: Number.POSITIVE_INFINITY, to: 0, bytes: 0, places: [] }
    segments.set(seq, segment)
    journal = { segment, file, began: now() }
    return journal
  }
  async function endJournal() {
    const last = journal
    journal = undefined
    await last?.file.close()
  }
  async function assertRoom(bytes: number) {
    const { bavail, bsize } = await statfs(directory)
    if (bavail * bsize < reserve + bytes) throw new DiskFullError()
  }
  async function append(requests: readonly KeptRequest[]) {
    const block = makeBlock(requests)
    const frame = frameOf(block)
    await assertRoom(frame.length)
    const { segment, file } = journal ?? (await beginJournal())
    await writeWhole(file, frame, segment.bytes)
    segment.places?.push({
      firstRow: segment.rows,
      at: segment.bytes + frame.length - block.body.length,
      head: block.head,
    })
    segment.bytes += frame.length
    segment.rows += block.head.rows
    segment.from = Math.min(segment.from, block.head.from)
    segment.to = Math.max(segment.to, block.head.to)
  }
  /** The whole block or nothing of it: what is behind a torn one would be lost. */
  async function writeWhole(file: FileHandle, frame: Buffer, at: number) {
    try {
      for (let done = 0; done < frame.length; ) {
        const { bytesWritten } = await file.write(frame, done, frame.length - done, at + done)
        if (bytesWritten === 0) throw new DiskFullError()
        done += bytesWritten
      }
    } catch (error) {
      await file.truncate(at).catch(endJournal)
      throw error
    }
  }
  async function pack(segment: Segment) {
    const packed = await writeSegment(journalPath(segment.seq), packedPath(segment.seq))
    if (packed) {
      delete segment.places
      segment.bytes = packed.size
    } else segments.delete(segment.seq)
    await rm(journalPath(segment.seq), { force: true })
  }
  async function remove({ seq }: Segment) {
    segments.delete(seq)
    await rm(packedPath(seq), { force: true })
    await rm(journalPath(seq), { force: true })
  }
  async function loadPacked(seq: number) {
    const file = await openForReading(packedPath(seq))
    try {
      const places = await findIndex(file)
      const { size } = await file.stat()
      if (places) segments.set(seq, { ...sumOf(places), seq, bytes: size })
      // Nothing finds anything in it any more.
      else await rm(packedPath(seq), { force: true })
    } finally {
      await file.close()
    }
  }
  async function loadJournal(seq: number) {
    // Packed already, and killed before it was removed.
    if (segments.has(seq)) return await rm(journalPath(seq), { force: true })
    const places: BlockPlace[] = []
    let firstRow = 0
    for (const { block, at } of readBlocks(await readFile(journalPath(seq)))) {
      places.push({ firstRow, at, head: block.head })
      firstRow += block.head.rows
    }
    const { size } = await stat(journalPath(seq))
    segments.set(seq, { ...sumOf(places), seq, bytes: size, places })
  }
  async function loadAll() {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const names = (await readdir(directory)).sort()
    for (const name of names) if (name.endsWith('.tmp')) await rm(join(directory, name), { force: true })
    const listed = (ending: string) =>
      names.flatMap((name) =>
        /^\d{10}\.(seg|open)$/.test(name) && name.endsWith(ending) ? parseInt(name, 10) : [],
      )
    for (const seq of listed('.seg')) await loadPacked(seq)
    for (const seq of listed('.open')) await loadJournal(seq)
  }
  async function trim() {
    const { maxBytes, maxAge } = limits()
    let bytes = inOrder().reduce((sum, segment) => sum + segment.bytes, 0)
    for (const segment of inOrder()) {
      // What is being written to is closed first.
      if (segment === journal?.segment || (bytes <= maxBytes && segment.to >= now() - maxAge)) continue
      bytes -= segment.bytes
      await remove(segment)
    }
  }
  async function read(seq: number): ReturnType<RequestStore['read']> {
    const segment = segments.get(seq)
    if (!segment) return undefined
    const places = segment.places?.slice()
    const file = await openForReading(places ? journalPath(seq) : packedPath(seq)).catch(() => undefined)
    // Packed meanwhile, or removed.
    if (!file) return places && !segments.get(seq)?.places ? await read(seq) : undefined
    const known = places ?? (await findIndex(file))
    if (known) return { file, places: known }
    await file.close()
    return undefined
  }
  function inOrder() {
    return [...segments.values()].sort((a, b) => a.seq - b.seq)
  }
  return {
    open: loadAll,
    async append(requests) {
      try {
        await append(requests)
      } catch (error) {
        throw FULL.has(codeOf(error) ?? '') ? new DiskFullError() : error
      }
    },
    async closeDue() {
      if (!journal) return false
      const { segment, began } = journal
      const { maxBytes, maxAge } = limits()
      const isTooMuch = segment.bytes > maxBytes || segment.from < now() - maxAge
      const isDue = isTooMuch || segment.bytes >= segmentBytes || now() - began >= segmentAge
      if (isDue) await endJournal()
      return isDue
    },
    async tidy() {
      // First what makes room.
      await trim()
      for (const segment of inOrder()) {
        if (segment.places && segment !== journal?.segment) await pack(segment)
      }
      await trim()
    },
    segments: inOrder,
    read,
    close: endJournal,
  }
}

function sumOf(places: readonly BlockPlace[]): Pick<Segment, 'rows' | 'from' | 'to'> {
  return {
    rows: places.reduce((sum, { head }) => sum + head.rows, 0),
    from: Math.min(...places.map(({ head }) => head.from)),
    to: Math.max(0, ...places.map(({ head }) => head.to)),
  }
}
