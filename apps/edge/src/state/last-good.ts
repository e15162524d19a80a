import { createHash } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { SectionHashes } from '@postern/contract/edge/desired-state'
import { changesOf, type Sections } from '@postern/contract/sections'
import { findText, writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'
import { type HeldState, KIND_NAMES, KINDS, readAnswer, StateError } from './held-state.ts'

/**
 * The last applied state, in one file: the first line is a whole state, each further line a change. A line begins
 * with its digest; an incomplete last line was being written when the edge or the machine went down.
 */
export interface LastGood {
  /** @returns the state of the last run, or undefined when there is none. @throws StateError when it is damaged */
  find(): Promise<HeldState | undefined>
  /** Adds the difference from the previously saved state. */
  save(state: HeldState): Promise<void>
}

/** How a state differs from the previous one; for the first line, from nothing. */
const Entry = z.object({
  revision: z.number(),
  hashes: SectionHashes,
  /** Names of sections that were removed. */
  removed: z.array(z.string()),
  settings: z.optional(z.unknown()),
  /** By kind: new and changed rows, and the ids of removed ones. */
  rows: z.record(z.string(), z.object({ set: z.array(z.unknown()), gone: z.array(z.number()) })),
})
type Entry = z.infer<typeof Entry>

/** The file is rewritten when its changes have become longer than the state itself. */
const SHORTEST_CHANGES = 1024 * 1024

/** @param path 0600, because it holds private keys; its directory exists */
export function createLastGood(path: string): LastGood {
  let saved: HeldState | undefined
  /** Bytes of the whole state and of the changes after it; undefined: the file must be rewritten. */
  let size: { whole: number; changes: number } | undefined

  return {
    async find() {
      const text = await findText(path).catch((cause) => {
        throw new StateError(`The state of the last run cannot be read: ${cause.message}`, { cause })
      })
      if (text === undefined) return undefined
      try {
        saved = readEntries(text)
        const whole = text.indexOf('\n') + 1
        if (text.endsWith('\n')) size = { whole, changes: text.length - whole }
        return saved
      } catch (cause) {
        const message =
          'The state of the last run is damaged or of another version; the server will be asked for a new one.'
        throw new StateError(message, { cause })
      }
    },
    async save(state) {
      const before = size
      const change = changeOf(before && saved, state)
      if (isNone(change) && saved?.revision === state.revision) return
      const line = before && format(change)
      // If this fails, the content of the file is unknown.
      size = undefined
      if (line && before.changes + line.length < Math.max(before.whole, SHORTEST_CHANGES)) {
        await appendFile(path, line, { mode: 0o600, flush: true })
        size = { ...before, changes: before.changes + line.length }
      } else {
        const whole = format(changeOf(undefined, state))
        await writeAtomic(path, whole, 0o600)
        size = { whole: whole.length, changes: 0 }
      }
      saved = state
    },
  }
}

/** Sections and rows that are still the same object cost only a comparison. */
function changeOf(before: HeldState | undefined, after: HeldState): Entry {
  const had = before?.hashes ?? {}
  const changed = Object.entries(after.hashes).filter(([name, hash]) => had[name] !== hash)
  const rows: Entry['rows'] = {}
  for (const kind of KIND_NAMES) {
    const change = changeOfRows(before?.sections[kind] ?? new Map(), after.sections[kind], KINDS[kind].id)
    if (change) rows[kind] = change
  }
  return {
    revision: after.revision,
    hashes: Object.fromEntries(changed),
    removed: Object.keys(had).filter((name) => !(name in after.hashes)),
    ...(before?.settings === after.settings ? {} : { settings: after.settings }),
    rows,
  }
}

function changeOfRows(
  before: Sections<object>,
  after: Sections<object>,
  id: string,
): Entry['rows'][string] | undefined {
  const { gone, come } = changesOf(before, after)
  const set = [...come]
  const replaced = new Set(set.map((row) => idOf(row, id)))
  const ids = [...gone].map((row) => idOf(row, id)).filter((each) => !replaced.has(each))
  return set.length + ids.length > 0 ? { set, gone: ids } : undefined
}

function isNone({ hashes, removed, rows, ...rest }: Entry): boolean {
  return [hashes, removed, rows].every((part) => Object.keys(part).length === 0) && !('settings' in rest)
}

function format(entry: Entry): string {
  const text = JSON.stringify(entry)
  return `${digest(text)} ${text}\n`
}

function readEntries(text: string): HeldState {
  const hashes = new Map<string, string>()
  const kinds = KIND_NAMES.map((kind) => ({ kind, id: KINDS[kind].id, rows: new Map<number, unknown>() }))
  let last: Entry | undefined
  let settings: unknown
  // Without the last part, which is incomplete or empty.
  for (const line of text.split('\n').slice(0, -1)) {
    const entry = readLine(line)
    last = entry
    settings = entry.settings ?? settings
    for (const name of entry.removed) hashes.delete(name)
    for (const [name, hash] of Object.entries(entry.hashes)) hashes.set(name, hash)
    for (const { kind, id, rows } of kinds) {
      for (const each of entry.rows[kind]?.gone ?? []) rows.delete(each)
      for (const row of entry.rows[kind]?.set ?? []) rows.set(idOf(row, id), row)
    }
  }
  if (!last) throw new StateError('There is no whole state.')
  const rows = kinds.map(({ kind, rows }) => [
    kind,
    [...rows].sort(([a], [b]) => a - b).map(([, row]) => row),
  ])
  const sections = { settings, ...Object.fromEntries(rows) }
  return assemble({ revision: last.revision, hashes: Object.fromEntries(hashes), sections })
}

function readLine(line: string): Entry {
  const json = line.slice(line.indexOf(' ') + 1)
  if (line !== `${digest(json)} ${json}`) throw new StateError('A line is not as it was written.')
  return Entry.parse(JSON.parse(json))
}

/** Read as strictly as an answer; since it was good when written, a mismatch means damage. */
function assemble(body: object): HeldState {
  const { state, problems } = readAnswer(body, undefined, {})
  if (problems.length > 0) throw new StateError('Some of it does not match the contract.')
  return state
}

const idOf = (row: unknown, id: string): number => Number(Reflect.get(Object(row), id))

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
