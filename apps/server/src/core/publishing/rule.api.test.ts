import type { Domain } from '@postern/contract/domains'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { INSTALLATION } from '../../changes/actor.ts'
import { createDesiredState } from '../desired-state/desired-state.ts'
import { publishServices } from './publish.ts'

let nodes: number[]
/** The token of each node, by the node's id. */
let tokens: Map<number, number>
let consoleUrl: string
const server = shared(() =>
  startTestServer({
    isMeasured: true,
    settings: { POSTERN_PORT_RANGE: '32700-32709', POSTERN_OIDC_ISSUER: 'https://id.example.com', ...OIDC },
    world: { resolver: { resolve: async () => ['203.0.113.1'] } },
  }),
)
const client = shared(() => server.signIn())
beforeAll(async () => {
  nodes = []
  for (const name of ['one', 'two'])
    nodes.push((await client.post('/api/nodes', { name, agentMayPublish: true })).json().id)
  tokens = await readTokens()
  const system = (await listServices()).find((service) => service.system)
  consoleUrl = `/api/services/${system?.nodeId}/http/${system?.id}`
})

const OIDC = { POSTERN_OIDC_CLIENT_ID: 'postern', POSTERN_OIDC_CLIENT_SECRET: 'secret' }
const listServices = async (): Promise<Service[]> => [
  ...(await client.get('/api/services/http')).json(),
  ...(await client.get('/api/services/tcp')).json(),
]
const listDomains = async (): Promise<Domain[]> => (await client.get('/api/domains')).json()

async function readTokens() {
  const rows = await server.context.db.selectFrom('node_tokens').select(['id', 'node_id']).execute()
  return new Map(rows.map(({ id, node_id }) => [node_id, id]))
}

const NAMES = ['x.example.com', 'y.example.com']
const few = <T>(...values: T[]) => fc.constantFrom(...values)
const name = few(...NAMES)
const web = fc.record({
  key: few('a', 'b'),
  type: few('http' as const),
  domain: name,
  pathLocation: few('/', '/p'),
})
const port = fc.record({ key: few('t', 'u'), type: few('tcp' as const), domain: name, ssl: fc.boolean() })
type Published = typeof published extends fc.Arbitrary<infer T> ? T : never
const published = fc.oneof(web, port)
const step = fc.oneof(
  fc.record({ kind: few('set' as const), node: fc.nat(1), services: fc.array(published, { maxLength: 3 }) }),
  fc.record({ kind: few('sign-in' as const), name, on: fc.boolean() }),
  fc.record({ kind: few('console' as const), name: fc.option(name) }),
  fc.record({ kind: few('save' as const), name }),
  fc.record({ kind: few('add' as const), name }),
  fc.record({
    kind: few('give' as const),
    node: fc.nat(1),
    to: few<string[]>([], ['x.example.com'], ['*.example.com']),
  }),
  fc.record({ kind: few('service' as const), node: fc.nat(1), name, path: few('/', '/q') }),
  fc.record({ kind: few('delete' as const), row: fc.nat(9) }),
  fc.record({ kind: few('disconnect' as const, 'connect' as const), node: fc.nat(1) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** So that each of the reasons occurs. */
const EACH_REASON: Step[] = [
  { kind: 'give', node: 0, to: ['*.example.com'] },
  { kind: 'add', name: 'x.example.com' },
  { kind: 'set', node: 0, services: [{ key: 't', type: 'tcp', domain: 'x.example.com', ssl: true }] },
  { kind: 'sign-in', name: 'x.example.com', on: true },
  { kind: 'sign-in', name: 'x.example.com', on: false },
  { kind: 'give', node: 0, to: [] },
  { kind: 'give', node: 0, to: ['x.example.com'] },
  { kind: 'service', node: 1, name: 'x.example.com', path: '/q' },
  { kind: 'console', name: 'x.example.com' },
  { kind: 'console', name: null },
]

test('whatever people and agents do, in any order, edges get what the rules now allow, and all other services show why not', async () => {
  const kept = createDesiredState(server.context)
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
      // As if the console had been at no name yet.
      await server.context.db.deleteFrom('used_names').execute()
      for (const each of steps) {
        await take(each)
        const { routes, ports } = JSON.parse((await kept.read(1, {})).join('')).sections
        const [services, domains] = [await listServices(), await listDomains()]
        const around = { services, domains, ...(await readRights()) }
        const carried = services.filter((service) => {
          const reason = findReason(service, around)
          seen.add(reason ?? `carried ${service.source}`)
          expect(
            service.state.problem?.match(
              /^Withheld: .*? (console|sign-in|another node|not available)\b/,
            )?.[1],
          ).toBe(reason)
          return reason === undefined
        })
        expect(idsOf([...routes, ...ports])).toEqual(idsOf(carried))
      }
    }),
    { numRuns: 60, examples: [[EACH_REASON]] },
  )
  const reasons = ['another node', 'console', 'not available', 'sign-in']
  expect([...seen].sort()).toEqual([...reasons, 'carried docker', 'carried null'].sort())
}, 120_000)

