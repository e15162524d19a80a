import { setTimeout as delay } from 'node:timers/promises'
import type { HaproxySocket } from './haproxy-socket.ts'

/** One request or upgraded connection in flight. */
export interface OpenStream {
  /** HAProxy's handle, like `0x7f…`; good until the stream ends. */
  handle: string
  id: string
  service: number
  source: string
}

/** Up to this many services the table is asked for each of them; beyond, once for all. */
const FEW = 20

/**
 * The open streams of services. The configuration notes each stream's number and service in a table;
 * the same number stands in the list of sessions.
 * @param services null: of all.
 */
export async function listStreams(
  socket: HaproxySocket,
  services: ReadonlySet<number> | null,
): Promise<OpenStream[]> {
  const owners = await readOwners(socket, services)
  if (owners.size === 0) return []
  const sessions = parseSessions(await socket.send('show sess all'))
  return sessions.flatMap(({ handle, id, source }) => {
    const service = owners.get(id)
    return service === undefined ? [] : [{ handle, id, source, service }]
  })
}

/** A request that waits for its answer is tried again when it is ended, so ending takes as many rounds. */
const ROUNDS = 20
const ROUND_MS = 20
/** Few enough that hardly a millisecond is between the look and the end. */
const AT_ONCE = 20

/**
 * Ends streams. Each handle is looked at again right before, because HAProxy reuses them.
 * @returns whether all have ended
 */
export async function endStreams(socket: HaproxySocket, streams: readonly OpenStream[]): Promise<boolean> {
  let left = streams
  for (let round = 0; left.length > 0 && round < ROUNDS; round++) {
    if (round > 0) await delay(ROUND_MS)
    const alive: OpenStream[] = []
    for (let start = 0; start < left.length; start += AT_ONCE) {
      const some = left.slice(start, start + AT_ONCE)
      const now = parseSessions(await socket.sendAll(some.map(({ handle }) => `show sess ${handle}`)))
      const open = new Set(now.map(({ handle, id }) => `${handle} ${id}`))
      const still = some.filter(({ handle, id }) => open.has(`${handle} ${id}`))
      await socket.sendAll(still.map(({ handle }) => `shutdown session ${handle}`))
      alive.push(...still)
    }
    left = alive
  }
  return left.length === 0
}

/** Stream number → service, of streams that are still open. */
async function readOwners(
  socket: HaproxySocket,
  services: ReadonlySet<number> | null,
): Promise<Map<string, number>> {
  const commands =
    services && services.size <= FEW
      ? [...services].map((service) => `show table streams data.gpt0 eq ${service}`)
      : ['show table streams']
  const answer = await socket.sendAll(commands)
  const owners = new Map<string, number>()
  for (const [, id = '', service] of answer.matchAll(/ key=(\d+) use=[1-9]\d* .*gpt0=(\d+)/g)) {
    if (Number(service) > 0 && (!services || services.has(Number(service)))) owners.set(id, Number(service))
  }
  return owners
}

function parseSessions(text: string): { handle: string; id: string; source: string }[] {
  const heads = text.matchAll(/^(0x[0-9a-f]+): \[.*?\] id=(\d+) proto=tcpv[46] source=(\S+):\d+$/gm)
  return [...heads].map(([, handle = '', id = '', source = '']) => ({ handle, id, source: bare(source) }))
}

function bare(address: string): string {
  return address.replace(/^\[|\]$/g, '')
}
