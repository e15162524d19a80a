import { LIMITS } from '@postern/contract/limits'
import { endsTrace, type TraceSight } from '@postern/contract/why/trace'
import type { Why, WhyForm } from '@postern/contract/why/why'
import type { Context } from '../../context.ts'
import { ConflictError, UnavailableError } from '../errors.ts'
import { findService } from '../services/records.ts'
import { judgeSight, type Scene } from './edge-steps.ts'
import { lookAtName, type Seen } from './name-steps.ts'
import { findPlace, type Place } from './place.ts'

/** Who asks. */
export interface Asker {
  /** Whose questions it reads again, like `session 5`. */
  owner: string
  /** Whose share of the looks it takes; without: the owner's own. */
  share?: string
  /** Whose way it is unless another address was typed; null: nobody's. */
  ip: string | null
  /** A node learns of its own services alone; null: of all. */
  nodeId: number | null
}

/** Begins to look, and answers at once. @throws ConflictError for what is none of a node's, TooManyError */
export async function beginWhy(context: Context, asker: Asker, form: WhyForm): Promise<Why> {
  return (await start(context, asker, form)).why
}

/** Looks, and answers when the whole is done. @throws the same */
export async function askWhy(context: Context, asker: Asker, form: WhyForm): Promise<Why> {
  const { why, done } = await start(context, asker, form)
  await done
  return why
}

/** Programs of nodes wait for people. */
const RANK = { people: 0, nodes: 1 }

/** What keeps it from looking becomes a step that says so: `done` never rejects. */
async function start(context: Context, asker: Asker, { address, visitor }: WhyForm) {
  const { whys, log } = context
  const place = seenBy(context, asker, await findPlace(context, address))
  const why = whys.open(asker, place.address, visitor ?? asker.ip)
  const rank = asker.nodeId === null ? RANK.people : RANK.nodes
  const done = whys.gate
    .pass(() => look(context, asker, place, why), rank)
    .catch((err: unknown) => {
      const isBusy = err instanceof UnavailableError
      if (!isBusy) log.error({ err }, 'the way of a visitor could not be looked at')
      const seen = isBusy ? 'The server is looking at other addresses.' : 'The server could not look further.'
      whys.note(why, { step: nextOf(why), state: 'stop', seen, next: 'Try again in a moment.' })
    })
    .finally(() => {
      why.state = why.steps.some(({ state }) => state === 'stop' || state === 'waiting') ? 'stopped' : 'works'
    })
  return { why, done }
}

/**
 * Not even the name of another node's service is anybody's business. @throws ConflictError without one of its own, and
 * for a limited person without one that they may see
 */
function seenBy({ access }: Context, { nodeId }: Asker, place: Place): Place {
  if (access.reach && place.services.length === 0)
    throw notHere('No service that you may see is published at this address')
  if (nodeId === null) return place
  const services = place.services.filter((row) => row.node_id === nodeId)
  if (services.length === 0) throw notHere('No service of this node is published at this address')
  return { ...place, services }
}

function notHere(message: string): ConflictError {
  return new ConflictError(message, [{ field: 'address', message }])
}

async function look(context: Context, { nodeId }: Asker, place: Place, why: Why): Promise<void> {
  const until = performance.now() + LIMITS.traceMs
  const note = (seen: Seen) => {
    context.whys.note(why, seen)
    return seen.state === 'stop'
  }
  for await (const seen of lookAtName(context, place)) if (note(seen)) return
  await askEdge(context, nodeId, place, why, note, until)
}

/** The first step that nobody has looked at. */
function nextOf({ steps }: Why): Seen['step'] {
  return steps.find(({ state }) => state === 'waiting')?.step ?? 'answer'
}

/** Of the edge's own time: it answers sooner when it sees no more. */
const LEAST_MS = 1500
/** For its last words to come. */
const GRACE_MS = 500

async function askEdge(
  context: Context,
  node: number | null,
  place: Place,
  why: Why,
  note: (seen: Seen) => boolean,
  until: number,
): Promise<void> {
  const ms = Math.round(Math.max(LEAST_MS, until - performance.now() - GRACE_MS))
  const scene: Scene = { place, visitor: why.visitor, row: undefined }
  for await (const sight of sightsOf(context, { ms, question: place.question, visitor: why.visitor, node })) {
    if (typeof sight === 'string') return void note(edgeStop(why, sight))
    if (sight.step === 'end') {
      if (sight.problem !== null)
        note({ step: nextOf(why), state: 'stop', seen: sight.problem, next: 'Try again in a moment.' })
      return
    }
    if (sight.step === 'route') {
      if (note(noCertificate(why)) || (await noteRoute(context, node, scene, why, sight, note))) return
    } else if (note(judgeSight(context, scene, sight)) || endsTrace(sight)) return
  }
}

/** A TCP service without TLS shows none. */
function noCertificate({ steps }: Why): Seen {
  const held = steps.find(({ step }) => step === 'certificate')
  if (held && held.state !== 'waiting') return held
  return { step: 'certificate', state: 'none', seen: 'TLS does not end here.', next: null }
}

async function noteRoute(
  context: Context,
  node: number | null,
  scene: Scene,
  why: Why,
  sight: Extract<TraceSight, { step: 'route' }>,
  note: (seen: Seen) => boolean,
): Promise<boolean> {
  const row = sight.found ? await findService(context.db, sight.found.service) : undefined
  if (row && node !== null && row.node_id !== node) {
    const seen = 'A service of another node answers at this address.'
    return note({ step: 'route', state: 'stop', seen, next: 'Ask in the console, which knows both.' }) || true
  }
  if (sight.found && !row && context.access.reach) {
    const seen = 'A service that you may not see answers at this address.'
    return note({ step: 'route', state: 'stop', seen, next: 'Ask an administrator.' }) || true
  }
  scene.row = row
  const { id = 0, type = 'http', node_id: nodeId = 0, node_name: nodeName = '', name = '' } = row ?? {}
  why.service = row ? { id, type, nodeId, nodeName, name } : null
  return note(judgeSight(context, scene, sight)) || endsTrace(sight)
}

type Silence = 'away' | 'too old' | 'silent'

/** What the edge sees, as it comes; a text instead says why nothing comes. */
async function* sightsOf(
  { edges }: Context,
  request: Parameters<Context['edges']['trace']>[0],
): AsyncGenerator<TraceSight | Silence> {
  const queue: (TraceSight | Silence)[] = []
  let wake = () => {}
  const push = (sight: TraceSight | Silence) => {
    // An edge that says more than there are steps is not listened to.
    if (queue.length < MOST_SIGHTS) queue.push(sight)
    wake()
  }
  const stop = edges.trace(request, push)
  if (typeof stop === 'string') return yield stop
  const late = setTimeout(push, request.ms + GRACE_MS, 'silent' as const)
  try {
    for (let taken = 0; taken < MOST_SIGHTS; taken++) {
      if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const sight = queue.shift()
      if (sight === undefined) return
      yield sight
    }
  } finally {
    clearTimeout(late)
    stop()
  }
}

const MOST_SIGHTS = 20

function edgeStop(why: Why, silence: Silence): Seen {
  const step = nextOf(why)
  if (silence === 'away')
    return {
      step,
      state: 'stop',
      seen: 'No edge is connected to this server, so nobody can look further. Services that were published go on.',
      next: 'Start the edge: npm start, or systemctl start postern-edge.',
    }
  if (silence === 'too old')
    return { step, state: 'stop', seen: 'The edge is too old to be asked.', next: 'Update the edge.' }
  return { step, state: 'stop', seen: 'The edge did not answer in time.', next: 'Try again in a moment.' }
}
