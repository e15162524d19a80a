import { X509Certificate } from 'node:crypto'
import { type EdgesAuthority, edgeLeaf, makeEdgesAuthority } from '@postern/testkit/authority/edges-authority'
import { tempDir } from '@postern/testkit/temp-dir'
import { pino } from 'pino'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createCsr, createKey } from './csr.ts'
import { type IdentityStore, openIdentity, writeIdentity } from './identity.ts'
import { createMembership } from './membership.ts'

const DAY = 86_400_000
const servers = [{ name: 'Server', url: 'https://console.example.com:8443' }]
let authority: EdgesAuthority
let directory: string
let identity: IdentityStore
let asked: string[]
let answer: (csr: string) => Promise<unknown>

beforeAll(async () => {
  authority = await makeEdgesAuthority()
})
beforeEach(async () => {
  directory = `${tempDir()}/identity`
  asked = []
  const known = {
    edgeId: 2,
    tunnelNetwork4: '10.64.0.0/16',
    tunnelNetwork6: 'fd01:2:3:4::/64',
    publicHost: 'console.example.com',
    servers,
  }
  await writeIdentity(directory, { ...(await authority.issue(edgeLeaf(2))), root: authority.root, known })
  const opened = await openIdentity(directory)
  if (!opened) throw new Error('no identity')
  identity = opened
  answer = async (csr) => ({ certificate: await authority.sign(csr, edgeLeaf(2)), root: authority.root })
})

const after = (days: number) =>
  createMembership({
    identity,
    now: () => Date.now() + days * DAY,
    log: pino({ level: 'silent' }),
    fetchCertificate(csr) {
      asked.push(csr)
      return answer(csr)
    },
  })
const serial = () => new X509Certificate(identity.current().certificate).serialNumber

test('the certificate is renewed when two thirds of its life are over, with the same key', async () => {
  const before = serial()
  await after(1.3).look()
  expect(asked).toEqual([])
  await after(1.4).look()
  expect(asked).toHaveLength(1)
  expect(serial()).not.toBe(before)
  expect((await openIdentity(directory))?.current()).toEqual(identity.current())
})

test.each<[string, (csr: string) => Promise<unknown>]>([
  ['refuses', () => Promise.reject(new Error('403'))],
  ['answers with nothing', async () => ({})],
  [
    'signs another key',
    async () => ({
      certificate: await authority.sign(createCsr(createKey()), edgeLeaf(2)),
      root: authority.root,
    }),
  ],
  [
    'shows another authority',
    async (csr) => {
      const other = await makeEdgesAuthority()
      return { certificate: await other.sign(csr, edgeLeaf(2)), root: other.root }
    },
  ],
])('a server that %s leaves the edge with what it has', async (_, says) => {
  const before = identity.current()
  answer = says
  await after(1.9).look()
  expect(asked).toHaveLength(1)
  expect(identity.current()).toEqual(before)
})

test('where the servers are, and what the installation is called, is kept for the next start', async () => {
  const membership = after(0)
  const moved = [{ name: 'Server', url: 'https://198.51.100.7:8443' }]
  membership.note({ publicHost: 'new.example.com', servers: moved })
  await membership.close()
  expect((await openIdentity(directory))?.current().known).toMatchObject({
    publicHost: 'new.example.com',
    servers: moved,
  })
})

test('a server that names no servers leaves those that are known', async () => {
  const membership = after(0)
  membership.note({ publicHost: 'console.example.com', servers: [] })
  membership.note({ publicHost: 'console.example.com' })
  await membership.close()
  expect(identity.current().known.servers).toEqual(servers)
})
