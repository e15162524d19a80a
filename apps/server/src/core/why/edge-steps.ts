import type { SightOf, TraceSight, TraceTrouble } from '@postern/contract/why/trace'
import type { Context } from '../../context.ts'
import { type ServiceRecordRow, scopeOf, toService } from '../services/records.ts'
import { troubleText } from '../services/state.ts'
import { judgeCertificate } from './certificate.ts'
import type { Seen } from './name-steps.ts'
import type { Place } from './place.ts'
import { judgeRoute, quoted } from './route-step.ts'
import { formatAge, toSentences, withFullStop } from './sentences.ts'

/** What a sight is judged by. */
export interface Scene {
  place: Place
  visitor: string | null
  /** The service that the edge found. */
  row: ServiceRecordRow | undefined
}

type Parts = Pick<Context, 'config' | 'edges' | 'live' | 'clock' | 'authority' | 'providers'>
type Sight = Exclude<TraceSight, SightOf<'end'>>

/** What one sight of the edge means, in words. */
export function judgeSight(parts: Parts, scene: Scene, sight: Sight): Seen {
  switch (sight.step) {
    case 'port':
      return judgePort(parts, scene.place, sight)
    case 'certificate':
      return judgeCertificate(
        sight,
        nameOf(parts, scene.place),
        isKnown(scene.place),
        parts.authority.certificates,
        parts.clock(),
      )
    case 'route':
      return judgeRoute(parts, scene.place, sight.found, scene.row)
    case 'access':
      return judgeAccess(parts, scene, sight)
    case 'tunnel':
      return judgeTunnel(parts, scene, sight)
    case 'target':
      return judgeTarget(parts, scene, sight)
    case 'answer':
      return judgeAnswer(parts, scene, sight)
  }
}

/** For whom a certificate has to be: of a TCP service for its own domain. */
function nameOf({ config }: Parts, { host, question, services }: Place): string {
  return question.kind === 'http' ? host : (services[0]?.domain ?? config.publicHost)
}

const isKnown = ({ domain, isOwnHost }: Place) => domain !== undefined || isOwnHost

function judgePort({ config, edges }: Parts, { question }: Place, sight: SightOf<'port'>): Seen {
  const { port, closed, wall } = sight
  const stop = (seen: string, next: string): Seen => ({ step: 'port', state: 'stop', seen, next })
  const { POSTERN_HTTPS_PORT: https, POSTERN_PORT_RANGE: range } = config.settings
  if (closed === 'range')
    return stop(
      `Port ${port} is none of this installation's: it has ${https} for HTTPS, and ${range.from} to ${range.to} for TCP and UDP services.`,
      'Check the port in the address.',
    )
  if (closed === 'held')
    return stop(
      `Another program of the server holds port ${port}.`,
      'End that program, or give the service another port.',
    )
  if (wall !== null) return stop(wall, `Let port ${port} in there.`)
  if (closed !== null) {
    const [edge] = edges.views()
    const part = edge?.dataPlane?.haproxy
    const why = part && part.state !== 'ok' ? ` ${withFullStop(part.detail)}` : ''
    return stop(
      `Nothing answers on port ${port} of the server.${why}`,
      'Look at what the home page says about HAProxy.',
    )
  }
  const isPlain = question.kind === 'http' && question.isPlain
  const seen = isPlain ? `Port ${port} is open, and leads to HTTPS.` : `Port ${port} is open.`
  return { step: 'port', state: 'ok', seen, next: null }
}

function judgeAccess(
  { providers }: Parts,
  { row, visitor }: Scene,
  { list, signIn }: SightOf<'access'>,
): Seen {
  const name = row ? quoted(row) : 'the service'
  const who = visitor ?? 'The visitor'
  const stop = (seen: string, next: string): Seen => ({ step: 'access', state: 'stop', seen, next })
  if (list === 'blocked')
    return stop(`${who} is among the blocked IPs of ${name}.`, `Remove it there if it should come in.`)
  if (list === 'not allowed')
    return stop(`${who} is not among the allowed IPs of ${name}.`, `Add it there if it should come in.`)
  if (list === 'unreadable')
    return stop(`The IP lists of ${name} cannot be read, so nobody comes in.`, 'Save the service again.')
  if (signIn === 'needed' && !providers.current())
    return stop(
      'Visitors have to sign in, and no provider is set up.',
      'Set one up, as the guide about sign-in says, or turn sign-in off.',
    )
  const entry = {
    everyone: 'Every address may come in.',
    allowed: `${who} may come in, by its IP lists.`,
    'unknown visitor': `${name} has IP lists, and whose address they should be asked about is not known.`,
  }[list]
  const signing = {
    none: '',
    needed: ' Visitors have to sign in first, and be on the list of the domain.',
    bypassed: ' This path needs no sign-in, though others of the service do.',
  }[signIn]
  const isNote = list === 'unknown visitor' || signIn === 'needed'
  const next = list === 'unknown visitor' ? 'Type the IP address of a visitor, and ask again.' : null
  return { step: 'access', state: isNote ? 'note' : 'ok', seen: entry + signing, next }
}

