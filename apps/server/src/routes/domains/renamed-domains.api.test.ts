import { X509Certificate } from 'node:crypto'
import type { Domain } from '@postern/contract/domains'
import { publishAs } from '@postern/testkit/agent-calls'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { LookupError } from '../../core/domains/resolver.ts'

const PUBLIC_HOST = 'postern.example.com'
const OIDC = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'secret',
}

const resolve = async (name: string) => {
  if (name.startsWith('away.')) throw new LookupError('absent')
  return ['203.0.113.1']
}
const settings = { POSTERN_PUBLIC_HOST: PUBLIC_HOST, POSTERN_PORT_RANGE: '32700-32710', ...OIDC }
const server = fresh(() => startTestServer({ settings, world: { resolver: { resolve } } }))
const client = fresh(() => server.signIn())
const node = fresh(() => client.createNode({ name: 'office', agentMayPublish: true }))
const guarded = { authentication: true, allowedEmails: ['ann@example.com', 'bob@example.com'] }
const domain = fresh(() => client.createDomain({ domain: 'old.example.com', ...guarded }))

/** Continues with the domain that a search finds. */
const take = async (name: string) =>
  Object.assign(domain, (await client.get(`/api/domains?search=${name}`)).json()[0])
const rename = (to: string, over: object = {}) =>
  client.patch(`/api/domains/${domain.id}`, { domain: to, ...over })
const publish = (...services: object[]) => publishAs(server, node.token, services)
const brought = (key: string, name: string) =>
  ({ key, type: 'http', name: key, domain: name, backendPort: 8080 }) as const
const names = async (): Promise<string[]> =>
  (await client.get('/api/domains')).json().map((each: Domain) => each.domain)
const routesAt = async (name: string) =>
  (await fetchState(server)).sections.routes.filter((route) => route.domain === name)

describe('a domain gets a new name', () => {
  it('with its services, settings, sign-in and record, in one change', async () => {
    const guarded = { name: 'wiki', domain: 'old.example.com', requireAuth: true }
    const service = (await client.post(`/api/services/${node.id}/http`, guarded)).json()
    const tls = { name: 'mqtt', domain: 'old.example.com', ssl: true, backendPort: 1883 }
    await client.post(`/api/services/${node.id}/tcp`, { ...tls, confirmSharedCookies: true })
    const { db } = server.context
    const came = { domain_id: domain.id, email: 'ann@example.com', address: '192.0.2.7' }
    await db
      .insertInto('sign_ins')
      .values({ ...came, outcome: 'signed-in', at: new Date(server.context.clock()).toISOString() })
      .execute()
    const before = await fetchState(server)

    const answer = await rename(' NEW.example.com. ')
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toMatchObject({
      id: domain.id,
      domain: 'new.example.com',
      authentication: true,
      allowedEmails: ['ann@example.com', 'bob@example.com'],
      certificate: { status: 'valid', kind: 'self-signed' },
    })
    const { revision, sections } = await fetchState(server)
    expect(revision).toBe(before.revision + 1)
    expect(JSON.stringify(sections)).not.toContain('old.example.com')
    expect(sections.routes.find(({ id }) => id === service.id)?.domain).toBe('new.example.com')
    expect(sections.ports).toMatchObject([{ tls: { domain: 'new.example.com' } }])
    const sent = sections.certificates.find(({ domains }) => domains.includes('new.example.com'))
    expect(new X509Certificate(sent?.chain ?? '').checkHost('new.example.com')).toBe('new.example.com')
    expect((await client.get(`/api/domains/${domain.id}/sign-ins`)).json()).toMatchObject([
      { email: 'ann@example.com' },
    ])
    // The entries of sessions at the old name admit nobody at the new one.
    const [old, fresh] = [before.sections.signIns[0], sections.signIns[0]]
    expect(fresh).toMatchObject({ domain: 'new.example.com' })
    expect(fresh?.members).toHaveLength(2)
    expect(fresh?.members.filter((member) => old?.members.includes(member))).toEqual([])
    expect((await client.post('/api/domains', { domain: 'old.example.com' })).statusCode).toBe(201)
  })

  it('that the imported root permits, and no longer the old one', async () => {
    const root = async () => (await client.get('/api/domains/root')).json().fingerprint
    const before = await root()
    await rename('new.example.com')
    expect(await root()).not.toBe(before)
  })

  it.each([
    ['taken.example.com', 409, 'taken.example.com already exists'],
    [PUBLIC_HOST, 422, "This is the server's own address. Leave the domain empty to use it."],
    ['away.example.com', 422, 'away.example.com has no DNS record. Point it to 203.0.113.1.'],
    ['*.example.com', 422, expect.any(String)],
    ['', 422, expect.any(String)],
  ])('but not %j', async (to, status, message) => {
    await client.post('/api/domains', { domain: 'taken.example.com' })
    const answer = await rename(to)
    expect(answer.statusCode).toBe(status)
    expect(answer.json().errors).toEqual([{ field: 'domain', message }])
    expect(await names()).toContain('old.example.com')
  })

  it('that does not lead here yet, once the check is skipped', async () => {
    expect((await rename('away.example.com', { skipValidation: true })).statusCode).toBe(200)
    expect((await rename('new.example.com', { ssl: 'certbot' })).statusCode).toBe(422)
    expect((await rename('new.example.com', { ssl: 'certbot', skipValidation: false })).statusCode).toBe(200)
  })
})

describe('a domain that an agent brought', () => {
  it('becomes the person’s, with what is there; what the agent keeps naming is checked again', async () => {
    await publish(brought('web', 'brought.example.com'))
    await take('brought')
    expect((await rename('kept.example.com')).statusCode).toBe(200)
    expect(await routesAt('kept.example.com')).toHaveLength(1)
    expect((await client.get(`/api/nodes/${node.id}`)).json().agentDomains).toEqual(['kept.example.com'])
    expect(await publish(brought('web', 'brought.example.com'))).toMatchObject([{ state: 'published' }])
    expect(await routesAt('kept.example.com')).toEqual([])
    // A person's domain stays when the last service leaves.
    expect(await names()).toEqual(['brought.example.com', 'kept.example.com', 'old.example.com'])
  })

  it('leaves its old name to the agents of other nodes only after a day', async () => {
    await publish(brought('web', 'brought.example.com'))
    await take('brought')
    await rename('kept.example.com')
    const other = (await client.post('/api/nodes', { name: 'shop', agentMayPublish: true })).json()
    expect(await publishAs(server, other.token, [brought('web', 'brought.example.com')])).toMatchObject([
      {
        state: 'refused',
        errors: [{ field: 'domain', message: expect.stringMatching(/^belonged to another node/) }],
      },
    ])
  })

  it('keeps what a person disabled there disabled, at both names', async () => {
    await publish(brought('web', 'brought.example.com'))
    const [{ id }] = (await client.get('/api/services/http?domain=brought.example.com')).json()
    await client.patch(`/api/services/${node.id}/http/${id}/disable`)
    await take('brought')
    await rename('kept.example.com')
    for (const name of ['kept.example.com', 'brought.example.com'])
      expect(await publish(brought(`again at ${name}`, name))).toMatchObject([
        { state: 'published', enabled: false },
      ])
  })
})
