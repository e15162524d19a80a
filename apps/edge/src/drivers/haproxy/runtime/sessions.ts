import { setTimeout as delay } from 'node:timers/promises'
import type { Exec } from '@postern/host/processes/exec'
import { isAllowed } from '@postern/render/haproxy/maps/lists'
import { FLAGS, parseRouteLine } from '@postern/render/haproxy/maps/routes'
import type { SignInSections } from '@postern/render/haproxy/maps/sign-in'
import { findRoute, isPortRoute, type RouteSections } from '@postern/render/resolved-route'
import type { MapChange } from './map.ts'
import type { HaproxySocket } from './socket.ts'

/** One request, upgraded connection or connection of a TCP service in flight. */
interface OpenStream {
  /** HAProxy's handle, like `0x7f…`; good until the stream ends. */
  handle: string
  /** HAProxy's number of the stream; for a TCP service, its two ports and the visitor. */
  id: string
  service: number
  source: string
  /** The list entry that let the visitor in, or `-` where no sign-in is needed. */
  member?: string
  /** The connection to the service, until the head of an answer has arrived. */
  waitsBy?: Wire
}

/** Both ends of a TCP connection of HAProxy's, as `ss` takes them. */
interface Wire {
  from: string
  to: string
}

/** Up to this many services, the table is asked for each of them; for more, once for all. */
const FEW = 20

/**
 * The open streams of services. The configuration notes each stream's number, visitor and service in a table;
 * the same number stands in the list of sessions.
 * @param services null: of all.
 */
async function listStreams(
  socket: HaproxySocket,
  services: ReadonlySet<number> | null,
): Promise<OpenStream[]> {
  const owners = await readOwners(socket, services)
  if (owners.size === 0) return []
  const found: OpenStream[] = []
  const look = (text: string) => {
    for (const session of parseSessions(text)) {
      const owner = owners.get(session.id)
      if (owner) found.push({ ...session, ...owner })
    }
  }
  // The list has all sessions, and many when HAProxy is busy: only the wanted ones are kept.
  let rest = ''
  await socket.read('show sess all', (text) => {
    const all = rest + text
    const end = all.lastIndexOf('\n0x')
    look(all.slice(0, end + 1))
    rest = all.slice(end + 1).slice(0, MOST_OF_ONE)
  })
  look(rest)
  return found
}

/** Characters of one session; they have 2,500. */
const MOST_OF_ONE = 65_536

/** How many rounds to end streams in, because a visitor's connections may bring new requests meanwhile. */
const ROUNDS = 20
const ROUND_MS = 20
/** Few enough that hardly a millisecond passes between check and end. */
const AT_ONCE = 20

/**
 * Ends streams. Each handle is checked again right before, because HAProxy reuses them.
 * @param end ends those that are still there; by default with their visitors' connections
 * @returns whether all have ended
 */
async function endStreams(
  socket: HaproxySocket,
  streams: readonly OpenStream[],
  end: (streams: readonly Session[]) => Promise<void> = (streams) => shutDown(socket, streams),
): Promise<boolean> {
  let left = streams
  for (let round = 0; left.length > 0 && round < ROUNDS; round++) {
    if (round > 0) await delay(ROUND_MS)
    const alive: OpenStream[] = []
    for (let start = 0; start < left.length; start += AT_ONCE) {
      const some = left.slice(start, start + AT_ONCE)
      const now = parseSessions(await socket.sendAll(some.map(({ handle }) => `show sess ${handle}`)))
      const found = now.filter(({ handle, id }) =>
        some.some((each) => each.handle === handle && each.id === id),
      )
      await end(found)
      const open = new Set(found.map(({ handle }) => handle))
      alive.push(...some.filter(({ handle }) => open.has(handle)))
    }
    left = alive
  }
  return left.length === 0
}

async function shutDown(socket: HaproxySocket, streams: readonly Session[]): Promise<void> {
  await socket.sendAll(streams.map(({ handle }) => `shutdown session ${handle}`))
}

