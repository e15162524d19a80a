import { randomBytes } from 'node:crypto'
import type { StateAnswer } from '@postern/contract/edge/desired-state'
import { rowsOf } from '@postern/contract/sections'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import fc from 'fast-check'
import type { Transaction } from 'kysely'
import { expect, test } from 'vitest'
import { type HeldState, readAnswer } from '../../../../edge/src/state/held-state.ts'
import { removeStated, updateStated } from '../../changes/change.ts'
import type { Database, StatedTables, StatedUpdate } from '../../db/schema.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { createDesiredState } from './desired-state.ts'

const server = shared(startTestServer)

type Values = { [T in keyof StatedTables]: { [C in keyof StatedUpdate<T>]-?: readonly StatedUpdate<T>[C][] } }

const at = '2026-11-22T00:00:00.000Z'
const anyTime = [at, '2026-11-23T00:00:00.000Z'] as const
const flags = [0, 1] as const
const keys = ['A', 'B', 'C', 'D'].map((letter) => `${letter.repeat(42)}A=`)

/** Some values for every column that can change; without one of the columns this does not compile. */
function valuesOf(): Values {
  const sealed = ['x', 'y']
  const nodes: Values['nodes'] = {
    name: ['a', 'b'],
    name_folded: ['a', 'b'],
    address: ['10.64.9.1', '10.64.9.2', '10.64.9.3', '10.64.9.4'],
    dns: [null, '9.9.9.9'],
    keepalive: [0, 25],
    is_gateway: flags,
    gateway_networks: ['[]', '[{"interface":"eth0","subnet":"192.168.7.0/24"}]'],
    allow_internet: flags,
    advanced: flags,
    agent_may_publish: flags,
    agent_domains: ['[]', '["*.example.com"]'],
    agent_max_services: [0, 200],
    agent_max_domains: [0, 50],
    agent_max_ports: [0, 20],
    agent_max_entries: [0, 5000],
    enabled: flags,
    public_key: [null, ...keys],
    private_key: [null, ...sealed],
    key_token_id: [null, 1],
    preshared_key: [null, ...sealed],
    updated_at: anyTime,
  }
  return {
    nodes,
    domains: {
      domain: ['renamed.example.com', 'other.example.com', 'third.example.com'],
      ssl: [null, 'self-signed', 'certbot'],
      skip_validation: flags,
      authentication: flags,
      edges: [null, '[1]', '[2,3]', '[3]'],
      updated_at: anyTime,
    },
    certificates: {
      status: ['valid', 'failed'],
      kind: ['self-signed', 'certbot'],
      issuer: [null, 'x'],
      chain: [null, 'one', 'two'],
      private_key: [null, ...sealed],
      not_before: [null, at],
      not_after: [null, at],
      error: [null, 'x'],
      updated_at: anyTime,
    },
    challenges: { updated_at: anyTime },
    services: {
      node_id: [1, 2, 3],
      name: ['a', 'b'],
      name_folded: ['a', 'b'],
      domain_id: [null, 1, 2, 3],
      path: ['/a', '/b', '/c'],
      backend_proto: ['http', 'https'],
      proto: ['tcp', 'udp'],
      port: [32_660, 32_661, 32_662],
      ssl: flags,
      backend_host: [null, 'db.lan', '192.168.7.9'],
      backend_port: [80, 8080],
      allowed_ips: ['[]', '["203.0.113.0/24"]'],
      blocked_ips: ['[]', '["198.51.100.1"]'],
      require_auth: flags,
      strip_path: flags,
      skip_auth_routes: [null, '/a', '^/b'],
      ends_at: [null, at],
      enabled: flags,
      updated_at: anyTime,
    },
  }
}

type Step = {
  table: keyof StatedTables
  kind: 'insert' | 'update' | 'delete'
  column: number
  value: number
  row: number
}

const step: fc.Arbitrary<Step> = fc.record({
  table: fc.constantFrom('nodes', 'domains', 'certificates', 'challenges', 'services'),
  kind: fc.constantFrom('insert', 'update', 'update', 'update', 'delete'),
  column: fc.nat(100),
  value: fc.nat(100),
  row: fc.nat(100),
})

