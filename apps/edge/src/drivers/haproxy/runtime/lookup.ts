import { type HeldList, listPartsOf, readHeldList } from '@postern/render/haproxy/maps/list-entries'
import { parseRouteLine, type RouteLine } from '@postern/render/haproxy/maps/routes'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import { type HaproxySocket, HaproxySocketError } from './socket.ts'

/** What the running HAProxy itself says of one visitor's way, by the maps that it decides by. */
export interface HaproxyLookup {
  /**
   * The route of the longest key that `key` begins with.
   * @param key of plain characters
   * @throws HaproxySocketError
   */
  findRoute(key: string): Promise<{ key: string; line: RouteLine } | undefined>
  /** @returns undefined for a list that lets nobody in. @throws HaproxySocketError */
  findList(name: string): Promise<HeldList | undefined>
  /** Whether it answers for this node with its own page. @throws HaproxySocketError */
  isDown(node: string): Promise<boolean>
}

/** What no command can be ended or escaped by. */
const PLAIN = /^[A-Za-z0-9._~!$&'()*+,=:@%/-]+$/

/** A part of a list has 4 kB. */
const LONGEST_ANSWER = 10_000
/** Of a list; far more than the largest has. */
const MOST_PARTS = 1000
const FOUND = /^found=yes,[^\n"]* key="([^"\n]*)", value="([^"\n]*)"/

export function createHaproxyLookup(socket: HaproxySocket, paths: HaproxyPaths): HaproxyLookup {
  const find = async (path: string, key: string) => {
    if (!PLAIN.test(key)) throw new HaproxySocketError('a key that HAProxy cannot be asked for')
    const answer = await socket.send(`get map ${path} ${key}`)
    if (!answer.startsWith('type=')) throw new HaproxySocketError(`no answer what HAProxy holds of ${path}`)
    // The answer of a HAProxy that was taken over may be of any length and form.
    if (answer.length > LONGEST_ANSWER) throw new HaproxySocketError(`the answer about ${path} is too long`)
    const start = answer.indexOf('found=yes,')
    const [, found, value] = start < 0 ? [] : (FOUND.exec(answer.slice(start)) ?? [])
    return found === undefined || value === undefined ? undefined : { key: found, value }
  }
  return {
    async findRoute(key) {
      const found = await find(paths.routes, key)
      return found && { key: found.key, line: parseRouteLine(found.value) }
    },
    async findList(name) {
      const values: string[] = []
      for (const part of (listPartsOf(name) ?? []).slice(0, MOST_PARTS)) {
        const found = await find(paths.lists, part)
        if (!found) return undefined
        values.push(found.value)
      }
      return values.length > 0 ? readHeldList(values) : undefined
    },
    isDown: async (node) => (await find(paths.nodes, node))?.value === 'down',
  }
}
