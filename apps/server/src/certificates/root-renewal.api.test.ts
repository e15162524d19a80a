import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { run } from '@postern/testkit/processes/exec'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { renewCertificates } from './renewal.ts'

const DAY = 86_400_000
/** Two thirds of the ten years, and a day. */
const DUE = Math.ceil((3650 * 2) / 3) + 1

const dir = tempDir()
const settings = { POSTERN_PUBLIC_HOST: 'edge.example.com' }
const server = fresh(() => startTestServer({ settings, now: Date.now() }))

const get = async (url: string) => (await server.call({ method: 'GET', url })).body
const pemsIn = (text: string) => text.match(/-----BEGIN[\s\S]*?END CERTIFICATE-----\n/g) ?? []

/** OpenSSL's verdict on a server's chain at the test's time, when only this root is trusted. */
async function verify(root: string, chain: string, host = 'edge.example.com'): Promise<string> {
  const [leaf = '', ...rest] = pemsIn(chain)
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const trust = ['-no-CApath', '-no-CAstore', '-CAfile', file('root', root), '-purpose', 'sslserver']
  const time = ['-attime', String(Math.floor(server.now / 1000)), '-verify_hostname', host]
  const between = rest.length > 0 ? ['-untrusted', file('rest', rest.join(''))] : []
  const { stdout, stderr } = await run([
    'openssl',
    'verify',
    ...trust,
    ...time,
    ...between,
    file('leaf', leaf),
  ])
  return stdout + stderr
}

test('a root is renewed when two thirds of its lifetime are over, and not before', async () => {
  const { fingerprint, name } = server.context.authority
  server.now += (DUE - 3) * DAY
  await renewCertificates(server.context)
  expect(server.context.authority.fingerprint).toBe(fingerprint)
  server.now += 3 * DAY
  await renewCertificates(server.context)
  expect(server.context.authority.fingerprint).not.toBe(fingerprint)
  expect(server.context.authority.name).toBe(name)
  const renewed = server.context.authority.fingerprint
  await renewCertificates(server.context)
  expect(server.context.authority.fingerprint).toBe(renewed)
})

test('a leaked root stays in the chain for a week, so that agents learn the next one, even after a restart', async () => {
  const old = server.context.authority.certificate
  await server.context.authority.replace()
  const { certificate } = server.context.authority
  expect(await get('/install/ca.crt')).toBe(old + certificate)
  server.now += 6 * DAY
  await server.restart()
  expect(await get('/install/ca.crt')).toBe(old + certificate)
  server.now += 2 * DAY
  expect(await get('/install/ca.crt')).toBe(certificate)
  const { certificate: chain } = await server.context.authority.issue(['edge.example.com'])
  expect(pemsIn(chain)).toHaveLength(1)
})

test("clients with the old root, in either form, trust the new one's certificates, and so do clients with the new root", async () => {
  const oldRoot = server.context.authority.certificate
  const oldImported = await get('/install/root.crt')
  server.now += DUE * DAY
  await renewCertificates(server.context)
  const { certificate: chain } = await server.context.authority.issue(['edge.example.com'])
  const newImported = await get('/install/root.crt')
  expect(newImported).not.toBe(oldImported)
  for (const root of [oldRoot, oldImported, server.context.authority.certificate, newImported])
    expect(await verify(root, chain)).toContain('OK')
  const { certificate: foreign } = await server.context.authority.issue(['google.com'])
  for (const root of [oldImported, newImported])
    expect(await verify(root, foreign, 'google.com')).toContain('permitted subtree violation')
})

test('an agent that holds the old root reaches the server by TLS, and so does one that holds the new', async () => {
  server.now = Date.now() - DUE * DAY
  await server.restart({}, () => rmSync(server.context.config.paths.serverDir, { recursive: true }))
  const before = server.context.authority.certificate
  server.now = Date.now()
  await renewCertificates(server.context)
  const { certificate: cert, privateKey: key } = await server.context.authority.issue(['127.0.0.1'])
  const listening = createServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  // A TCP server has an address with a port.
  const { port } = listening.address() as AddressInfo
  for (const ca of [before, server.context.authority.certificate]) {
    const socket = connect({ host: '127.0.0.1', port, ca })
    await once(socket, 'secureConnect')
    expect(socket.authorized).toBe(true)
    socket.destroy()
  }
  listening.close()
})

test('agents find the root that they know among the two, the old one first, until it expires', async () => {
  const before = server.context.authority.certificate
  server.now += DUE * DAY
  await renewCertificates(server.context)
  const { certificate } = server.context.authority
  expect(await get('/install/ca.crt')).toBe(before + certificate)
  server.now = new X509Certificate(before).validToDate.getTime()
  expect(await get('/install/ca.crt')).toBe(certificate)
  expect(pemsIn((await server.context.authority.issue(['edge.example.com'])).certificate)).toHaveLength(1)
})

test("after the next start both exist, but only the new one's key, sealed", async () => {
  const before = server.context.authority.certificates
  server.now += DUE * DAY
  await renewCertificates(server.context)
  const { certificates, fingerprint } = server.context.authority
  expect(certificates).toContain(before)
  await server.restart()
  expect(server.context.authority).toMatchObject({ certificates, fingerprint })
  const { certificate: chain } = await server.context.authority.issue(['edge.example.com'])
  expect(await verify(before, chain)).toContain('OK')
  expect(readFileSync(server.context.config.paths.database).toString('latin1')).not.toContain('PRIVATE KEY')
})