function judgeTunnel({ clock, config }: Parts, { row }: Scene, { peer }: SightOf<'tunnel'>): Seen {
  const step = 'tunnel'
  if (peer === null)
    return {
      step,
      state: 'none',
      seen: "The service runs on the server's side, without a tunnel.",
      next: null,
    }
  const name = row?.node_name ?? 'The node'
  const { latestHandshake: at, endpoint, isThere, isUp } = peer
  if (!isThere)
    return {
      step,
      state: 'stop',
      seen: `${name} is not in the tunnel.`,
      next: `Run postern connect on ${name}.`,
    }
  if (at === null)
    return {
      step,
      state: 'stop',
      seen: `${name} has never connected to this tunnel.`,
      next: `Run postern connect on ${name}, and let UDP port ${config.settings.POSTERN_TUNNEL_PORT} of this server in.`,
    }
  const last = `The last handshake of ${name} was ${formatAge(clock() - at)} ago${endpoint === null ? '' : `, from ${endpoint}`}`
  if (isUp) return { step, state: 'ok', seen: `${last}.`, next: null }
  return {
    step,
    state: 'stop',
    seen: `${last}: it does not answer any more.`,
    next: `Check that ${name} runs, and what postern status says there.`,
  }
}

function judgeTarget(parts: Parts, { row }: Scene, sight: SightOf<'target'>): Seen {
  const step = 'target'
  const { address, port, result, ms } = sight
  const place = address === null ? '' : `${address.includes(':') ? `[${address}]` : address}:${port}`
  if (result === 'connected')
    return { step, state: 'ok', seen: `${place} took the connection in ${ms} ms.`, next: null }
  if (result === 'none') {
    const seen =
      address === null ? 'It is this server itself.' : `Packets go to ${place}: UDP has no connections.`
    return { step, state: 'none', seen, next: null }
  }
  if (result !== 'no address') return { step, state: 'stop', ...explain(parts, row, result, `${place}: `) }
  const problem = row && toService(parts, row).state.problem
  const said = toSentences(problem ?? 'The edge has no address that it may dial for this backend')
  return { step, state: 'stop', seen: said.seen, next: said.next ?? 'Check the host of the backend.' }
}

function judgeAnswer(parts: Parts, { row }: Scene, sight: SightOf<'answer'>): Seen {
  const step = 'answer'
  const { result, status, path, ms } = sight
  if (result === 'self') return { step, state: 'ok', seen: 'This server answers you right now.', next: null }
  if (result === 'taken')
    return {
      step,
      state: 'ok',
      seen: 'The program takes connections; what it says then is its own.',
      next: null,
    }
  if (result === 'unknown') {
    const seen =
      'Whether a UDP program answers cannot be probed: it says nothing to packets that it does not know.'
    return {
      step,
      state: 'note',
      seen,
      next: 'Look at the figures of the service, or ask with a program that speaks its protocol.',
    }
  }
  if (result !== 'answered') return { step, state: 'stop', ...explain(parts, row, result, '') }
  const seen = `The program answered ${status} for ${path ?? '/'} after ${ms} ms.`
  if ((status ?? 0) >= 500)
    return { step, state: 'stop', seen, next: "Look at the program's own log: the error is its own." }
  const isOk = (status ?? 0) < 400
  const next = isOk ? null : 'The answer is its own: check the path, and what the program expects.'
  return { step, state: isOk ? 'ok' : 'note', seen, next }
}

function explain(parts: Parts, row: ServiceRecordRow | undefined, trouble: TraceTrouble, place: string) {
  if (trouble === 'silent')
    return {
      seen: `${place}The program took the connection, and gave no answer in time.`,
      next: 'Look whether the program hangs, and at its own log.',
    }
  if (trouble === 'broken')
    return {
      seen: `${place}The program answered, but not in HTTP/1.1.`,
      next: 'Check the port; of a program that speaks gRPC alone this is expected.',
    }
  if (!row) return { seen: `${place}The backend gives no answer.`, next: null }
  const said = toSentences(troubleText(trouble, scopeOf(parts, row)))
  return { seen: place + said.seen, next: said.next ?? 'Check its address, its port and its firewall.' }
}
