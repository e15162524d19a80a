import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import type { Node } from '@postern/contract/nodes'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { costMs } from '@postern/testkit/time'
import { beforeAll, expect, test } from 'vitest'

const figures = (nodeId: number, rx: number): PeerFigures => ({
  nodeId,
  latestHandshake: Date.now() - rx,
  rx,
  tx: 10_000_000 - rx,
  clientIp: '198.51.100.7',
  reachable: true,
})

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  for (const name of ['Éclair', 'zebra', 'Apfel', "o'hara %_"]) await client.post('/api/nodes', { name })
  await client.post('/api/nodes', {
    name: 'gate',
    isGateway: true,
    gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
  })
  server.context.live.update(1, [figures(2, 300), figures(3, 100), figures(4, 200)])
})

const names = async (query: string) => {
  const body = (await client.get(`/api/nodes?${query}`)).json()
  return (Array.isArray(body) ? body : body.data).map((node: Node) => node.name)
}

test('with a limit a page, without one all rows', async () => {
  expect((await client.get('/api/nodes')).json()).toHaveLength(6)
  const page = (await client.get('/api/nodes?limit=4&page=2')).json()
  expect(page).toMatchObject({ page: 2, limit: 4, total: 6 })
  expect(page.data.map((node: Node) => node.id)).toEqual([5, 6])
  expect((await client.get('/api/nodes?limit=4&page=9')).json()).toMatchObject({ data: [], total: 6 })
})

test('the type leaves out the others', async () => {
  expect(await names('type=gateways')).toEqual(['gate'])
  expect(await names('type=nodes')).toEqual(['Éclair', 'zebra', 'Apfel', "o'hara %_"])
})

test('the search covers name and address, ignores case, and has no wildcards', async () => {
  expect(await names('search=éCL')).toEqual(['Éclair'])
  expect(await names('search=10.64.0.3')).toEqual(['zebra'])
  expect(await names(`search=${encodeURIComponent("o'hara")}`)).toEqual(["o'hara %_"])
  expect(await names('search=%25')).toEqual(["o'hara %_"])
  expect(await names('search=_')).toEqual(["o'hara %_"])
  expect(await names(`search=${encodeURIComponent("' OR 1=1 --")}`)).toEqual([])
  expect((await client.get('/api/nodes?limit=10&search=a')).json().total).toBe(6)
})

test('rows are ordered as requested, by figures too', async () => {
  expect(await names('type=nodes&orderBy=name,asc')).toEqual(['Apfel', "o'hara %_", 'zebra', 'Éclair'])
  expect((await names('orderBy=created_at,desc')).at(-1)).toBe('Local')
  expect(await names('limit=3&orderBy=transferRx,desc')).toEqual(['Éclair', 'Apfel', 'zebra'])
  expect(await names('limit=3&orderBy=transferTx,desc')).toEqual(['zebra', 'Apfel', 'Éclair'])
  expect(await names('limit=3&orderBy=latestHandshakeTimestamp,desc')).toEqual(['zebra', 'Apfel', 'Éclair'])
  expect((await names('orderBy=transferRx,desc')).slice(0, 3)).toEqual(['Éclair', 'Apfel', 'zebra'])
  expect(await names('limit=2&page=2&orderBy=transferRx,desc')).toEqual(['zebra', 'gate'])
})

test('a page of 10,000 nodes comes in a moment, in every order', async () => {
  const big = await startTestServer()
  const user = await big.signIn()
  const now = new Date().toISOString()
  const row = { dns: null, keepalive: 25, gateway_networks: '[]', created_at: now, updated_at: now } as const
  const flags = { is_gateway: 0, allow_internet: 0, advanced: 0, is_local: 0, enabled: 1 } as const
  await writeRows(big.context.db, async (tx, revision) => {
    for (let i = 0; i < 10_000; i++) {
      const address = `10.64.${100 + Math.floor(i / 100)}.${2 + (i % 100)}`
      const name = `node ${i}`
      await tx
        .insertInto('nodes')
        .values({ ...row, ...flags, name, name_folded: name, address, revision })
        .execute()
    }
  })
  big.context.live.update(
    1,
    Array.from({ length: 10_000 }, (_, i) => figures(i + 2, i)),
  )
  for (const query of ['', '&search=node%2099', '&orderBy=name,desc', '&orderBy=transferRx,desc&page=500']) {
    const url = `/api/nodes?limit=10${query}`
    await user.get(url)
    const cost = await costMs(async () => expect((await user.get(url)).json().data).toHaveLength(10))
    expect([query, cost < 100]).toEqual([query, true])
  }
  await big.close()
})
