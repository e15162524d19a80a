import { type HaproxySocket, HaproxySocketError, MAX_COMMAND } from './haproxy-socket.ts'

/** From here on one atomic replacement is cheaper than single commands. */
const MANY = 300

export interface MapChange {
  /** What was in force before. */
  before: Map<string, string>
  /** Wanted keys that HAProxy still does not hold as wanted. */
  missing: string[]
}

/** The file of a map; HAProxy takes the first blank as the end of the key. */
export function formatMap(entries: ReadonlyMap<string, string>): string {
  return [...entries].map(([key, value]) => `${key} ${value}\n`).join('')
}

/**
 * Makes a map of the running HAProxy equal to `only` and reads it back. Keys and values are free of blanks,
 * `;` and newlines: the renderer saw to it.
 * @param keep `others too`: entries that are not wanted stay for now.
 * @throws HaproxySocketError when HAProxy does not answer, or still holds what is not wanted
 */
export async function applyMap(
  socket: HaproxySocket,
  path: string,
  only: ReadonlyMap<string, string>,
  keep: 'exact' | 'others too' = 'exact',
): Promise<MapChange> {
  const current = await readMap(socket, path)
  const wanted = keep === 'exact' ? only : new Map([...current.entries, ...only])
  const commands = current.hasDuplicates ? undefined : differences(path, current.entries, wanted)
  if (commands?.length === 0) return { before: current.entries, missing: [] }
  if (commands && commands.length < MANY) await socket.sendAll(commands)
  else await replaceMap(socket, path, wanted)
  const after = await readMap(socket, path)
  const missing = [...wanted.keys()].filter((key) => after.entries.get(key) !== wanted.get(key))
  if (after.hasDuplicates || [...after.entries.keys()].some((key) => !wanted.has(key)))
    throw new HaproxySocketError(`HAProxy did not take the change of ${path}`)
  return { before: current.entries, missing }
}

interface CurrentMap {
  entries: Map<string, string>
  /** A key that is there twice: `set` and `del` would not tell them apart. */
  hasDuplicates: boolean
}

async function readMap(socket: HaproxySocket, path: string): Promise<CurrentMap> {
  const answer = await socket.send(`show map ${path}`)
  const lines = answer.split('\n').filter((line) => line !== '')
  const entries = new Map<string, string>()
  for (const line of lines) {
    const [, key, value = ''] = /^0x[0-9a-f]+ (\S+) ?(.*)$/.exec(line) ?? []
    if (key === undefined) throw new HaproxySocketError(`HAProxy does not know ${path}: ${line}`)
    entries.set(key, value)
  }
  return { entries, hasDuplicates: entries.size !== lines.length }
}

/** Additions first, so that nothing that stays wanted is ever away. */
function differences(
  path: string,
  current: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
): string[] {
  const commands: string[] = []
  for (const [key, value] of wanted) {
    const now = current.get(key)
    if (now === undefined) commands.push(`add map ${path} ${key} ${value}`)
    else if (now !== value) commands.push(`set map ${path} ${key} ${value}`)
  }
  for (const key of current.keys()) if (!wanted.has(key)) commands.push(`del map ${path} ${key}`)
  return commands
}

/** Visitors meet the old map or the new one, never a part. */
async function replaceMap(
  socket: HaproxySocket,
  path: string,
  wanted: ReadonlyMap<string, string>,
): Promise<void> {
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
