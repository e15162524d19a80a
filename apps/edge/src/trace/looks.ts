import type { SightOf, TraceQuestion } from '@postern/contract/why/trace'
import { findIp } from '@postern/net/ip'
import { isAllowed } from '@postern/render/haproxy/maps/lists'
import { findTunnel } from '../drivers/tunnel/wg.ts'
import type { Around } from './around.ts'
import { askBackend, lookAtCertificate, timed, tryConnect } from './dial.ts'
import type { Found } from './find.ts'

type Question<K extends TraceQuestion['kind']> = Extract<TraceQuestion, { kind: K }>

const LOOPBACK = '127.0.0.1'

export async function atWebPorts(isPlain: boolean, around: Around): Promise<SightOf<'port'>> {
  const { POSTERN_HTTP_PORT, POSTERN_HTTPS_PORT } = around.settings
  for (const port of [...(isPlain ? [POSTERN_HTTP_PORT] : []), POSTERN_HTTPS_PORT]) {
    const result = await tryConnect(LOOPBACK, port, around.left())
    if (result !== 'connected')
      return { step: 'port', port, closed: result === 'timeout' ? 'timeout' : 'refused', wall: around.wall() }
  }
  const port = isPlain ? POSTERN_HTTP_PORT : POSTERN_HTTPS_PORT
  return { step: 'port', port, closed: null, wall: around.wall() }
}

/** Nothing is connected to it: HAProxy would dial the program at once. */
export function atPort({ proto, port }: Question<'port'>, around: Around): SightOf<'port'> {
  const { from, to } = around.settings.POSTERN_PORT_RANGE
  const held = proto === 'tcp' ? around.haproxy.heldPorts() : around.heldUdpPorts()
  const closed = port < from || port > to ? 'range' : held.includes(port) ? 'held' : null
  return { step: 'port', port, closed, wall: around.wall() }
}

/** @param name whom the visitor asks for; null: nobody, as with an address */
export async function atCertificate(
  name: string | null,
  isOwn: boolean,
  { settings, publicHost, left }: Around,
): Promise<SightOf<'certificate'>> {
  const asked = name ?? publicHost
  const isAddress = findIp(asked) !== undefined || (isOwn && asked === '')
  const shown = await lookAtCertificate(settings.POSTERN_HTTPS_PORT, isAddress ? null : asked, left())
  return { step: 'certificate', ...shown }
}

export async function atAccess(
  found: Found,
  path: string,
  visitor: string | null,
  around: Around,
): Promise<SightOf<'access'>> {
  const { list, signIn } = await judge(found, path, visitor, around)
  return { step: 'access', list, signIn: found.isGuarded ? signIn : 'none' }
}

async function judge(
  { list, udp }: Found,
  path: string,
  visitor: string | null,
  around: Around,
): Promise<Pick<SightOf<'access'>, 'list' | 'signIn'>> {
  const needed = 'needed' as const
  if (udp) {
    const isListed = udp.allowedIps.length + udp.blockedIps.length > 0
    if (!isListed) return { list: 'everyone', signIn: needed }
    if (visitor === null) return { list: 'unknown visitor', signIn: needed }
    if (isAllowed(udp, visitor)) return { list: 'allowed', signIn: needed }
    const isBlocked = !isAllowed({ allowedIps: [], blockedIps: udp.blockedIps }, visitor)
    return { list: isBlocked ? 'blocked' : 'not allowed', signIn: needed }
  }
  if (list === null) return { list: 'everyone', signIn: needed }
  const held = await around.haproxy.lookup.findList(list)
  if (!held) return { list: 'unreadable', signIn: needed }
  const signIn = held.isBypassed(path) ? 'bypassed' : needed
  const ip = visitor === null ? undefined : findIp(visitor)
  if (!held.hasAddresses) return { list: 'everyone', signIn }
  return { list: ip ? held.judge(ip) : 'unknown visitor', signIn }
}

export async function atTunnel({ node }: Found, around: Around): Promise<SightOf<'tunnel'>> {
  if (node === 0) return { step: 'tunnel', peer: null }
  const wanted = around.peers.find(({ nodeId }) => nodeId === node)
  const tunnel = wanted && (await findTunnel(around.exec, around.interface))
  const peer = tunnel?.peers.find(({ publicKey }) => publicKey === wanted?.publicKey)
  const isDown = await around.haproxy.lookup.isDown(String(node))
  return {
    step: 'tunnel',
    peer: {
      isThere: peer !== undefined,
      latestHandshake: peer?.latestHandshake ?? null,
      endpoint: peer?.endpoint ?? null,
      isUp: !isDown,
    },
  }
}

export async function atTarget(
  { target, isConsole, udp }: Found,
  around: Around,
): Promise<SightOf<'target'>> {
  if (isConsole) return { step: 'target', address: null, port: null, result: 'none', ms: 0 }
  if (!target) return { step: 'target', address: null, port: null, result: 'no address', ms: 0 }
  if (udp) return { step: 'target', ...target, result: 'none', ms: 0 }
  const { result, ms } = await timed(() => tryConnect(target.address, target.port, around.left()))
  return { step: 'target', ...target, result, ms }
}

export async function atAnswer(
  found: Found,
  question: TraceQuestion,
  visitor: string | null,
  address: string | null,
  around: Around,
): Promise<SightOf<'answer'>> {
  const none = { step: 'answer', status: null, path: null, ms: 0 } as const
  if (found.isConsole) return { ...none, result: 'self' }
  if (found.udp) return { ...none, result: 'unknown' }
  if (question.kind === 'port' || address === null || !found.target) return { ...none, result: 'taken' }
  // What is behind a sign-in is not asked for by those who have not signed in: only whether its program answers.
  const asked = found.isGuarded && !(await isOpen(found, question.path, around)) ? found.path : question.path
  const { prefix } = found
  const path = asked.startsWith(prefix) ? asked.slice(prefix.length).replace(/^\/*/, '/') : asked
  const { isHttps } = found
  const said = { visitor: visitor ?? LOOPBACK, publicPort: around.settings.POSTERN_HTTPS_PORT }
  const target = { ...found.target, ...said, isHttps, host: question.host, path, prefix }
  const { result: came, ms } = await timed(() => askBackend(target, around.left()))
  return { step: 'answer', status: came.status, path, result: came.result, ms }
}

async function isOpen({ list }: Found, path: string, { haproxy }: Around): Promise<boolean> {
  return list !== null && (await haproxy.lookup.findList(list))?.isBypassed(path) === true
}