const ENTRY = / key=(([\d-]+),([^\s,]+)(?:,(\S+))?) use=[1-9]\d* .*gpt0=(\d+)/
/** The lines of a HAProxy that was taken over may have any length. */
const LONGEST_ENTRY = 400

type Owner = Pick<OpenStream, 'service' | 'source' | 'member'>

/** Number, or ports and visitor, of each open stream → its service and visitor. */
async function readOwners(
  socket: HaproxySocket,
  services: ReadonlySet<number> | null,
): Promise<Map<string, Owner>> {
  const commands =
    services && services.size <= FEW
      ? [...services].map((service) => `show table streams data.gpt0 eq ${service}`)
      : ['show table streams']
  const answer = await socket.sendAll(commands)
  const owners = new Map<string, Owner>()
  for (const line of answer.split('\n')) {
    const entry = line.length < LONGEST_ENTRY ? ENTRY.exec(line) : null
    if (!entry) continue
    const [, key = '', number = '', source = '', member, gpt0] = entry
    const service = Number(gpt0)
    if (service === 0 || (services && !services.has(service))) continue
    const owner = { service, source: bare(source), ...(member === undefined ? {} : { member }) }
    owners.set(number.includes('-') ? key : number, owner)
  }
  return owners
}

/** Each session is a head line and details, which are indented. */
function parseSessions(text: string): Session[] {
  return text.split(/^(?=0x)/m).flatMap((session) => {
    const [, handle = '', number = ''] = /^(0x[0-9a-f]+): \[.*?\] id=(\d+) proto=/.exec(session) ?? []
    return handle ? [{ handle, id: portKey(session) ?? number, waitsBy: findWire(session) }] : []
  })
}

/** The table has connections of TCP services under their two ports and the visitor. */
function portKey(session: string): string | undefined {
  const to = /^ {2}frontend=ports(?:_inside)? .* addr=\S+:(\d+)$/m.exec(session)?.[1]
  const [, address, from] = / source=(\S+):(\d+)$/m.exec(session) ?? []
  return to && from && `${to}-${from},${address}`
}

type Session = Omit<OpenStream, keyof Owner>

/**
 * While it is connected to the service, and no head of an answer has arrived. One that is still connecting fails by
 * itself.
 */
function findWire(session: string): Wire | undefined {
  const isWaiting = session.includes(' rsp.st=MSG_RPBEFORE ') && /^ {2}scb=.* state=EST /m.test(session)
  const from = /^ {2}backend=\S+ .* addr=([\da-f.:]+):(\d+)$/m.exec(session)
  const to = /^ {2}server=(?:target|again) .* addr=([\da-f.:]+):(\d+)$/m.exec(session)
  return isWaiting && from && to ? { from: endOf(from[1], from[2]), to: endOf(to[1], to[2]) } : undefined
}

const endOf = (address = '', port: string | number = '') =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

/** Where one end has an IPv4 address and the other an IPv6 one, HAProxy writes both as IPv6. */
function bare(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/, '')
}

interface Routes {
  lines: MapChange['lines']
  wanted: RouteSections
  /** Lines of the sign-in map. */
  entries: MapChange['lines']
  signIns: SignInSections
}

/**
 * Ends the open connections of disabled and removed services, of visitors whom a list no longer admits, and of
 * visitors without the sign-in that is now required; never one of another service.
 * @param checksAllStreams not only those of changed services, in case a previous edge process left some
 * @returns whether all have ended
 */
export async function endUnwanted(
  socket: HaproxySocket,
  routes: Routes,
  checksAllStreams: boolean,
): Promise<boolean> {
  const suspects = checksAllStreams || losesEntries(routes) ? null : changedServices(routes.lines)
  if (suspects?.size === 0) return true
  const relisted = changedServices(routes.lines)
  const members = membersOf(routes.signIns)
  const isUnwanted = ({ service, source, member }: OpenStream) => {
    const route = findRoute(routes.wanted, service)
    if (!route?.enabled || !isAllowed(route, source)) return true
    if (isPortRoute(route) || route.signIn === null) return false
    // Where no sign-in was required, it may be now.
    if (member === '-') return relisted.has(service)
    return member === undefined || members.get(member) !== route.domain
  }
  const streams = await listStreams(socket, suspects)
  return await endStreams(socket, streams.filter(isUnwanted))
}

