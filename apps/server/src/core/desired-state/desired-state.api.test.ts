import { DesiredState, PortRoute, Route, type StateAnswer } from '@postern/contract/edge/desired-state'
import { fetchState } from '@postern/testkit/edge-client'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { costMs } from '@postern/testkit/time'
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { PLACES } from '../secrets/secrets.ts'
import { createDesiredState } from './desired-state.ts'

const server = shared(startTestServer)
const client = shared(() => server.signIn())

/** Parts with a meaning in one of the languages behind: HAProxy's, nft's, a shell's, a URL's. */
const nasty = fc.constantFrom(
  ...['\n', '\r', '\0', ';', '|', ' ', '"', "'", '`', '$(id)', '{', '}', '%00', '%2f', '..', '/', '//', '\\'],
  ...[
    '#',
    '?x=',
    '@',
    ':',
    '*',
    '::1',
    '127.0.0.1',
    'a',
    'example.com',
    '.',
    'ü',
    '\u202e',
    'xn--',
    '-',
    '_',
    '~',
  ],
)
const hostile = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.array(nasty, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.array(nasty, { maxLength: 8 }).map((parts) => `/${parts.join('')}`),
  fc.ipV4(),
  fc.ipV6(),
  fc.domain(),
  fc.constant(null),
)

/** Sometimes a valid value, so that the hostile rest of the form is reached. */
const orRight = (right: fc.Arbitrary<string | null>) =>
  fc.oneof({ weight: 2, arbitrary: right }, { weight: 1, arbitrary: hostile })

describe('hostile values', () => {
  it('never become a route that the edge would refuse', async () => {
    const plain = (await client.post('/api/nodes', { name: 'plain' })).json().id
    const gateway = await client.post('/api/nodes', {
      name: 'gateway',
      isGateway: true,
      gatewayNetworks: [{ interface: 'eth0', subnet: '198.18.0.0/15' }],
    })
    const nodeList: { id: number; isLocal: boolean }[] = (await client.get('/api/nodes')).json()
    const local = nodeList.find(({ isLocal }) => isLocal)?.id ?? 0
    const nodes = fc.constantFrom(plain, gateway.json().id, local)
    const fields = [
      orRight(fc.domain()),
      orRight(fc.constant(null)),
      orRight(fc.constantFrom(null, 'printer.lan', '198.18.0.9')),
      orRight(fc.constant('web')),
    ] as const
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(nodes, ...fields, async (node, domain, path, host, name) => {
        const form = { name, domain, pathLocation: path, backendHost: host, skipValidation: true }
        const answer = await client.post(`/api/services/${node}/http`, form)
        expect([201, 409, 422]).toContain(answer.statusCode)
        if (answer.statusCode === 201) accepted++
      }),
      { numRuns: 200 },
    )
    const { revision, hashes, sections } = await fetchState(server)
    expect(DesiredState.safeParse({ revision, hashes, ...sections }).success).toBe(true)
    for (const route of sections.routes)
      expect(Route.safeParse(route).success, JSON.stringify(route)).toBe(true)
    expect(accepted).toBeGreaterThan(10)
  })

  it('in any field of a TCP service are refused under it, or stored unchanged', async () => {
    const local = 1
    const value = (...right: unknown[]) =>
      fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom<unknown>(undefined, ...right) },
        { weight: 1, arbitrary: anything },
      )
    const form = fc.record({
      name: value('mqtt', "'; DROP TABLE services; --", '%_"'),
      domain: value(null, 'mqtt.example.com'),
      port: value(null, 32_700, 32_701, 80, 65_536, 1.5, '32700'),
      proto: value('tcp', 'udp'),
      ssl: value(true, false),
      backendHost: value('127.0.0.1', '::1'),
      backendPort: value(1883, 0),
      allowedIps: value([], ['203.0.113.0/24']),
      blockedIps: value([], ['2001:db8::/32']),
      skipValidation: fc.constant(true),
    })
    const before = await countRows()
    const kept = new Map<number, unknown>()
    await fc.assert(
      fc.asyncProperty(form, async (sent) => {
        const answer = await client.post(`/api/services/${local}/tcp`, {
          backendHost: '::1',
          backendPort: 1883,
          name: 'x',
          ...defined(sent),
        })
        expect([201, 409, 422]).toContain(answer.statusCode)
        if (answer.statusCode === 201) kept.set(answer.json().id, answer.json())
        else
          for (const { field } of answer.json().errors)
            expect(Object.keys(sent)).toContain(field.split('.')[0])
      }),
      { numRuns: 300 },
    )
    expect(kept.size).toBeGreaterThan(3)
    for (const [id, record] of kept)
      expect((await client.get(`/api/services/${local}/tcp/${id}`)).json()).toEqual(record)
    const { sections } = await fetchState(server)
    expect(sections.ports.map(({ id }) => id)).toEqual([...kept.keys()])
    for (const route of sections.ports)
      expect(PortRoute.safeParse(route).success, JSON.stringify(route)).toBe(true)
    expect(await countRows()).toBe(before + kept.size)
    expect((await sql`PRAGMA integrity_check`.execute(server.context.db)).rows).toEqual([
      { integrity_check: 'ok' },
    ])
  })
})

