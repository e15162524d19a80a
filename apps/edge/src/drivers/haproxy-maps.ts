import { type HaproxySocket, HaproxySocketError, MAX_COMMAND } from './haproxy-socket.ts'

/** From here on one atomic replacement is cheaper than single commands. */
const MANY = 300

type Entries = ReadonlyMap<string, string>

/** What a map of the running HAProxy lacks or has too much. */
export interface MapChange {
  /** Key → its value as it is and as it shall be; undefined: none. */
  lines: Map<string, { before: string | undefined; after: string | undefined }>
  /** All that the map shall hold. */
  wanted: Entries
}

/** A map of the running HAProxy. Keys and values are free of blanks, `;` and newlines: the renderer saw to it. */
export interface RuntimeMap {
  /**
   * Compares with what was read last, and reads the map when nothing was.
   * @param keep `others too`: entries that are not wanted stay for now.
   */
  compare(only: Entries, keep?: 'exact' | 'others too'): Promise<MapChange>
  /**
   * Makes the change and reads it back.
   * @returns wanted keys that HAProxy still does not hold as wanted
   * @throws HaproxySocketError when HAProxy does not answer, or still holds what is not wanted
   */
  change(change: MapChange): Promise<string[]>
  /** From now on nothing is known of the map, and it is read again. */
  forget(): void
}

/** The file of a map; HAProxy takes the first blank as the end of the key. */
export function formatMap(entries: Entries): string {
  let text = ''
  for (const [key, value] of entries) text += `${key} ${value}\n`
  return text
}

export function createRuntimeMap(socket: HaproxySocket, path: string): RuntimeMap {
  let held: Map<string, string> | undefined
  return {
    async compare(only, keep = 'exact') {
      held ??= await readMap(socket, path)
      const wanted = keep === 'exact' ? only : new Map([...held, ...only])
      return { lines: differences(held, wanted), wanted }
    },
    async change({ lines, wanted }) {
      if (lines.size === 0) return []
      const before = held
      // Unless all goes well nobody knows what the map holds.
      held = undefined
      const isFew = lines.size < MANY && ![...lines.values()].some(({ before }) => before?.endsWith(TWICE))
      if (isFew) await socket.sendAll([...lines].map(([key, line]) => commandFor(path, key, line)))
      else await replaceMap(socket, path, wanted)
      const after =
        isFew && before
          ? await readKeys(socket, path, [...lines.keys()], before)
          : await readMap(socket, path)
      const wrong = [...lines.keys()].filter((key) => after.get(key) !== wanted.get(key))
      if (wrong.some((key) => !wanted.has(key)))
        throw new HaproxySocketError(`HAProxy did not take the change of ${path}`)
      if (wrong.length === 0) held = after
      return wrong
    },
    forget() {
      held = undefined
    },
  }
}

/** Ends the value of a key that is there twice, which is never as wanted: `set` and `del` would not tell them apart. */
const TWICE = '\n'

async function readMap(socket: HaproxySocket, path: string): Promise<Map<string, string>> {
  const answer = await socket.send(`show map ${path}`)
  const entries = new Map<string, string>()
  for (const line of answer.split('\n')) {
    if (line === '') continue
    const [, key, value = ''] = /^0x[0-9a-f]+ (\S+) ?(.*)$/.exec(line) ?? []
    if (key === undefined) throw new HaproxySocketError(`HAProxy does not know ${path}: ${line}`)
    entries.set(key, entries.has(key) ? value + TWICE : value)
  }
  return entries
}

/** Takes the keys of a change over into `entries` as HAProxy holds them now. A longer key is no concern of a shorter. */
async function readKeys(
  socket: HaproxySocket,
  path: string,
  keys: Iterable<string>,
  entries: Map<string, string>,
): Promise<Map<string, string>> {
  for (const key of keys) entries.delete(key)
  const answer = await socket.sendAll([...keys].map((key) => `get map ${path} ${key}`))
  for (const [, key = '', value = ''] of answer.matchAll(/ key="([^"]*)", value="([^"]*)"/g))
    entries.set(key, value)
  return entries
}

/** Additions first, so that nothing that stays wanted is ever away. */
function differences(current: Entries, wanted: Entries): MapChange['lines'] {
  const lines: MapChange['lines'] = new Map()
  for (const [key, after] of wanted) {
    const before = current.get(key)
    if (before !== after) lines.set(key, { before, after })
  }
  for (const [key, before] of current) if (!wanted.has(key)) lines.set(key, { before, after: undefined })
  return lines
}

function commandFor(
  path: string,
  key: string,
  { before, after }: { before?: string; after?: string },
): string {
  if (after === undefined) return `del map ${path} ${key}`
  return `${before === undefined ? 'add' : 'set'} map ${path} ${key} ${after}`
}

/** Visitors meet the old map or the new one, never a part. */
async function replaceMap(socket: HaproxySocket, path: string, wanted: Entries): Promise<void> {
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
}
