import type { StateAnswer } from '@postern/contract/edge/desired-state'
import type { PublishAnswer, PublishForm } from '@postern/contract/services/publishing'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type HeldState, readAnswer } from '../../../../edge/src/state/held-state.ts'
import { INSTALLATION } from '../../changes/actor.ts'
import { getRevision } from '../../changes/change.ts'
import { createDesiredState } from '../desired-state/desired-state.ts'
import { publishServices } from './publish.ts'

const nodes: number[] = []
/** The token of each node, by the node's id. */
let tokens: Map<number, number>
// Few ports, names and paths, so that services often conflict.
const settings = { POSTERN_PORT_RANGE: '32700-32703' }
const server = shared(() => startTestServer({ isMeasured: true, settings }))
const client = shared(() => server.signIn())
beforeAll(async () => {
  const rights = { agentMayPublish: true, agentDomains: ['*.example.com'] }
  for (const name of ['one', 'two']) nodes.push((await client.createNode({ name, ...rights })).id)
  tokens = await readTokens()
  await client.post('/api/domains', { domain: 'locked.example.com', skipValidation: true })
  const mine = { name: 'mine', domain: 'mine.example.com', skipValidation: true }
  await client.post(`/api/services/${nodes[0]}/http`, mine)
  await client.post(`/api/services/${nodes[0]}/tcp`, { name: 'port', port: 32703, backendPort: 1883 })
})

async function readTokens() {
  const rows = await server.context.db.selectFrom('node_tokens').select(['id', 'node_id']).execute()
  return new Map(rows.map(({ id, node_id }) => [node_id, id]))
}

const few = <T>(...values: T[]) => fc.constantFrom(...values)
const common = {
  key: few('a', 'b', 'c', 'd'),
  name: few('web', 'api', 'web', 'api', 'db', ' '),
  backendPort: few(80, 8080, 80, 8080, 80, 0),
  enabled: few(true, true, true, false),
}
const web = fc.record({
  ...common,
  type: few('http' as const),
  domain: few('x.example.com', 'y.example.com', 'mine.example.com'),
  pathLocation: few('/', '/p'),
})
const port = fc.record({
  ...common,
  type: few('tcp' as const, 'udp' as const),
  port: few(null, 32700, 32701, 32703),
  domain: few(null, 'x.example.com'),
})
const set = fc.record({
  kind: fc.constant('set' as const),
  node: fc.nat(1),
  source: few('docker', 'file'),
  services: fc.array(fc.oneof(web, port), { maxLength: 5 }),
})
const byPerson = fc.record({
  kind: few('disable' as const, 'enable' as const, 'delete' as const, 'withdraw' as const),
  node: fc.nat(1),
  row: fc.nat(9),
})
type Set = typeof set extends fc.Arbitrary<infer T> ? T : never
type ByPerson = typeof byPerson extends fc.Arbitrary<infer T> ? T : never

test('after any sets, and whatever people do meanwhile, all services match the last sets, and the state kept up to date equals one made from scratch', async () => {
  const follow = followState()
  let published = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(set, set, byPerson), { minLength: 1, maxLength: 6 }),
      async (steps) => {
        for (const step of steps) {
          if (step.kind === 'set') published += await publish(step)
          else await actAsPerson(step)
          await follow()
        }
      },
    ),
    { numRuns: 180 },
  )
  expect(published).toBeGreaterThan(150)
}, 120_000)

/**
 * Sends a set twice: the second one changes nothing.
 * @returns how many services exist
 */
async function publish({ node, source, services }: Set): Promise<number> {
  const { context } = server
  const nodeId = nodes[node] ?? 0
  const others = await listOthers(nodeId, source)
  // The limits on how often are tested elsewhere.
  context.publishAttempts.forget(String(nodeId))
  context.publishAttempts.forget(`domains ${nodeId}`)
  const form: PublishForm = { source, services }
  const token = { nodeId, tokenId: tokens.get(nodeId) ?? 0 }
  const answer = await publishServices(context, INSTALLATION, token, form)
  const revision = await getRevision(context.db)
  expect(await publishServices(context, INSTALLATION, token, form)).toEqual(answer)
  expect(await getRevision(context.db)).toBe(revision)
  expect(await listOthers(nodeId, source)).toEqual(others)
  expect(await listKeys(nodeId, source)).toEqual(keysOf(answer))
  expect(await countUnused()).toBe(0)
  return keysOf(answer).length
}

const keysOf = ({ services }: PublishAnswer) =>
  services.flatMap(({ state, key }) => (state === 'published' ? [key] : [])).sort()

async function listKeys(nodeId: number, source: string): Promise<string[]> {
  const own = server.context.db.selectFrom('publications').where('node_id', '=', nodeId)
  const rows = await own
    .select('key')
    .where('source', '=', source)
    .where('service_id', 'is not', null)
    .execute()
  return rows.map(({ key }) => key).sort()
}

/** All services that are not this source's. */
async function listOthers(nodeId: number, source: string) {
  const { db } = server.context
  const own = db.selectFrom('publications').where('node_id', '=', nodeId).where('source', '=', source)
  const ids = own.select('service_id').where('service_id', 'is not', null)
  return await db.selectFrom('services').selectAll().where('id', 'not in', ids).orderBy('id').execute()
}

/** Domains that were made for a source and that nothing uses. */
async function countUnused(): Promise<number> {
  const { db } = server.context
  const used = db.selectFrom('services').select('domain_id').where('domain_id', 'is not', null)
  return (await db.selectFrom('published_domains').selectAll().where('domain_id', 'not in', used).execute())
    .length
}

async function actAsPerson({ kind, node, row }: ByPerson): Promise<void> {
  const path = `/api/nodes/${nodes[node]}`
  if (kind === 'withdraw') {
    for (const agentMayPublish of [false, true])
      expect((await client.patch(path, { agentMayPublish })).statusCode).toBe(200)
    return
  }
  const rows = await server.context.db
    .selectFrom('publications')
    .innerJoin('services', 'services.id', 'service_id')
    .select(['services.id', 'services.type', 'services.node_id'])
    .execute()
  const service = rows[row % rows.length]
  if (!service) return
  const url = `/api/services/${service.node_id}/${service.type}/${service.id}`
  if (kind === 'delete') await client.delete(url)
  else await client.patch(`${url}/${kind}`)
}

/** @returns a check that the state kept up to date, here and on an edge, equals one made from scratch */
function followState(): () => Promise<void> {
  const { context } = server
  const make = () => createDesiredState(context)
  const kept = make()
  const read = async (state: ReturnType<typeof make>, known = {}): Promise<StateAnswer> =>
    JSON.parse((await state.read(1, known)).join(''))
  let held: HeldState | undefined
  return async () => {
    const whole = await read(make())
    expect(await read(kept)).toEqual(whole)
    const known: Record<string, string> = held?.hashes ?? {}
    held = readAnswer(await read(kept, known), held, known).state
    expect(held.hashes).toEqual(readAnswer(whole, undefined, {}).state.hashes)
  }
}
