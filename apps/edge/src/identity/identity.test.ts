import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { edgeLeaf, makeEdgesAuthority } from '@postern/testkit/authority/edges-authority'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Identity, openIdentity, removeIdentity, writeIdentity } from './identity.ts'

const known = {
  edgeId: 2,
  tunnelNetwork4: '10.64.0.0/16',
  tunnelNetwork6: 'fd01:2:3:4::/64',
  publicHost: 'console.example.com',
  servers: [{ name: 'Server', url: 'https://console.example.com:8443' }],
}
let identity: Identity
let other: Identity
let directory: string

beforeAll(async () => {
  const authority = await makeEdgesAuthority()
  const make = async () => ({ ...(await authority.issue(edgeLeaf(2))), root: authority.root, known })
  identity = await make()
  other = await make()
})
beforeEach(() => {
  directory = `${tempDir()}/identity`
})

test('what is written is read again, and is for root alone', async () => {
  await writeIdentity(directory, identity)
  expect((await openIdentity(directory))?.current()).toEqual(identity)
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(directory)) expect(statSync(`${directory}/${name}`).mode & 0o777).toBe(0o600)
})

test('the edge beside a server has none', async () => {
  expect(await openIdentity(directory)).toBeUndefined()
  expect(await removeIdentity(directory)).toBe(false)
})

test.each(['key.pem', 'certificate.pem', 'root.pem', 'known.json'])(
  'without %s, or with damage in it, the edge does not take itself for the one beside the server',
  async (name) => {
    await writeIdentity(directory, identity)
    writeFileSync(`${directory}/${name}`, 'damaged')
    await expect(openIdentity(directory)).rejects.toMatchObject({ code: 'identity' })
    rmSync(`${directory}/${name}`)
    await expect(openIdentity(directory)).rejects.toThrow('postern-edge leave')
  },
)

test('a certificate of another key is not kept', async () => {
  await writeIdentity(directory, identity)
  const store = await openIdentity(directory)
  await expect(store?.keepCertificate(other.certificate)).rejects.toMatchObject({ code: 'identity' })
  expect((await openIdentity(directory))?.current()).toEqual(identity)
})

test('what is left of a join that was interrupted is no identity, and does not hinder the next', async () => {
  await writeIdentity(`${directory}.next`, other)
  chmodSync(`${directory}.next`, 0o755)
  expect(await openIdentity(directory)).toBeUndefined()
  await writeIdentity(directory, identity)
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect((await openIdentity(directory))?.current()).toEqual(identity)
  expect(await removeIdentity(directory)).toBe(true)
  expect(existsSync(directory)).toBe(false)
})
