import {
  type EdgesAuthority,
  edgeLeaf,
  makeEdgesAuthority,
  type Proof,
  SERVER_LEAF,
} from '@postern/testkit/authority/edges-authority'
import { type FakeServer, type FarDoor, startFarFakeServer } from '@postern/testkit/fakes/fake-server'
import { findFreePort } from '@postern/testkit/port'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { makeState } from '../../test/factories.ts'
import { createServerLink, type ServerLink } from './server-link.ts'
import { createTlsWay } from './tls-way.ts'

let authority: EdgesAuthority
let server: Proof
let edge: Proof
let said: string
let connections: number
const open: { close(): Promise<void> }[] = []

beforeAll(async () => {
  authority = await makeEdgesAuthority()
  server = await authority.issue(SERVER_LEAF)
  edge = await authority.issue(edgeLeaf(2))
})
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function serve(changes: Partial<FarDoor> = {}, port = 0): Promise<FakeServer & { port: number }> {
  const state = makeState({ revision: 7 })
  const fake = await startFarFakeServer({ ...server, root: authority.root, ...changes }, state, port)
  open.push(fake)
  return fake
}

function link(ports: number[], proof = edge, root = authority.root): ServerLink {
  said = ''
  connections = 0
  const write = (line: string) => {
    said += line
  }
  const known = {
    edgeId: 2,
    tunnelNetwork4: '10.64.0.0/16',
    tunnelNetwork6: 'fd01:2:3:4::/64',
    publicHost: 'console.example.com',
    servers: ports.map((port) => ({ name: 'Server', url: `https://127.0.0.1:${port}` })),
  }
  const made = createServerLink({
    way: createTlsWay({ current: () => ({ ...proof, root, known }) }),
    version: '0',
    epoch: 'e',
    random: Math.random,
    log: pino({ level: 'error' }, { write }),
    onHint: () => undefined,
    onReconnect: () => connections++,
  })
  open.unshift(made)
  made.start()
  return made
}

test('the server it joined gets its hello, and gives the state over the same way', async () => {
  const fake = await serve()
  const made = link([fake.port])
  await until('the hello', () => fake.messages.some(({ type }) => type === 'hello'))
  expect(await made.fetchState({})).toMatchObject({ revision: 7 })
  expect(said).toBe('')
})

test('without a connection no state is asked for', async () => {
  const made = link([await findFreePort()])
  await expect(made.fetchState({})).rejects.toMatchObject({ code: 'server' })
})

const strangers: [string, string, () => Promise<Partial<FarDoor>>][] = [
  [
    'a server of another authority',
    'not the one that this edge joined',
    async () => {
      const other = await makeEdgesAuthority()
      return await other.issue(SERVER_LEAF)
    },
  ],
  ['an edge in place of the server', "not a server's", async () => await authority.issue(edgeLeaf(3))],
  [
    "an edge that has the server's name",
    "not a server's",
    async () => await authority.issue({ ...SERVER_LEAF, use: 'clientAuth' }),
  ],
  [
    'a server of another name',
    "not a server's",
    async () => await authority.issue({ use: 'serverAuth', names: 'DNS:console.example.com,IP:127.0.0.1' }),
  ],
  [
    'a server whose certificate has expired',
    'has expired',
    async () => await authority.issue({ ...SERVER_LEAF, days: -1 }),
  ],
  ['TLS 1.2', 'does not speak TLS 1.3', async () => ({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })],
]
test.each(strangers)('%s is told nothing, which is logged once', async (_, words, changes) => {
  const fake = await serve(await changes())
  const made = link([fake.port])
  await until('the words', () => said.includes(words))
  await expect(made.fetchState({})).rejects.toThrow()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(said.trim().split('\n')).toHaveLength(1)
  expect([fake.messages, fake.fetches, connections]).toEqual([[], [], 0])
})

test('the authorities of this machine count for nothing', async () => {
  const fake = await serve()
  const other = await makeEdgesAuthority()
  link([fake.port], edge, other.root)
  await until('the words', () => said.includes('not the one that this edge joined'))
  expect(fake.messages).toEqual([])
})

test('an edge whose certificate has expired says so, and what to do', async () => {
  const fake = await serve()
  link([fake.port], await authority.issue({ ...edgeLeaf(2), days: -1 }))
  await until('the words', () => said.includes('the certificate of this edge has expired'))
  expect(said).toContain('join again')
  expect(fake.messages).toEqual([])
})

test('a server that says why it does not speak with the edge is not asked again at once', async () => {
  const fake = await serve()
  link([fake.port])
  await until('the connection', () => fake.isConnected())
  fake.refuse('This edge has version 9')
  await until('the words', () => said.includes('does not speak to the server: This edge has version 9'))
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(connections).toBe(1)
  await until('the next try', () => connections === 2)
  fake.refuse('This edge has version 9')
  await until('the try after it', () => connections === 3)
  expect(said.trim().split('\n')).toHaveLength(1)
})

test('a server of another authority does not speak to the edge either', async () => {
  const other = await makeEdgesAuthority()
  const fake = await serve({ root: other.root })
  const made = link([fake.port])
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await expect(made.fetchState({})).rejects.toThrow()
  expect([fake.messages, connections]).toEqual([[], 0])
})

test('when a server does not answer, the next one is asked', async () => {
  const away = await findFreePort()
  const fake = await serve()
  link([away, fake.port])
  await until('the hello', () => fake.messages.some(({ type }) => type === 'hello'))
})

test('a server that returns is found within five seconds', async () => {
  const first = await serve()
  const made = link([first.port])
  await until('the hello', () => connections === 1)
  await first.close()
  open.splice(open.indexOf(first), 1)
  await until('the end', () => !made.send({ type: 'peers', peers: [] }))
  // Long enough for the longest waits.
  await new Promise((resolve) => setTimeout(resolve, 6000))
  const second = await serve({}, first.port)
  const began = Date.now()
  await until('the next hello', () => second.messages.some(({ type }) => type === 'hello'))
  // Five times what is promised, since tests share their machine.
  expect(Date.now() - began).toBeLessThan(25_000)
})
