import { createHash } from 'node:crypto'
import { type HaproxySocket, HaproxySocketError, MAX_COMMAND } from './socket.ts'

/** From this many changes on, one atomic replacement is cheaper than single commands. */
const MANY = 300

type Entries = ReadonlyMap<string, string>

/** HAProxy was started with another configuration, and has no such map. */
export class UnknownMapError extends HaproxySocketError {}

/** A map that is kept up to date, and the keys that may have changed since the last call; no others have. */
export interface MapLines {
  lines: Entries
  touched: ReadonlySet<string>
}

/** How a map of the running HAProxy differs from what is wanted. */
export interface MapChange {
  /** Key → its present and its wanted value; undefined: none. */
  lines: Map<string, { before: string | undefined; after: string | undefined }>
  /** Whether unwanted entries are removed, too. */
  isExact: boolean
}

/** A map of the running HAProxy. Keys and values have no blanks, `;` or newlines: the renderer made sure. */
export interface RuntimeMap {
  /** Sets the wanted entries. */
  want(wanted: MapLines): void
  /**
   * Compares the touched keys with the last read; all keys, when nothing was read or it is out of date.
   * @param keep `others too`: entries that are not wanted stay for now.
   */
  compare(keep?: 'exact' | 'others too'): Promise<MapChange>
  /**
   * Makes the change and reads it back.
   * @returns wanted keys that HAProxy did not accept
   * @throws HaproxySocketError when HAProxy does not answer, or keeps an unwanted entry
   */
  change(change: MapChange): Promise<string[]>
  /** Makes the next comparison read the map from HAProxy. */
  verifyNext(): void
  /** Forgets what was read of the map. */
  forget(): void
}

export function createRuntimeMap(socket: HaproxySocket, path: string): RuntimeMap {
  let wanted: Entries = new Map()
  /** All other keys are held as wanted. */
  const touched = new Set<string>()
  let held: Map<string, string> | undefined
  /** The digest of the whole map as HAProxy showed it when it was `held`; undefined: it was changed since. */
  let digest: string | undefined
  let needsVerification = false

  async function look(): Promise<Map<string, string>> {
    if (held && !needsVerification) return held
    const text = await socket.send(`show map ${path}`)
    const now = createHash('sha1').update(text).digest('base64')
    needsVerification = false
    if (held && now === digest) return held
    const before = held
    held = parseMap(path, text)
    digest = now
    if (!before || !isSame(before, held))
      for (const key of [...held.keys(), ...wanted.keys()]) touched.add(key)
    return held
  }

  return {
    want(next) {
      wanted = next.lines
      for (const key of next.touched) touched.add(key)
    },
    async compare(keep = 'exact') {
      const lines = differences(await look(), wanted, touched)
      const isExact = keep === 'exact'
      if (!isExact) for (const [key, { after }] of lines) if (after === undefined) lines.delete(key)
      if (isExact && lines.size === 0) touched.clear()
      return { lines, isExact }
    },
    async change({ lines, isExact }) {
      if (lines.size === 0) return []
      const before = held
      // Unknown until the change has been read back.
      held = digest = undefined
      const others = isExact ? [] : [...(before ?? [])].filter(([key]) => !wanted.has(key))
      const isFew = lines.size < MANY && ![...lines.values()].some(({ before }) => before?.endsWith(TWICE))
      const after =
        isFew && before
          ? await changeKeys(socket, path, lines, before)
          : await replaceMap(socket, path, [...others, ...wanted])
      const wrong = [...lines.keys()].filter((key) => after.get(key) !== wanted.get(key))
      if (wrong.some((key) => !wanted.has(key)))
        throw new HaproxySocketError(`HAProxy didn't accept the change of ${path}`)
      if (wrong.length > 0) return wrong
      held = after
      if (isExact) touched.clear()
      return []
    },
    verifyNext() {
      needsVerification = true
    },
    forget() {
      held = digest = undefined
    },
  }
}

/** @returns the keys that are not as wanted */
export async function applyMap(map: RuntimeMap, keep?: 'others too'): Promise<string[]> {
  return await map.change(await map.compare(keep))
}

