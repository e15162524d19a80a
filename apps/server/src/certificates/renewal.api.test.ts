import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer, TEST_NETWORK, type TestServer } from '@postern/testkit/server'

import { duringTest } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { isDue } from './issue.ts'

import { renewCertificates } from './renewal.ts'

const DAY = 86_400_000
const start = (options?: Parameters<typeof startTestServer>[0]) => duringTest(() => startTestServer(options))

async function own(server: TestServer): Promise<X509Certificate> {
  const { sections } = await fetchState(server)
  return new X509Certificate(sections.certificates.find(({ id }) => id === 0)?.chain ?? '')
}

describe("the installation's own certificate", () => {
  it("exists from the first start, for the public host and the machine's addresses", async () => {
    const server = await start({ settings: { POSTERN_PUBLIC_HOST: 'postern.example.com' } })
    const certificate = await own(server)
    expect(certificate.checkHost('postern.example.com')).toBe('postern.example.com')
    expect(certificate.checkIP('203.0.113.1')).toBe('203.0.113.1')
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(certificate.checkIssued(new X509Certificate(server.context.authority.certificate))).toBe(true)
  })

  it('stays when nothing changed, and follows the addresses when they do', async () => {
    let network = TEST_NETWORK
    const server = await start({ world: { network: () => network } })
    const first = await own(server)
    await renewCertificates(server.context)
    expect((await own(server)).serialNumber).toBe(first.serialNumber)
    network = { ...TEST_NETWORK, addresses: ['127.0.0.1', '203.0.113.77', 'fe80::1'] }
    await renewCertificates(server.context)
    const next = await own(server)
    expect(next.checkIP('203.0.113.77')).toBe('203.0.113.77')
    expect(next.subjectAltName).not.toContain('FE80')
  })

  it('and its root are the same after the next start; the root key is sealed', async () => {
    const first = await startTestServer()
    const { authority, config } = first.context
    const serial = (await own(first)).serialNumber
    await first.close({ keepData: true })
    const files = readFileSync(config.paths.database).toString('latin1')
    expect(files).not.toContain('PRIVATE KEY')
    const second = await start({ dataDir: first.dataDir })
    expect(second.context.authority.fingerprint).toBe(authority.fingerprint)
    expect((await own(second)).serialNumber).toBe(serial)
  })

  it('follows the public host from one name to another', async () => {
    const first = await startTestServer({ settings: { POSTERN_PUBLIC_HOST: 'before.example.com' } })
    await first.close({ keepData: true })
    const settings = { POSTERN_PUBLIC_HOST: 'after.example.com' }
    const certificate = await own(await start({ dataDir: first.dataDir, settings }))
    expect(certificate.checkHost('after.example.com')).toBe('after.example.com')
    expect(certificate.checkHost('before.example.com')).toBeUndefined()
  })
})

describe("a domain's certificate", () => {
  it('is renewed when two thirds of its lifetime are over, and the edges get it', async () => {
    let now = Date.now()
    const server = await start({ world: { clock: () => now } })
    const client = await server.signIn()
    const created = await client.post('/api/domains', { domain: 'old.example.com', skipValidation: true })
    const { id, certificate } = created.json()
    const before = await fetchState(server)
    now += 260 * DAY
    expect(await renewCertificates(server.context)).toBe(0)
    now += 6 * DAY
    const hints: number[] = []
    server.context.bus.listen((hint) => void (hint.kind === 'changed' && hints.push(hint.revision)))
    expect(await renewCertificates(server.context)).toBe(1)
    const signedIn = await server.signIn()
    const after = (await signedIn.get(`/api/domains/${id}`)).json()
    expect(Date.parse(after.certificate.notAfter)).toBeGreaterThan(Date.parse(certificate.notAfter))
    const state = await fetchState(server, before.hashes)
    expect(state.sections.certificates.map(({ domains }) => domains)).toContainEqual(['old.example.com'])
    expect(hints).toContain(state.revision)
  })

  it('that cannot be made is shown as failed, keeps the old one, and does not affect others', async () => {
    let now = Date.now()
    const server = await start({ world: { clock: () => now } })
    const client = await server.signIn()
    for (const domain of ['good.example.com', 'bad.example.com'])
      await client.post('/api/domains', { domain, skipValidation: true })
    now += 300 * DAY
    const { authority } = server.context
    const issue = (names: readonly string[]) =>
      names.includes('bad.example.com') ? Promise.reject(new Error('no luck')) : authority.issue(names)
    await renewCertificates({ ...server.context, authority: { ...authority, issue } })
    const [bad, good] = (await (await server.signIn()).get('/api/domains')).json()
    expect(bad).toMatchObject({
      domain: 'bad.example.com',
      certificate: { status: 'failed', error: 'no luck' },
    })
    expect(good.certificate.status).toBe('valid')
    expect(Date.parse(good.certificate.notAfter)).toBeGreaterThan(Date.parse(bad.certificate.notAfter))
    const { sections } = await fetchState(server)
    expect(sections.certificates.flatMap(({ domains }) => domains)).toContain('bad.example.com')
    await renewCertificates(server.context)
    const [healed] = (await (await server.signIn()).get('/api/domains?search=bad')).json()
    expect(healed.certificate).toMatchObject({ status: 'valid', error: null })
  })

  it('is due only by its own dates', () => {
    const life = { not_before: '2026-01-01T00:00:00.000Z', not_after: '2026-04-01T00:00:00.000Z' }
    const at = (date: string) => isDue(life, Date.parse(date))
    expect(at('2026-02-28T00:00:00.000Z')).toBe(false)
    expect(at('2026-03-02T00:00:01.000Z')).toBe(true)
    expect(at('2025-12-31T00:00:00.000Z')).toBe(true)
    expect(isDue({ not_before: null, not_after: null }, Date.now())).toBe(true)
  })
})
