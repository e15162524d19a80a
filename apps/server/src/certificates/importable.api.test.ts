import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { publishAs } from '@postern/testkit/agent-calls'
import { run } from '@postern/testkit/processes/exec'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { INSTALLATION_CERTIFICATE } from './store.ts'

const dir = tempDir()
const file = (name: string) => join(dir, name)
const server = fresh(() => startTestServer({ settings: { POSTERN_PUBLIC_HOST: 'edge.example.com' } }))
const client = fresh(() => server.signIn())
beforeEach(() => client.createDomain({ domain: 'app.example.org', skipValidation: true }))

async function importRoot(): Promise<string> {
  const answer = await server.call({ method: 'GET', url: '/install/root.crt' })
  expect(answer.statusCode).toBe(200)
  writeFileSync(file('root.crt'), answer.body)
  return answer.body
}

/** OpenSSL's verdict on a certificate, when only the imported root is trusted. */
async function verify(certificate: string, ...more: string[]): Promise<string> {
  writeFileSync(file('leaf.crt'), certificate)
  const trust = ['-no-CApath', '-no-CAstore', '-CAfile', file('root.crt'), '-purpose', 'sslserver']
  const { stdout, stderr } = await run(['openssl', 'verify', ...trust, ...more, file('leaf.crt')])
  return stdout + stderr
}

const chainOf = async (column: 'id' | 'domain_id', value: number) =>
  (
    await server.context.db
      .selectFrom('certificates')
      .select('chain')
      .where(column, '=', value)
      .executeTakeFirst()
  )?.chain ?? ''

test('a person who imports the root trusts the installation and its domains', async () => {
  await importRoot()
  const own = await chainOf('id', INSTALLATION_CERTIFICATE)
  expect(await verify(own, '-verify_hostname', 'edge.example.com')).toContain('OK')
  expect(await verify(own, '-verify_ip', '127.0.0.1')).toContain('OK')
  const [domain] = await server.context.db.selectFrom('domains').select('id').execute()
  expect(
    await verify(await chainOf('domain_id', domain?.id ?? 0), '-verify_hostname', 'app.example.org'),
  ).toContain('OK')
  expect(await verify((await server.context.authority.issue(['www.app.example.org'])).certificate)).toContain(
    'OK',
  )
})

test('an installation without a name is trusted by its address', async () => {
  const { serverDir } = server.context.config.paths
  await server.restart({ settings: {} }, () => rmSync(serverDir, { recursive: true }))
  await importRoot()
  expect(await verify(await chainOf('id', INSTALLATION_CERTIFICATE), '-verify_ip', '203.0.113.1')).toContain(
    'OK',
  )
  expect(await verify((await server.context.authority.issue(['google.com'])).certificate)).toContain(
    'permitted subtree',
  )
})

test.each([
  ['google.com'],
  ['example.org'],
  ['com'],
  ['edge.example.com.evil.net'],
  ['8.8.8.8'],
  ['2001:4860::8888'],
])('a certificate for %s, signed with the stolen key, is refused', async (name) => {
  await importRoot()
  const { certificate } = await server.context.authority.issue([name])
  // Even when the agents' unlimited root is sent along.
  writeFileSync(file('agents.crt'), server.context.authority.certificate)
  for (const more of [[], ['-untrusted', file('agents.crt')]])
    expect(await verify(certificate, ...more)).toContain('permitted subtree violation')
  expect(
    await verify((await server.context.authority.issue(['edge.example.com', name])).certificate),
  ).toContain('permitted subtree violation')
})

test('curl is not deceived by a server with a certificate from the stolen key', async () => {
  await importRoot()
  const visitFrom = async (name: string) => {
    const { certificate: cert, privateKey: key } = await server.context.authority.issue([name])
    const thief = createServer({ cert, key }, (_request, response) => response.end('hello')).listen(
      0,
      '127.0.0.1',
    )
    await once(thief, 'listening')
    // A TCP server has an address with a port.
    const { port } = thief.address() as AddressInfo
    const to = [
      '--cacert',
      file('root.crt'),
      '--resolve',
      `${name}:${port}:127.0.0.1`,
      `https://${name}:${port}/`,
    ]
    const answer = await run(['curl', '-s', '-m', '5', ...to])
    thief.close()
    return answer
  }
  expect(await visitFrom('edge.example.com')).toMatchObject({ code: 0, stdout: 'hello' })
  expect((await visitFrom('google.com')).code).toBe(60)
})

test("an agent's domain is not added to it; one that a person saves is", async () => {
  const before = await importRoot()
  const node = (await client.post('/api/nodes', { name: 'gw', agentMayPublish: true })).json()
  const service = { key: 'a', type: 'http', name: 'a', domain: 'accounts.google.com', backendPort: 80 }
  server.context.resolver.resolve = async () => ['203.0.113.1']
  expect(await publishAs(server, node.token, [service])).toMatchObject([{ state: 'published' }])
  expect(await importRoot()).toBe(before)
  const [domain] = await server.context.db
    .selectFrom('domains')
    .select('id')
    .where('domain', '=', 'accounts.google.com')
    .execute()
  expect((await client.patch(`/api/domains/${domain?.id}`, { skipValidation: true })).statusCode).toBe(200)
  expect(await importRoot()).not.toBe(before)
  const chain = await chainOf('domain_id', domain?.id ?? 0)
  expect(await verify(chain, '-verify_hostname', 'accounts.google.com')).toContain('OK')
})

test('it stays the same until the names change, and agents keep theirs', async () => {
  const first = await importRoot()
  const { fingerprint, certificate } = server.context.authority
  await server.restart()
  expect(await importRoot()).toBe(first)
  await (await server.signIn()).post('/api/domains', { domain: 'app.example.net', skipValidation: true })
  const second = await importRoot()
  expect(second).not.toBe(first)
  const [one, other, agents] = [first, second, certificate].map((pem) => new X509Certificate(pem))
  expect(one?.serialNumber).not.toBe(other?.serialNumber)
  expect([one?.subject, other?.subject]).toEqual([agents?.subject, agents?.subject])
  expect(server.context.authority).toMatchObject({ fingerprint, certificate })
})