/** Marks the value of a key that exists twice, which is always wrong: `set` and `del` could not tell the two apart. */
const TWICE = '\n'

/** @throws HaproxySocketError when it is not a map: each line is `0x… key value` */
function parseMap(path: string, text: string): Map<string, string> {
  const entries = new Map<string, string>()
  for (let start = 0; start < text.length; ) {
    const end = endOf(text, '\n', start)
    const line = text.slice(start, end)
    start = end + 1
    if (line === '') continue
    const [head, tail] = [endOf(line, ' ', 0), endOf(line, ' ', endOf(line, ' ', 0) + 1)]
    const key = line.slice(head + 1, tail)
    if (!line.startsWith('0x') || key === '')
      throw new UnknownMapError(`HAProxy does not know ${path}: ${line}`)
    const value = line.slice(tail + 1)
    entries.set(key, entries.has(key) ? value + TWICE : value)
  }
  return entries
}

function endOf(text: string, mark: string, start: number): number {
  const end = text.indexOf(mark, start)
  return end < 0 ? text.length : end
}

function isSame(a: Entries, b: Entries): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of a) if (b.get(key) !== value) return false
  return true
}

/**
 * Changes single keys, and copies the values that HAProxy then has into `entries`.
 * @throws HaproxySocketError when HAProxy does not show the value of each key
 */
async function changeKeys(
  socket: HaproxySocket,
  path: string,
  lines: MapChange['lines'],
  entries: Map<string, string>,
): Promise<Map<string, string>> {
  const changes = [...lines].map(([key, line]) => commandFor(path, key, line))
  const questions = [...lines.keys()].map((key) => `get map ${path} ${key}`)
  const answer = await socket.sendAll([...changes, ...questions])
  if (answer.match(ABOUT_ONE)?.length !== lines.size)
    throw new HaproxySocketError(`HAProxy didn't say what it holds of ${path}`)
  for (const key of lines.keys()) entries.delete(key)
  for (const [, key = '', value = ''] of answer.matchAll(/ key="([^"]*)", value="([^"]*)"/g))
    entries.set(key, value)
  return entries
}

/** The beginning of each answer to `get map`, with or without such a key. */
const ABOUT_ONE = /^type=/gm

/** Additions first, so that a wanted entry is never missing. */
function differences(held: Entries, wanted: Entries, keys: Iterable<string>): MapChange['lines'] {
  const lines: MapChange['lines'] = new Map()
  const gone: MapChange['lines'] = new Map()
  for (const key of keys) {
    const [before, after] = [held.get(key), wanted.get(key)]
    if (before !== after) (after === undefined ? gone : lines).set(key, { before, after })
  }
  return new Map([...lines, ...gone])
}

function commandFor(
  path: string,
  key: string,
  { before, after }: { before?: string; after?: string },
): string {
  if (after === undefined) return `del map ${path} ${key}`
  return `${before === undefined ? 'add' : 'set'} map ${path} ${key} ${after}`
}

/**
 * Requests see the old map or the new one, never a part.
 * @returns the map that HAProxy then has
 */
async function replaceMap(
  socket: HaproxySocket,
  path: string,
  wanted: Iterable<readonly [string, string]>,
): Promise<Map<string, string>> {
  const answer = await socket.send(`prepare map ${path}`)
  const version = /version created: (\d+)/.exec(answer)?.[1]
  if (!version) throw new HaproxySocketError(`HAProxy did not prepare ${path}: ${answer.trim()}`)
  const head = `add map @${version} ${path} <<\n`
  let payload = ''
  for (const [key, value] of wanted) {
    const line = `${key} ${value}\n`
    if (head.length + payload.length + line.length > MAX_COMMAND) {
      await socket.send(head + payload)
      payload = ''
    }
    payload += line
  }
  if (payload !== '') await socket.send(head + payload)
  await socket.send(`commit map @${version} ${path}`)
  return parseMap(path, await socket.send(`show map ${path}`))
}