const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id).sort((a, b) => a - b)

interface Around {
  /** The names that the console had. */
  left: ReadonlySet<string | null>
  services: readonly Service[]
  domains: readonly Domain[]
  /** The domains that agents brought and whose DNS points here. */
  brought: ReadonlySet<string | null>
  given: ReadonlyMap<number, readonly string[]>
}

async function readRights(): Promise<Omit<Around, 'services' | 'domains'>> {
  const rows = await server.context.db
    .selectFrom('published_domains')
    .innerJoin('domains', 'domains.id', 'domain_id')
    .select('domain')
    .where('skip_validation', '=', 0)
    .execute()
  const consoles = await server.context.db
    .selectFrom('used_names')
    .select('domain')
    .where('is_console', '=', 1)
    .execute()
  const found: Node[] = (await client.get('/api/nodes')).json()
  return {
    left: new Set<string | null>(consoles.map(({ domain }) => domain)),
    brought: new Set(rows.map(({ domain }) => domain)),
    given: new Map(found.map(({ id, agentDomains }) => [id, agentDomains])),
  }
}

/** The rule, computed from what the console shows. */
function findReason(service: Service, { services, domains, brought, given, left }: Around) {
  const { source, domain, nodeId } = service
  if (source === null) return undefined
  const there = services.filter((other) => other.domain === domain)
  if (there.some(({ system }) => system) || left.has(domain)) return 'console'
  if (domains.find((each) => each.domain === domain)?.authentication) return 'sign-in'
  if (there.some((other) => other.nodeId !== nodeId)) return 'another node'
  const names = given.get(nodeId) ?? []
  const isGiven = names.includes(domain ?? '') || names.includes('*.example.com')
  const isFree = isGiven || brought.has(domain) || there.some((other) => other.source === null)
  return isFree ? undefined : 'not available'
}

async function take(each: Step): Promise<void> {
  switch (each.kind) {
    case 'set':
      return await publish(nodes[each.node] ?? 0, each.services)
    case 'console':
      return void (await client.patch(consoleUrl, {
        domain: each.name,
        skipValidation: true,
        confirmUsedName: true,
      }))
    case 'add':
      return void (await client.post('/api/domains', { domain: each.name, skipValidation: true }))
    case 'give':
      return void (await client.patch(`/api/nodes/${nodes[each.node]}`, { agentDomains: each.to }))
    case 'save':
    case 'sign-in': {
      const found = (await listDomains()).find(({ domain }) => domain === each.name)
      const authentication = each.kind === 'sign-in' ? each.on : found?.authentication
      return void (await client.patch(`/api/domains/${found?.id}`, { authentication }))
    }
    case 'service': {
      const form = {
        name: 'mine',
        domain: each.name,
        pathLocation: each.path,
        skipValidation: true,
        confirmUsedName: true,
      }
      return void (await client.post(`/api/services/${nodes[each.node]}/http`, form))
    }
    case 'delete': {
      const services = (await listServices()).filter(({ system }) => !system)
      const { nodeId, type, id } = services[each.row % services.length] ?? {}
      return void (await client.delete(`/api/services/${nodeId}/${type}/${id}`))
    }
    default:
      return void (await client.patch(
        `/api/nodes/${nodes[each.node]}/${each.kind === 'connect' ? 'enable' : 'disable'}`,
      ))
  }
}

/** A set in the fields of the contract; which services are refused does not matter here. */
async function publish(nodeId: number, services: Published[]) {
  const { context } = server
  // The limits on how often are tested elsewhere.
  context.publishAttempts.forget(String(nodeId))
  context.publishAttempts.forget(`domains ${nodeId}`)
  const token = { nodeId, tokenId: tokens.get(nodeId) ?? 0 }
  await publishServices(context, INSTALLATION, token, {
    source: 'docker',
    services: services.map((each) => ({ name: each.key, backendPort: 80, ...each })),
  })
}