/**
 * Ends the requests that wait for an answer from nodes that are down. Downloads and WebSockets stay: they continue
 * when the tunnel is back. The kernel ends the connections to the services, so that HAProxy answers with a page;
 * where it cannot, HAProxy ends the visitors' connections without one.
 * @returns whether all have ended
 */
export async function endWaiting(
  { socket, exec }: { socket: HaproxySocket; exec: Pick<Exec, 'run'> },
  routes: RouteSections,
  nodes: ReadonlySet<number>,
): Promise<boolean> {
  const services = new Set<number>()
  // Checked, so that a HAProxy that was taken over cannot name another connection of this machine.
  const targets = new Set<string>()
  for (const section of routes.values())
    for (const { id, node, address, backend } of section)
      if (node.kind !== 'local' && nodes.has(node.id)) {
        services.add(id)
        targets.add(endOf(address ?? '', backend.port))
      }
  if (services.size === 0) return true
  const asked = new Set<string>()
  const isWaiting = ({ waitsBy }: Session) => waitsBy !== undefined && targets.has(waitsBy.to)
  return await endStreams(
    socket,
    (await listStreams(socket, services)).filter(isWaiting),
    async (streams) => {
      const waiting = streams.filter(isWaiting)
      await cut(exec, waiting)
      await shutDown(
        socket,
        waiting.filter(({ id }) => asked.has(id)),
      )
      for (const { id } of waiting) asked.add(id)
    },
  )
}

/** Makes the kernel end HAProxy's connections to services. */
async function cut(exec: Pick<Exec, 'run'>, streams: readonly Session[]): Promise<void> {
  const ends = streams.flatMap(({ waitsBy }) => (waitsBy ? [waitsBy] : []))
  if (ends.length === 0) return
  const filter = ends.flatMap(({ from, to }) => ['or', '(', 'src', from, 'and', 'dst', to, ')']).slice(1)
  await exec.run('ss', ['--kill', '--no-header', '--numeric', '--tcp', ...filter])
}

/** Whether open connections may have to be ended because of the change. */
export function takesAway(routes: Routes): boolean {
  if (losesEntries(routes)) return true
  return [...changedServices(routes.lines)].some((service) => {
    const route = findRoute(routes.wanted, service)
    const isGuarded = route && !isPortRoute(route) && route.signIn !== null
    return !route?.enabled || isGuarded || route.allowedIps.length > 0 || route.blockedIps.length > 0
  })
}

/** Whether the change removes an entry from a domain's list, or makes visitors sign in again. */
function losesEntries({ entries }: Routes): boolean {
  return [...entries].some(
    ([key, { before, after }]) => key.startsWith('m') && before !== undefined && after !== before,
  )
}

/** Entry → its domain. */
function membersOf(signIns: SignInSections): Map<string, string> {
  const all = [...signIns.values()].flat()
  return new Map(
    all.flatMap(({ domain, members }) => members.map((id): [string, string] => [String(id), domain])),
  )
}

/** Services that lose a line, are disabled, begin to require sign-in or get another list. */
function changedServices(lines: MapChange['lines']): Set<number> {
  const changed = new Set<number>()
  for (const { before, after } of lines.values()) {
    if (before === undefined) continue
    const [was, is] = [parseRouteLine(before), parseRouteLine(after ?? '')]
    const gets = (flag: string) => is.flags.includes(flag) && !was.flags.includes(flag)
    const isOther = was.service !== is.service || was.list !== is.list
    if (isOther || gets(FLAGS.disabled) || gets(FLAGS.guarded)) changed.add(Number(was.service))
  }
  return changed
}
