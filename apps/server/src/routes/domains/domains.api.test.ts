import { X509Certificate } from 'node:crypto'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { LookupError } from '../../core/domains/resolver.ts'
import type { Visit } from '../../core/domains/visit.ts'

const dns = new Map<string, string[] | Error>([
  ['here.example.com', ['203.0.113.1']],
  ['cdn.example.com', ['198.51.100.7']],
  ['half.example.com', ['203.0.113.1', '2001:db8::9']],
  ['away.example.com', ['198.51.100.9', '2001:db8::9']],
  ['empty.example.com', []],
  ['dead.example.com', new LookupError('silent')],
  ['unsigned.example.com', new LookupError('SERVFAIL')],
  ['wrong.example.com', new TypeError('a fault of our own')],
])
const resolver = {
  async resolve(name: string) {
    const answer = dns.get(name) ?? new LookupError('absent')
    if (answer instanceof Error) throw answer
    return answer
  },
}

/** What answers at addresses in the world: a CDN that passes requests on to the server, a stranger, and nothing. */
const visit: Visit = async (address, _host, path) => {
  if (address === '198.51.100.9') return { kind: 'answered', status: 404, text: '' }
  if (address !== '198.51.100.7') return { kind: 'refused' }
  const { statusCode, body } = await server.call({ method: 'GET', url: path })
  return { kind: 'answered', status: statusCode, text: body }
}

const server = shared(() => startTestServer({ world: { resolver, visit } }))
const client = shared(() => server.signIn())

const create = (domain: string, over = {}) => client.post('/api/domains', { domain, ...over })
const errorsOf = (answer: { json(): unknown }) => {
  // Every refusal has this form; any other makes the expectation below fail.
  const body = answer.json() as { errors?: { field: string; message: string }[] }
  return body.errors ?? []
}

describe('creating', () => {
  it('stores a domain that points here, in one spelling, with a certificate of its own', async () => {
    const answer = await create(' HERE.Example.com. ', { ssl: 'self-signed' })
    expect(answer.statusCode).toBe(201)
    const domain = answer.json()
    expect(domain).toMatchObject({ domain: 'here.example.com', ssl: 'self-signed', skipValidation: false })
    expect(domain.certificate).toMatchObject({ status: 'valid', error: null })
    expect(domain.certificate.issuer).toMatch(/^Postern Root [0-9a-f]{8}$/)
    const days = (Date.parse(domain.certificate.notAfter) - server.context.clock()) / 86_400_000
    expect(days).toBeGreaterThan(390)
    expect(days).toBeLessThanOrEqual(397)
    const { sections } = await fetchState(server)
    const sent = sections.certificates.find(({ domains }) => domains.includes('here.example.com'))
    const leaf = new X509Certificate(sent?.chain ?? '')
    expect(leaf.checkHost('here.example.com')).toBe('here.example.com')
    expect(leaf.checkIssued(new X509Certificate(server.context.authority.certificate))).toBe(true)
    expect(answer.body).not.toContain('PRIVATE KEY')
  })

  it('stores one behind a CDN that passes requests on to this server; nobody else gets the proof', async () => {
    expect((await create('cdn.example.com')).statusCode).toBe(201)
    const url = `/.well-known/postern/${'0'.repeat(32)}`
    expect((await server.call({ method: 'GET', url })).statusCode).toBe(404)
  })

  it.each([
    [
      'away.example.com',
      ['198.51.100.9 (A), where another server', '2001:db8::9 (AAAA), which refuses', '203.0.113.1'],
    ],
    ['half.example.com', ['also points to 2001:db8::9 (AAAA), which refuses']],
    ['empty.example.com', ['has no address in DNS', '203.0.113.1']],
    ['nowhere.example.com', ['has no DNS record', '203.0.113.1']],
    ['dead.example.com', ['did not answer']],
    ['unsigned.example.com', ['answered with SERVFAIL']],
  ])('refuses %s with a message that names the finding', async (domain, words) => {
    const answer = await create(domain)
    expect(answer.statusCode).toBe(422)
    const [error] = errorsOf(answer)
    expect(error?.field).toBe('domain')
    for (const word of words) expect(error?.message).toContain(word)
    expect((await create(domain, { skipValidation: true })).statusCode).toBe(201)
  })

  it("shows our own error as such, and not as the name servers'", async () => {
    const answer = await create('wrong.example.com')
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toMatchObject({ code: 'internal', message: 'Something went wrong on the server' })
    expect(server.logged()).toContain('a fault of our own')
  })

  it('refuses a second one with the same name under its field', async () => {
    const answer = await create('HERE.example.com')
    expect(answer.statusCode).toBe(409)
    expect(errorsOf(answer)[0]?.field).toBe('domain')
  })

  it.each(['here.example.com', 'nowhere.example.com'])(
    'shows all errors of %s at once, including those that need a look-up',
    async (domain) => {
      const answer = await create(domain, { ssl: 'x', wildcard: true })
      expect(answer.statusCode).toBe(422)
      expect(
        errorsOf(answer)
          .map(({ field }) => field)
          .sort(),
      ).toEqual(['domain', 'ssl', 'wildcard'])
    },
  )

  it.each(['203.0.113.1', '::1', '*.example.com', 'localhost', 'a b.example.com', 'ex.com/x', ''])(
    'refuses %j',
    async (domain) => {
      const answer = await create(domain, { skipValidation: true })
      expect(answer.statusCode).toBe(422)
      expect(errorsOf(answer)[0]?.field).toBe('domain')
    },
  )
})

