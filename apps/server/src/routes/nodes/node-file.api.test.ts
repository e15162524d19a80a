import { createWireGuardKeys, publicKeyOf } from '@postern/host/wireguard-keys'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { INSTALLATION } from '../../changes/actor.ts'
import { registerNodeKey } from '../../core/nodes/keys.ts'
import { PLACES } from '../../core/secrets/secrets.ts'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

const newKey = () => createWireGuardKeys(server.context.randomBytes(32)).publicKey
const rowOf = (id: number) =>
  server.context.db.selectFrom('nodes').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

test('the file holds all that wg-quick needs, and is the same the next time', async () => {
  await client.post('/api/nodes', { name: 'Büro / 2. "Stock"\\', dns: '9.9.9.9, 2620:fe::fe', keepalive: 0 })
  const answer = await client.get('/api/nodes/2/download')
  expect(answer.headers['content-disposition']).toBe('attachment; filename="postern-Buro-2.-Stock.conf"')
  const privateKey = /^PrivateKey = (.*)$/m.exec(answer.body)?.[1] ?? ''
  const { tunnel, secrets } = server.context
  const row = await rowOf(2)
  expect(publicKeyOf(privateKey)).toBe(row.public_key)
  expect(answer.body.split('\n')).toEqual([
    '# Save as /etc/wireguard/postern.conf, readable by root only, and run: wg-quick up postern',
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `Address = 10.64.0.2/32, ${tunnel.address6('10.64.0.2')}/128`,
    'DNS = 9.9.9.9, 2620:fe::fe',
    'MTU = 1420',
    '',
    '[Peer]',
    `PublicKey = ${tunnel.publicKey}`,
    `PresharedKey = ${secrets.open(row.preshared_key ?? '', PLACES.node(2, 'preshared_key'))}`,
    'Endpoint = 203.0.113.1:51820',
    `AllowedIPs = 10.64.0.0/16, ${tunnel.network6}`,
    'PersistentKeepalive = 0',
    '',
  ])
  expect((await client.get('/api/nodes/2/download')).body).toBe(answer.body)
})

test('parallel downloads get the same file', async () => {
  await client.post('/api/nodes', { name: 'a' })
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.get('/api/nodes/2/download')))
  expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1)
  expect(answers[0]?.statusCode).toBe(200)
})

test('a name without any plain character still makes a file name', async () => {
  await client.post('/api/nodes', { name: '../../../“”' })
  const answer = await client.get('/api/nodes/2/download')
  expect(answer.headers['content-disposition']).toBe('attachment; filename="postern-node-2.conf"')
})

test('a file download does not make an open form stale', async () => {
  const { updated_at } = (await client.post('/api/nodes', { name: 'a' })).json()
  await client.get('/api/nodes/2/download')
  expect((await client.patch('/api/nodes/2', { name: 'b', updated_at })).statusCode).toBe(200)
})

/** Each node has the next one of all, but for this machine's own, the first. */
const tokenOf = (nodeId: number) => ({ nodeId, tokenId: nodeId - 1 })

test('an agent that registers its own key erases the stored one; then there is no file', async () => {
  await client.post('/api/nodes', { name: 'a' })
  await client.get('/api/nodes/2/download')
  expect((await rowOf(2)).private_key).not.toBeNull()
  const publicKey = newKey()
  await registerNodeKey(server.context, INSTALLATION, tokenOf(2), publicKey)
  expect(await rowOf(2)).toMatchObject({ public_key: publicKey, private_key: null })
  const answer = await client.get('/api/nodes/2/download')
  expect(answer.statusCode).toBe(409)
  expect(answer.json().code).toBe('agent_key')
  expect((await rowOf(2)).public_key).toBe(publicKey)
})

test("asked to replace an agent's key, the file has a new one, which the edge gets and which then stays", async () => {
  await client.post('/api/nodes', { name: 'a' })
  await registerNodeKey(server.context, INSTALLATION, tokenOf(2), newKey())
  const before = (await rowOf(2)).revision
  const answer = await client.get('/api/nodes/2/download?replace=true')
  expect(answer.statusCode).toBe(200)
  const row = await rowOf(2)
  expect(publicKeyOf(/^PrivateKey = (.*)$/m.exec(answer.body)?.[1] ?? '')).toBe(row.public_key)
  expect(row.revision).toBeGreaterThan(before)
  for (const query of ['', '?replace=true'])
    expect((await client.get(`/api/nodes/2/download${query}`)).body).toBe(answer.body)
  expect((await client.get('/api/nodes/2/download?replace=yes')).statusCode).toBe(422)
})

