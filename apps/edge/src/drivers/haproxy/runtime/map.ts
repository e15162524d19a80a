import { createHash } from 'node:crypto'
import { type HaproxySocket, HaproxySocketError, MAX_COMMAND } from './socket.ts'

/** From here on one atomic replacement is cheaper than single commands. */
const MANY = 300

type Entries = ReadonlyMap<string, string>

/** HAProxy was started with another configuration, and has no such map. */
export class UnknownMapError extends HaproxySocketError {}

/** A map that is kept up to date, and the only keys that may have changed since it was given out before. */
export interface MapLines {
  lines: Entries
  touched: ReadonlySet<string>
}

/** How a map of the running HAProxy differs from what is wanted. */
export interface MapChange {
  /** Key → its value as it is and as it shall be; undefined: none. */
  lines: Map<string, { before: string | undefined; after: string | undefined }>
  /** Whether unwanted entries are removed, too. */
  isExact: boolean
}

/** A map of the running HAProxy. Keys and values are free of blanks, `;` and newlines: the renderer saw to it. */
export interface RuntimeMap {
  /** Sets the wanted entries. */
  want(wanted: MapLines): void
  /**
   * Compares what was touched with what was read last; everything, when nothing was read or it is not so any more.
   * @param keep `others too`: entries that are not wanted stay for now.
   */
  compare(keep?: 'exact' | 'others too'): Promise<MapChange>
  /**
   * Makes the change and reads it back.
   * @returns wanted keys that HAProxy still does not hold as wanted
   * @throws HaproxySocketError when HAProxy does not answer, or still holds what is not wanted
   */
  change(change: MapChange): Promise<string[]>
  /** Makes the next comparison read the map from HAProxy. */
  verifyNext(): void
  /** Drops what is known of the map. */
  forget(): void
}

export function createRuntimeMap(socket: HaproxySocket, path: string): RuntimeMap {
  let wanted: Entries = new Map()
  /** Beyond these keys, what is held is what is wanted. */
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

/** Ends the value of a key that is there twice, which is never as wanted: `set` and `del` would not tell them apart. */
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
 * Changes single keys and takes them over into `entries` as HAProxy holds them then. A longer key is no concern of a
 * shorter.
 * @throws HaproxySocketError when HAProxy does not say of each key how it holds it
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

/** How the answer to `get map` begins, whether there is such a key or not. */
const ABOUT_ONE = /^type=/gm

/** Additions first, so that nothing that stays wanted is ever away. */
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

/** Visitors meet the old map or the new one, never a part. @returns the map as HAProxy holds it then */
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
