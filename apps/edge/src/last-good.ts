import { createHash } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { SectionHashes } from '@postern/contract/desired-state'
import { findText, writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'
import { type HeldState, KINDS, readAnswer, StateError } from './held-state.ts'

/**
 * The last state that was applied, in one file: its first line is a whole state, each further line what changed. A
 * line begins with its digest; a last line without its end was being written when the edge or the machine died.
 */
export interface LastGood {
  /** @returns the state of the last run, or undefined when there is none. @throws StateError when it is damaged */
  find(): Promise<HeldState | undefined>
  /** Adds what differs from the state that was saved before. */
  save(state: HeldState): Promise<void>
}

const Entry = z.object({
  revision: z.number(),
  /** Those that differ from before. */
  hashes: SectionHashes,
  /** Names of sections that are not there any more. */
  removed: z.array(z.string()),
  /** Section name → its content, where it differs. */
  sections: z.record(z.string(), z.unknown()),
})
type Entry = z.infer<typeof Entry>

/** The file is written anew when the changes have become longer than the state itself. */
const SHORTEST_CHANGES = 1024 * 1024

/** @param path 0600, for the private keys in it; its directory exists */
export function createLastGood(path: string): LastGood {
  let saved: HeldState | undefined
  /** Bytes of the whole state and of the changes after it; undefined: the file must be written anew. */
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
        const message = 'The state of the last run is damaged; the server will be asked for a new one.'
        throw new StateError(message, { cause })
      }
    },
    async save(state) {
      const change = size && saved ? changeOf(saved, state) : undefined
      if (change === 'none') return
      const line = change && format(change)
      const before = size
      // Should this fail, nobody knows what the file holds.
      size = undefined
      if (line && before && before.changes + line.length < Math.max(before.whole, SHORTEST_CHANGES)) {
        await appendFile(path, line, { mode: 0o600, flush: true })
        size = { ...before, changes: before.changes + line.length }
      } else {
        const whole = format(wholeOf(state))
        await writeAtomic(path, whole, 0o600)
        size = { whole: whole.length, changes: 0 }
      }
      saved = state
    },
  }
}

function wholeOf(state: HeldState): Entry {
  const { revision, hashes } = state
  return { revision, hashes, removed: [], sections: Object.fromEntries(contents(state)) }
}

/** Sections that are the same object as before cost a comparison and no more. */
function changeOf(before: HeldState, after: HeldState): Entry | 'none' {
  const { revision } = after
  const removed = Object.keys(before.hashes).filter((name) => !(name in after.hashes))
  const hashes = Object.fromEntries(
    Object.entries(after.hashes).filter(([name, hash]) => before.hashes[name] !== hash),
  )
  const old = new Map(contents(before))
  const now = new Map(contents(after))
  const sections = Object.fromEntries([...now].filter(([name, content]) => old.get(name) !== content))
  for (const name of old.keys()) if (!now.has(name) && name in after.hashes) sections[name] = []
  const isNone =
    revision === before.revision &&
    [removed, Object.keys(hashes), Object.keys(sections)].every(({ length }) => length === 0)
  return isNone ? 'none' : { revision, hashes, removed, sections }
}

/** Each section by its name; the same object as long as nothing in it changed. */
function* contents({ settings, sections }: HeldState): Generator<[string, unknown]> {
  yield ['settings', settings]
  for (const kind of Object.values(sections)) yield* kind
}

function format(entry: Entry): string {
  const text = JSON.stringify(entry)
  return `${digest(text)} ${text}\n`
}

function readEntries(text: string): HeldState {
  const hashes = new Map<string, string>()
  const sections = new Map<string, unknown>()
  let revision: number | undefined
  // Without the last part, which has no end or is empty.
  for (const line of text.split('\n').slice(0, -1)) {
    const json = line.slice(line.indexOf(' ') + 1)
    if (line !== `${digest(json)} ${json}`) throw new StateError('A line is not as it was written.')
    const entry = Entry.parse(JSON.parse(json))
    revision = entry.revision
    for (const name of entry.removed) {
      hashes.delete(name)
      sections.delete(name)
    }
    for (const [name, hash] of Object.entries(entry.hashes)) hashes.set(name, hash)
    for (const [name, content] of Object.entries(entry.sections)) sections.set(name, content)
  }
  if (revision === undefined) throw new StateError('There is no whole state.')
  return assemble(revision, hashes, sections)
}

/** Read as strictly as an answer, but what was once good and is not any more is damaged. */
function assemble(
  revision: number,
  hashes: ReadonlyMap<string, string>,
  sections: ReadonlyMap<string, unknown>,
): HeldState {
  const rows = Object.entries(KINDS).map(([kind, { prefix }]) => [
    kind,
    [...sections].filter(([name]) => name.startsWith(prefix)).flatMap(([, content]) => content),
  ])
  const body = {
    revision,
    hashes: Object.fromEntries(hashes),
    sections: { settings: sections.get('settings'), ...Object.fromEntries(rows) },
  }
  const { state, problems } = readAnswer(body, undefined, {})
  if (problems.length > 0) throw new StateError('Some of it does not match the contract.')
  return state
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
