import type { FieldError } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import {
  type Publication,
  type PublishAnswer,
  type PublishForm,
  titleOfSource,
} from '@postern/contract/services/publishing'
import type { Kysely } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { type Changed, changeIfAny, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, ForbiddenError, quoted, quoteNames } from '../errors.ts'
import { getNodeRow } from '../nodes/records.ts'
import type { NodeToken } from '../nodes/token-check.ts'
import { toService } from '../services/records.ts'
import { getServiceNode } from '../services/services.ts'
import { readSurroundings } from '../services/surroundings.ts'
import { prepareDomains } from './domains.ts'
import { boundKept } from './freed.ts'
import { readGiven } from './given.ts'
import type { Done, Work } from './place.ts'
import { type Known, noteToken, readPublications, releaseDomains } from './publications.ts'
import { settle } from './settle.ts'
import { readTaken } from './shares.ts'
import { readWanted, type Wanted } from './wanted.ts'

/** Sets of one node in ten minutes: containers that restart endlessly must not fill the server with changes. */
const MAX_SETS = 200

/**
 * Makes the services of one source of a node match the set from its agent, checking each on its own.
 * @throws ForbiddenError without the node's right, TooManyError, ConflictError for one source too many
 */
export async function publishServices(
  context: Context,
  by: Actor,
  token: NodeToken,
  { source, services }: PublishForm,
): Promise<PublishAnswer> {
  const { nodeId } = token
  const name = await getPublisher(context.db, nodeId)
  context.publishAttempts.check(String(nodeId), MAX_SETS)
  context.publishAttempts.add(String(nodeId), 1)
  const wanted = readWanted(services)
  const prepared = await prepareDomains(context, nodeId, wanted)
  const actor: Actor = { ...by, name: `${titleOfSource(source)} on ${name}` }
  const note = { actor, what: 'services published' }
  const { refused, known, removed } = await changeIfAny(context, note, async (tx, revision) => {
    // The node may have lost the right while domains were looked up. The change itself asks for its token.
    await getPublisher(tx, nodeId)
    await refuseSource(tx, nodeId, source)
    const node = await getServiceNode(tx, nodeId)
    const around = await readSurroundings(context, tx, node)
    const done: Done = { placed: [], removed: [], left: new Set(), made: [] }
    const fresh = { domainFaults: new Map(), freePorts: new Map(), done }
    const given = await readGiven(tx, nodeId)
    const [shares, taken] = [await getNodeRow(tx, nodeId), await readTaken(tx, nodeId)]
    const work: Work = {
      context,
      tx,
      revision,
      node,
      source,
      around,
      prepared,
      given,
      shares,
      taken,
      ...fresh,
    }
    const refused = await settle(work, wanted, await readPublications(tx, nodeId, source))
    const released = await releaseDomains(tx, done.left)
    await boundKept(tx, nodeId, { domains: shares.agent_max_domains, ports: shares.agent_max_ports })
    await noteToken(tx, token, source)
    const known = await readPublications(tx, nodeId, source)
    const value = { refused, known, removed: done.removed.map(({ id }) => id) }
    if (done.placed.length + done.removed.length === 0) throw new Unchanged(value)
    return { value, ...describe(done, nodeId, released) }
  })
  // A set that changed nothing was rolled back, including its note.
  await noteToken(context.db, token, source)
  if (removed.length > 0) await context.counts.remove(removed)
  return { services: wanted.map((each) => toPublication(context, each, known, refused.get(each))) }
}

/** @returns the node's name. @throws ForbiddenError without the right */
async function getPublisher(db: Kysely<Database>, nodeId: number): Promise<string> {
  const { name, agent_may_publish } = await getNodeRow(db, nodeId)
  if (agent_may_publish === 1) return name
  throw new ForbiddenError(
    `The agent of ${quoted(name)} may not publish services. Tick “Agent May Publish Services” in the node's form.`,
    'may_not_publish',
  )
}

/** @throws ConflictError when the node has services of as many others already */
async function refuseSource(db: Kysely<Database>, nodeId: number, source: string): Promise<void> {
  const others = await db
    .selectFrom('publications')
    .select('source')
    .distinct()
    .where('node_id', '=', nodeId)
    .where('source', '!=', source)
    .where('service_id', 'is not', null)
    .orderBy('source')
    .execute()
  if (others.length < LIMITS.sourcesPerNode) return
  const names = quoteNames(others.map((row) => row.source))
  throw new ConflictError(`This node already has services of ${names}: end one of these first`)
}

function describe(done: Done, nodeId: number, released: number[]): Omit<Changed<unknown>, 'value'> {
  const { placed, removed, made } = done
  const services = [...placed, ...removed].map(({ id }) => ({ id, nodeId }))
  const only = placed.length === 0 ? removed : placed
  const verb = placed.length === 0 ? 'withdrawn' : 'published'
  return {
    touched: { nodes: [nodeId], services, domains: [...made, ...released] },
    what: `${only.length === 1 ? 'service' : 'services'} ${verb}`,
    name: only.length === 1 ? (only[0]?.name ?? '') : quoteNames(only.map(({ name }) => name)),
  }
}

function toPublication(
  context: Context,
  { key }: Wanted,
  known: ReadonlyMap<string, Known>,
  refused: readonly FieldError[] | undefined,
): Publication {
  const own = known.get(key)
  if (refused || !own?.service) return { key, state: 'refused', errors: [...(refused ?? [])] }
  const service = toService(context, own.service)
  const { id, enabled, publicAccess } = service
  const there = { key, id, enabled, address: publicAccess ?? '', disabledByPerson: own.held }
  if (service.type === 'http') return { state: 'published', type: 'http', ...there }
  return { state: 'published', type: service.proto, port: service.port, ...there }
}