test('a key cannot belong to two ends of the tunnel', async () => {
  await client.post('/api/nodes', { name: 'a' })
  await client.post('/api/nodes', { name: 'b' })
  const publicKey = newKey()
  await registerNodeKey(server.context, INSTALLATION, tokenOf(2), publicKey)
  const again = registerNodeKey(server.context, INSTALLATION, tokenOf(2), publicKey)
  await expect(again).resolves.toBeUndefined()
  for (const taken of [publicKey, server.context.tunnel.publicKey])
    await expect(registerNodeKey(server.context, INSTALLATION, tokenOf(3), taken)).rejects.toThrow(
      'The key is taken',
    )
})

test('a node is marked as using the file, until its agent registers a key of its own', async () => {
  await client.post('/api/nodes', { name: 'site' })
  const usesFile = async () => (await client.get('/api/nodes/2')).json().usesFile
  expect(await usesFile()).toBe(false)
  await client.get('/api/nodes/2/download')
  expect(await usesFile()).toBe(true)
  await registerNodeKey(server.context, INSTALLATION, tokenOf(2), newKey())
  expect(await usesFile()).toBe(false)
})

/** As an edge that has joined; not to be confused with one that is only announced. */
async function addEdge(name: string, number: number, isJoined = true): Promise<number> {
  const now = new Date(server.context.clock()).toISOString()
  const { id } = await server.context.db
    .insertInto('edges')
    .values({
      ...{ name, number, host: `${name}.example.com`, tunnel_port: 4000 + number, public_key: newKey() },
      ...{ token_hash: `none ${name}`, created_at: now, updated_at: now, joined_at: isJoined ? now : null },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

test('the file has a peer for each edge, and the node says when there are more', async () => {
  await client.post('/api/nodes', { name: 'site' })
  const fileEdges = async () => (await client.get('/api/nodes/2')).json().fileEdges
  const download = async () => (await client.get('/api/nodes/2/download')).body
  expect(await fileEdges()).toBeNull()
  const before = await download()
  expect(await fileEdges()).toEqual({ known: 1, all: 1 })
  const far = await addEdge('far', 2)
  await addEdge('farther', 7)
  await addEdge('announced', 8, false)
  expect(await fileEdges()).toEqual({ known: 1, all: 3 })
  const { revision } = await rowOf(2)
  const after = await download()
  // The first peer, which older files have, stays as it was.
  expect(after.startsWith(before)).toBe(true)
  const { address6 } = server.context.tunnel
  const peers = after.slice(before.length).split('\n\n')
  expect(peers.map((peer) => peer.match(/(?<=^(Endpoint|AllowedIPs|PersistentKeepalive) = ).*/gm))).toEqual([
    ['far.example.com:4002', `10.64.255.2/32, ${address6('10.64.255.2')}/128`, '25'],
    ['farther.example.com:4007', `10.64.255.7/32, ${address6('10.64.255.7')}/128`, '25'],
  ])
  expect(new Set(after.match(/^PresharedKey = .*$/gm))).toHaveLength(1)
  expect([await fileEdges(), (await rowOf(2)).revision]).toEqual([{ known: 3, all: 3 }, revision])
  expect(await download()).toBe(after)
  // One that was removed is known to nobody; a later one under its number is another edge.
  await server.context.db.deleteFrom('edges').where('id', '=', far).execute()
  await addEdge('next', 2)
  expect(await fileEdges()).toEqual({ known: 2, all: 3 })
})

test('a file of before there were several edges has the one beside the server', async () => {
  await client.post('/api/nodes', { name: 'site' })
  await client.get('/api/nodes/2/download')
  await server.context.db.updateTable('nodes').set({ file_edges: null }).execute()
  await addEdge('far', 2)
  expect((await client.get('/api/nodes')).json()[1].fileEdges).toEqual({ known: 1, all: 2 })
  expect((await client.get('/api/nodes')).json()[0].fileEdges).toBeNull()
})