describe('the public host', () => {
  it('cannot be a domain, whether validated or not', async () => {
    const named = await startTestServer({ settings: { POSTERN_PUBLIC_HOST: 'postern.example.com' } })
    try {
      const admin = await named.signIn()
      const answer = await admin.post('/api/domains', { domain: 'postern.example.com', skipValidation: true })
      expect(answer.statusCode).toBe(422)
      expect(errorsOf(answer)[0]?.message).toContain("the server's own address")
    } finally {
      await named.close()
    }
  })
})

describe('changing', () => {
  it('asks DNS again only when skipping ends, or for another name', async () => {
    const { id } = (await create('later.example.com', { skipValidation: true })).json()
    const renamed = await client.patch(`/api/domains/${id}`, {
      domain: 'other.example.com',
      skipValidation: false,
    })
    expect(renamed.statusCode).toBe(422)
    expect(errorsOf(renamed)[0]?.field).toBe('domain')
    expect((await client.patch(`/api/domains/${id}`, { ssl: null })).statusCode).toBe(200)
    expect((await client.patch(`/api/domains/${id}`, { skipValidation: false })).statusCode).toBe(422)
    const all = await client.patch(`/api/domains/${id}`, { skipValidation: false, ssl: 'x', mtu: 1 })
    expect(errorsOf(all).map(({ field }) => field)).toEqual(['ssl', 'mtu', 'domain'])
    dns.set('later.example.com', ['203.0.113.1'])
    const updated = await client.patch(`/api/domains/${id}`, { skipValidation: false })
    expect(updated.json()).toMatchObject({ domain: 'later.example.com', skipValidation: false, ssl: null })
  })

  it('refuses a stale form', async () => {
    const { id, updated_at } = (await create('stale.example.com', { skipValidation: true })).json()
    expect((await client.patch(`/api/domains/${id}`, { ssl: 'self-signed', updated_at })).statusCode).toBe(
      200,
    )
    const stale = await client.patch(`/api/domains/${id}`, { ssl: null, updated_at })
    expect(stale.statusCode).toBe(409)
    expect(stale.json().message).toBe('admin changed this while you were editing')
  })
})

describe('deleting', () => {
  it('cannot be deleted while services use it, which are named, and its id is never used again', async () => {
    const { id, domain } = (await create('used.example.com', { skipValidation: true })).json()
    const node = (await client.post('/api/nodes', { name: 'site' })).json()
    const services = `/api/services/${node.id}/http`
    const service = (await client.post(services, { name: 'web shop', domain })).json()
    const refused = await client.delete(`/api/domains/${id}`)
    expect(refused.statusCode).toBe(409)
    expect(refused.json().message).toBe(`${domain} is used by “web shop”. Delete its services first.`)
    await client.delete(`${services}/${service.id}`)
    const before = await fetchState(server)
    expect((await client.delete(`/api/domains/${id}`)).json()).toEqual({ id })
    const after = await fetchState(server)
    const namesIn = ({ sections }: typeof before) => sections.certificates.flatMap(({ domains }) => domains)
    expect([before, after].map((state) => namesIn(state).includes(domain))).toEqual([true, false])
    expect((await client.get(`/api/domains/${id}`)).statusCode).toBe(404)
    expect((await create('used.example.com', { skipValidation: true })).json().id).toBeGreaterThan(id)
    expect((await client.post(services, { name: 'next', domain })).json().id).toBeGreaterThan(service.id)
  })
})

describe('the list', () => {
  it('is a page with limit, all without, and finds any part of a name', async () => {
    for (const name of ['find-a', 'find-b', 'find-c'])
      await create(`${name}.example.com`, { skipValidation: true })
    const page = (await client.get('/api/domains?search=FIND&limit=2&page=1')).json()
    expect(page).toMatchObject({ page: 1, limit: 2, total: 3 })
    expect(page.data.map((row: { domain: string }) => row.domain)).toEqual([
      'find-a.example.com',
      'find-b.example.com',
    ])
    expect((await client.get('/api/domains?search=find&limit=2&page=2')).json().data).toHaveLength(1)
    expect((await client.get('/api/domains?search=%25')).json()).toEqual([])
    expect((await client.get('/api/domains')).json().length).toBeGreaterThan(3)
    expect((await client.get('/api/domains?sort=x')).statusCode).toBe(422)
  })
})