/** Bodies with keys that would change an object's prototype cannot be read at all. */
const isReadable = (value: unknown) => !/"(__proto__|constructor)"/.test(JSON.stringify(value) ?? '')
const anything = fc.oneof(hostile, fc.anything().filter(isReadable), fc.array(hostile, { maxLength: 3 }))
/** As JSON would send it. */
const defined = (form: object) => JSON.parse(JSON.stringify(form))

async function countRows(): Promise<number> {
  const rows = await server.context.db.selectFrom('services').select('id').execute()
  return rows.length
}

describe('5,000 routes and 1,000 certificates', () => {
  it('take less than 50 ms of processor time for a change of one route', async () => {
    const { nodeId, serviceId } = await fill(5000, 1000)
    const { hashes } = await fetchState(server)
    expect(Object.keys(hashes).length).toBeGreaterThan(5000 / 200 + 1000 / 16)
    const costs: number[] = []
    let known = hashes
    for (let i = 0; i < 5; i++) {
      let answer: string[] = []
      const cost = await costMs(async () => {
        await client.patch(`/api/services/${nodeId}/http/${serviceId}`, { backendPort: 2000 + i })
        answer = await server.context.desiredState.read(1, known)
      })
      costs.push(cost)
      const { hashes: next, sections } = JSON.parse(answer.join(''))
      expect(sections.certificates).toEqual([])
      expect(sections.routes.length).toBeLessThanOrEqual(200)
      expect(sections.routes.find(({ id }: Route) => id === serviceId).backend.port).toBe(2000 + i)
      known = next
    }
    const median = costs.sort((a, b) => a - b)[2] ?? Number.POSITIVE_INFINITY
    console.log(`a change of one route of 5,000: ${median.toFixed(1)} ms`)
    expect(median).toBeLessThan(50)
  })

  it('follow deletions, new domains and moved nodes as if built from scratch', async () => {
    const { nodeId, serviceId } = await fill(50, 10)
    await fetchState(server)
    await client.delete(`/api/services/${nodeId}/http/${serviceId}`)
    const form = { name: 'n', domain: 'brand-new.example.com', skipValidation: true }
    await client.post(`/api/services/${nodeId}/http`, form)
    const other = (await client.post('/api/nodes', { name: 'gone' })).json()
    await client.post(`/api/services/${other.id}/http`, { ...form, domain: 'gone.example.com' })
    // Enough that at least one part has no other routes.
    const crowd = await fill(400, 10)
    const before = Object.keys((await fetchState(server)).hashes).length
    await client.delete(`/api/nodes/${other.id}`)
    await client.delete(`/api/nodes/${crowd.nodeId}`)
    await client.patch(`/api/nodes/${nodeId}`, { address: '10.64.200.7' })
    const { hashes, sections } = await fetchState(server)
    const kept = sections.routes
    const anew = await readAnew()
    expect(kept).toEqual(anew.sections.routes)
    expect(hashes).toEqual(anew.hashes)
    expect(Object.keys(hashes).length).toBeLessThan(before)
    expect(kept.some(({ domain }) => domain === 'gone.example.com')).toBe(false)
    expect(kept.find(({ domain }) => domain === 'brand-new.example.com')?.node).toMatchObject({
      address4: '10.64.200.7',
    })
  })
})

async function readAnew(): Promise<StateAnswer> {
  const { context } = server
  const fresh = createDesiredState(context)
  return JSON.parse((await fresh.read(1, {})).join(''))
}

let filled = 0

/** Rows as the server writes them, many at a time. @returns one of the services */
async function fill(services: number, domains: number): Promise<{ nodeId: number; serviceId: number }> {
  const round = ++filled
  const node = (await client.post('/api/nodes', { name: `many ${round}` })).json()
  const { db, secrets } = server.context
  const now = new Date().toISOString()
  const later = new Date(Date.now() + 300 * 86_400_000).toISOString()
  const times = { created_at: now, updated_at: now }
  const lists = { allowed_ips: '["203.0.113.0/24"]', blocked_ips: '[]' }
  let serviceId = 0
  await writeRows(db, async (tx, revision) => {
    for (let i = 0; i < domains; i++) {
      const { id } = await tx
        .insertInto('domains')
        .values({ domain: `d${i}.r${round}.example.com`, ssl: null, skip_validation: 1, revision, ...times })
        .returning('id')
        .executeTakeFirstOrThrow()
      const certificate = {
        status: 'valid',
        issuer: 'x',
        chain: `${'x'.repeat(900)}${id}`,
        private_key: secrets.seal('k'.repeat(240), PLACES.certificate(id)),
      } as const
      await tx
        .insertInto('certificates')
        .values({
          domain_id: id,
          ...certificate,
          not_before: now,
          not_after: later,
          error: null,
          revision,
          ...times,
        })
        .execute()
      for (let j = 0; j < services / domains; j++) {
        const row = await tx
          .insertInto('services')
          .values({
            ...{
              type: 'http',
              node_id: node.id,
              name: `s${j}`,
              name_folded: `s${j}`,
              domain_id: id,
              path: `/p${j}`,
            },
            ...{ backend_proto: 'http', backend_host: null, backend_port: 80, enabled: 1, system: 0 },
            ...{ ...lists, revision, ...times },
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        serviceId = row.id
      }
    }
  })
  return { nodeId: node.id, serviceId }
}
