import type { Node } from '@postern/contract/nodes'
import { findIp } from '@postern/net/ip'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { address6Of, createAddressBook, createNetwork6, findAddressProblem } from './addresses.ts'

const NETWORK = '10.64.0.0/16'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

const create = async () => (await client.post('/api/nodes', { name: 'n' })).json()

/** Nodes with these addresses, and no others beside the local one. */
function take(addresses: readonly string[]): Promise<void> {
  return writeRows(server.context.db, async (tx, revision) => {
    const local = await tx.selectFrom('nodes').selectAll().where('is_local', '=', 1).executeTakeFirstOrThrow()
    const { id: _id, ...row } = { ...local, is_local: 0 as const, revision }
    await tx.deleteFrom('nodes').where('is_local', '=', 0).execute()
    for (let start = 0; start < addresses.length; start += 500)
      await tx
        .insertInto('nodes')
        .values(addresses.slice(start, start + 500).map((address) => ({ ...row, address })))
        .execute()
  })
}

test('a freed address is used again, whether its node was deleted or has moved', async () => {
  const nodes = [await create(), await create(), await create()]
  expect(nodes.map(({ address }) => address)).toEqual(['10.64.0.2', '10.64.0.3', '10.64.0.4'])
  await client.delete(`/api/nodes/${nodes[1].id}`)
  expect((await create()).address).toBe('10.64.0.3')
  await client.patch(`/api/nodes/${nodes[0].id}`, { address: '10.64.9.9' })
  expect((await create()).address).toBe('10.64.0.2')
  expect((await create()).address).toBe('10.64.0.5')
})

test('the whole network can be used, except reserved addresses and those of edges, and then it is full', async () => {
  const all = Array.from({ length: 255 }, (_, block) => wholeBlock(block)).flat()
  await take(all.filter((address) => address !== '10.64.254.254'))
  const last = await create()
  expect(last.address).toBe('10.64.254.254')
  const refused = await client.post('/api/nodes', { name: 'n' })
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    'The tunnel network has no free address left',
  ])
  await client.delete(`/api/nodes/${last.id - 1000}`)
  expect((await create()).address).toMatch(/^10\.64\.25\d\./)
})

test('nobody gives a node an address of edges, but one that has it from before keeps it', async () => {
  const refused = await client.post('/api/nodes', { name: 'n', address: '10.64.255.7' })
  expect([refused.statusCode, refused.json().errors]).toEqual([
    422,
    [{ field: 'address', message: 'must not be in 10.64.255.0/24, which edges have' }],
  ])
  await take(['10.64.255.7'])
  const [{ id }] = (await client.get('/api/nodes'))
    .json()
    .filter((node: Node) => node.address.includes('.255.'))
  expect((await client.patch(`/api/nodes/${id}`, { name: 'renamed' })).json().address).toBe('10.64.255.7')
})

test('whatever nodes come and go, the next one gets the lowest free address', async () => {
  // Whole /24s at a time, so that the book has something to remember.
  const blocks = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { maxLength: 5 })
  const gaps = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 2, max: 254 })), {
    maxLength: 4,
  })
  const book = createAddressBook(NETWORK)
  let before: string[] = []
  await fc.assert(
    fc.asyncProperty(blocks, gaps, async (full, free) => {
      const free4 = new Set(free.map(([c, d]) => `10.64.${c}.${d}`))
      const taken = full.flatMap(wholeBlock).filter((address) => !free4.has(address))
      await take(taken)
      for (const address of before) if (!taken.includes(address)) book.release(address)
      before = taken
      const lowest = [0, 1, 2, 3, 4, 5].flatMap(wholeBlock).find((address) => !taken.includes(address))
      const given = await book.next(server.context.db)
      expect([given, findAddressProblem(NETWORK, given)]).toEqual([lowest, undefined])
    }),
    { numRuns: 20 },
  )
})

function wholeBlock(block: number): string[] {
  return Array.from({ length: 253 }, (_, index) => `10.64.${block}.${index + 2}`)
}

test('the IPv6 address has the IPv4 one in its last bits', () => {
  const network6 = createNetwork6(Buffer.from('0102030405', 'hex'))
  expect(network6).toBe('fd01:0203:0405::/64')
  expect(address6Of(network6, '10.64.0.2')).toBe('fd01:203:405::a40:2')
  expect((findIp(address6Of(network6, '10.64.1.9'))?.value ?? 0n) & 0xffffffffn).toBe(
    findIp('10.64.1.9')?.value,
  )
})