test('after any changes of any columns, the state kept up to date, here and on an edge, equals the one made from scratch', async () => {
  const { context } = server
  const { db } = context
  const values = valuesOf()
  // Any row may get any key here, and sealed ones are bound to theirs.
  const secrets: Pick<Secrets, 'open'> = { open: (text) => text }
  const make = () => createDesiredState({ ...context, secrets })
  const kept = make()
  const read = async (state: ReturnType<typeof make>, edge: number, known = {}): Promise<StateAnswer> =>
    JSON.parse((await state.read(edge, known)).join(''))
  const edges = [1, await addEdge(2, 1), await addEdge(3, 0)]
  const held = new Map<number, HeldState>()
  let done = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const each of steps) {
        // A change that a key or a unique index forbids is rolled back, like that of a request.
        await writeRows(db, (tx, revision) => take(tx, revision, each, values)).then(
          () => done++,
          () => undefined,
        )
      }
      for (const edge of edges) {
        const whole = await read(make(), edge)
        expect(await read(kept, edge)).toEqual(whole)
        const known: Record<string, string> = held.get(edge)?.hashes ?? {}
        const { state } = readAnswer(await read(kept, edge, known), held.get(edge), known)
        held.set(edge, state)
        expect(sorted(state)).toEqual(sorted(readAnswer(whole, undefined, {}).state))
      }
    }),
    { numRuns: 250 },
  )
  expect(done).toBeGreaterThan(250)
}, 120_000)

/** @returns its id */
async function addEdge(number: number, is_console: 0 | 1): Promise<number> {
  const { privateKey: private_key, publicKey: public_key } = createWireGuardKeys(randomBytes(32))
  const row = { name: `edge ${number}`, token_hash: `${number}`, created_at: '', number, is_console }
  const { id } = await server.context.db
    .insertInto('edges')
    .values({ ...row, private_key, public_key })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function take(tx: Transaction<Database>, revision: number, each: Step, values: Values): Promise<void> {
  const { table, kind } = each
  if (kind === 'insert') return await insert(tx, revision, each, values)
  const ids = (await tx.selectFrom(table).select('id').orderBy('id').execute()).map(({ id }) => id)
  const id = ids[each.row % ids.length]
  if (id === undefined) return
  if (kind === 'delete' && table === 'domains')
    await tx.deleteFrom('domain_members').where('domain_id', '=', id).execute()
  if (kind === 'delete') return void (await removeStated(tx, table, { id }))
  const columns = Object.entries(values[table])
  const [column = '', choices = []] = columns[each.column % columns.length] ?? []
  await updateStated(tx, table, id, revision, { [column]: choices[each.value % choices.length] })
}

/** The order of sections does not matter. */
function sorted({ peers, sections, certificates, ...rest }: HeldState) {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  return {
    ...rest,
    peers: [...peers].sort((a, b) => a.nodeId - b.nodeId),
    routes: rowsOf(sections.routes).sort(byId),
    ports: rowsOf(sections.ports).sort(byId),
    challenges: rowsOf(sections.challenges).sort(byId),
    signIns: rowsOf(sections.signIns).sort(byId),
    certificates: [...certificates].sort(byId),
  }
}

let count = 0

async function insert(
  tx: Transaction<Database>,
  revision: number,
  { table, row }: Step,
  values: Values,
): Promise<void> {
  const common = { revision, created_at: at, updated_at: at }
  const n = ++count
  if (table === 'nodes')
    await tx
      .insertInto('nodes')
      .values({
        ...{ name: 'n', name_folded: 'n', address: `10.64.${n >> 8}.${n & 255}`, keepalive: 25, is_local: 0 },
        ...{ is_gateway: 0, gateway_networks: '[]', allow_internet: 0, advanced: 0, enabled: 1, ...common },
      })
      .execute()
  const domain = `d${n}.example.com`
  if (table === 'domains') {
    const { id } = await tx
      .insertInto('domains')
      .values({ domain, skip_validation: 1, ...common })
      .returning('id')
      .executeTakeFirstOrThrow()
    const entries = Array.from({ length: row % 3 }, (_, i) => ({ domain_id: id, email: `${i}@example.com` }))
    if (entries.length > 0) await tx.insertInto('domain_members').values(entries).execute()
  }
  const status = 'valid'
  if (table === 'certificates')
    await tx
      .insertInto('certificates')
      .values({
        domain_id: 1 + (row % 9),
        status,
        chain: `chain ${n}`,
        private_key: values.certificates.private_key[1],
        ...common,
      })
      .execute()
  if (table === 'challenges')
    await tx
      .insertInto('challenges')
      .values({ domain_id: 1 + (row % 9), token: `t${n}`, thumbprint: 'x', ...common })
      .execute()
  if (table === 'services')
    await tx
      .insertInto('services')
      .values({
        ...{
          type: n % 2 === 0 ? 'http' : 'tcp',
          node_id: 1 + (row % 9),
          name: 's',
          name_folded: 's',
          domain_id: null,
          path: `/p${n}`,
          backend_port: 80,
        },
        ...{
          backend_proto: 'http',
          proto: 'tcp',
          port: 10_000 + n,
          ssl: 0,
          allowed_ips: '[]',
          blocked_ips: '[]',
          enabled: 1,
          system: 0,
          ...common,
        },
      })
      .execute()
}
