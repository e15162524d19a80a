import type { Edge } from '@postern/contract/edge/edge'
import type { EdgeFormInput } from '@postern/contract/edge/join'
import { LIMITS } from '@postern/contract/limits'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, it, test } from 'vitest'
import { updateStated } from '../../changes/change.ts'
import { sealAnew } from '../../core/secrets/sealed-rows.ts'

const server = fresh(() => startTestServer({ settings: { POSTERN_CONTROL_LISTEN: '0.0.0.0:8443' } }))
const client = fresh(() => server.signIn())

const list = async (): Promise<Edge[]> => (await client.get('/api/edges')).json()
const add = (form: EdgeFormInput) => client.post('/api/edges', form)

it('adds edges with the lowest free number, a key of their own and a token for one machine', async () => {
  const first = (await add({ name: 'Frankfurt', place: 'Rack 7', host: 'FRA.example.com' })).json()
  expect(first.edge).toMatchObject({
    ...{ name: 'Frankfurt', number: 2, place: 'Rack 7', host: 'fra.example.com', servesConsole: false },
    ...{ isDrained: false, isJoined: false, connected: false, certificateUntil: null },
    joinableUntil: first.join.expiresAt,
  })
  expect(first.join.token).toMatch(/^pte_[\w-]{43}$/)
  expect(first.join.address).toMatch(/^https:\/\/203\.0\.113\.1#sha256:[0-9a-f]{64}$/)
  expect(Date.parse(first.join.expiresAt) - Date.now()).toBeCloseTo(3_600_000, -5)
  expect((await add({ name: 'Vienna' })).json().edge.number).toBe(3)
  await client.delete(`/api/edges/${first.edge.id}`)
  const again = (await add({ name: 'Berlin' })).json().edge
  expect(again.number).toBe(2)
  expect(again.id).not.toBe(first.edge.id)
  const rows = await server.context.db.selectFrom('edges').selectAll().orderBy('number').execute()
  expect(rows.map((row) => [row.number, row.private_key === null])).toEqual([
    ...[[1, true]],
    ...[
      [2, false],
      [3, false],
    ],
  ])
  expect(new Set(rows.map((row) => row.public_key)).size).toBe(3)
})

it('shows the edge beside the server first, which serves the console and stays', async () => {
  await add({ name: 'Another' })
  const [founding] = await list()
  expect(founding).toMatchObject({ name: 'Local', number: 1, servesConsole: true, isJoined: true })
  const url = `/api/edges/${founding?.id}`
  expect((await client.delete(url)).json()).toMatchObject({ code: 'system' })
  expect((await client.post(`${url}/join-token`)).json()).toMatchObject({ code: 'system' })
  const refused = await client.patch(url, { servesConsole: false })
  expect([refused.statusCode, refused.json().errors[0].field]).toEqual([422, 'servesConsole'])
  expect((await client.patch(url, { name: 'Home', host: '198.51.100.7' })).json()).toMatchObject({
    name: 'Home',
    host: '198.51.100.7',
  })
  // Its token stays the same whatever it is called.
  await server.restart()
  expect((await list()).filter(({ number }) => number === 1)).toHaveLength(1)
})

it('refuses a name that another edge has, in any case, and what is no host', async () => {
  await add({ name: 'Frankfurt' })
  const taken = await add({ name: 'FRANKFURT' })
  expect([taken.statusCode, taken.json().errors]).toEqual([
    409,
    [{ field: 'name', message: 'Another edge has this name' }],
  ])
  const wrong = await add({ name: ' ', host: 'a b' })
  expect(wrong.json().errors.map(({ field }: { field: string }) => field)).toEqual(['name', 'host'])
})

it('refuses a form that is older than the edge', async () => {
  const { edge } = (await add({ name: 'Frankfurt' })).json()
  const url = `/api/edges/${edge.id}`
  await client.patch(url, { place: 'Rack 7', updated_at: edge.updated_at })
  const stale = await client.patch(url, { place: 'Rack 8', updated_at: edge.updated_at })
  expect([stale.statusCode, stale.json().code]).toEqual([409, 'stale'])
})

it('takes no more edges than each node can call', async () => {
  for (let count = 1; count < LIMITS.edges; count++)
    expect((await add({ name: `edge ${count}` })).statusCode).toBe(201)
  const refused = await add({ name: 'one more' })
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    'There are 16 edges, which is the limit. Remove one first.',
  ])
})

it('refuses an edge while a node has an address of edges, and names it', async () => {
  const node = await client.createNode({ name: 'attic' })
  await writeRows(server.context.db, (tx, revision) =>
    updateStated(tx, 'nodes', node.id, revision, { address: '10.64.255.9' }),
  )
  const refused = await add({ name: 'Frankfurt' })
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    'Edges need 10.64.255.0/24 in the tunnel. Give another address to “attic” first.',
  ])
})

it('needs a port for edges, and says which setting opens one', async () => {
  const { id } = (await add({ name: 'Frankfurt' })).json().edge
  await server.restart({ settings: {} })
  client.token = (await server.signIn()).token
  for (const answer of [await add({ name: 'Vienna' }), await client.post(`/api/edges/${id}/join-token`)])
    expect([answer.statusCode, answer.json().message]).toEqual([
      409,
      expect.stringContaining('set POSTERN_CONTROL_LISTEN'),
    ])
})

it('drains and undrains, which can be taken back', async () => {
  const { id } = (await add({ name: 'Frankfurt' })).json().edge
  expect((await client.patch(`/api/edges/${id}/drain`)).json().isDrained).toBe(true)
  await undoLast()
  expect((await list()).find((edge) => edge.id === id)?.isDrained).toBe(false)
  await client.patch(`/api/edges/${id}`, { name: 'Wien', host: 'wien.example.com' })
  await undoLast()
  expect((await list()).find((edge) => edge.id === id)).toMatchObject({ name: 'Frankfurt', host: null })
})

it('takes back neither a removed edge nor who serves the console', async () => {
  const { id } = (await add({ name: 'Frankfurt' })).json().edge
  await client.patch(`/api/edges/${id}`, { servesConsole: true })
  expect((await undoLast()).json().message).toContain('who may come in')
  await client.delete(`/api/edges/${id}`)
  expect((await undoLast()).json().message).toContain('Add a new edge')
})

async function undoLast() {
  const [{ revision }] = (await client.get('/api/history?limit=1')).json().data
  return await client.post(`/api/history/${revision}/undo`)
}

test('the password is asked once more, an hour after the sign-in', async () => {
  server.now = Date.now() + 3_600_000
  const { id } = (await list())[0] ?? { id: 0 }
  for (const answer of [
    await add({ name: 'Frankfurt' }),
    await client.patch(`/api/edges/${id}`, { place: 'x' }),
    await client.post(`/api/edges/${id}/join-token`),
  ])
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'confirm'])
  expect((await client.patch(`/api/edges/${id}/drain`)).statusCode).toBe(200)
})

test('all keys of edges can be sealed anew', async () => {
  await add({ name: 'Frankfurt' })
  const places: string[] = []
  await server.context.db.transaction().execute((tx) =>
    sealAnew(tx, (sealed, place) => {
      places.push(place)
      return sealed
    }),
  )
  expect(places).toContain('edges 2 private_key')
})
