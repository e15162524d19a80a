import { MESSAGES } from '@postern/contract/messages'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { duringTest, shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'

const PROVIDER = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'a secret',
}
const server = shared(() => startTestServer({ settings: PROVIDER }))
const client = shared(() => server.signIn())
const node = shared(() => client.createNode({ name: 'n' }))
let count = 0

const makeDomain = async (over: object = {}) => {
  const form = { domain: `d${++count}.example.com`, skipValidation: true, authentication: true, ...over }
  return (await client.post('/api/domains', form)).json()
}
const makeService = (domain: string | null, over: object = {}) =>
  client.post(`/api/services/${node.id}/http`, {
    ...{ name: 'web', domain, pathLocation: `/p${++count}`, requireAuth: true, skipValidation: true },
    ...over,
  })
const errorsOf = (answer: { json(): unknown }) => (answer.json() as { errors?: unknown[] }).errors ?? []
const state = async () => (await fetchState(server, {})).sections
const signInOf = async (id: number) => (await state()).signIns.find((each) => each.id === id)

describe('the list of a domain', () => {
  it('is stored in lower case without duplicates, in order', async () => {
    const domain = await makeDomain({
      allowedEmails: [' Ann@Example.com', 'bob@example.com', 'ann@example.com'],
    })
    expect(domain).toMatchObject({
      authentication: true,
      allowedEmails: ['ann@example.com', 'bob@example.com'],
    })
    expect((await client.get(`/api/domains/${domain.id}`)).json()).toEqual(domain)
  })

  it.each([['x'], ['@example.com'], ['a@b'], ['a b@example.com'], ['a@example.com\nx'], ['']])(
    'refuses %j under its own field',
    async (email) => {
      const form = { domain: 'x.example.com', skipValidation: true, authentication: true }
      const answer = await client.post('/api/domains', { ...form, allowedEmails: ['a@example.com', email] })
      expect(answer.statusCode).toBe(422)
      expect(errorsOf(answer)).toMatchObject([{ field: 'allowedEmails.1' }])
    },
  )

  it('reaches the edges as entries without e-mails, whose ids are never used again', async () => {
    const { id, domain } = await makeDomain({ allowedEmails: ['ann@example.com', 'bob@example.com'] })
    const before = await signInOf(id)
    expect(before).toEqual({ id, domain, members: [expect.any(Number), expect.any(Number)] })
    expect(JSON.stringify(await state())).not.toContain('@example.com')
    await client.patch(`/api/domains/${id}`, { allowedEmails: ['bob@example.com'] })
    expect((await signInOf(id))?.members).toEqual(before?.members.slice(1))
    await client.patch(`/api/domains/${id}`, { allowedEmails: ['bob@example.com', 'ann@example.com'] })
    const after = (await signInOf(id))?.members ?? []
    expect(after).toHaveLength(2)
    expect(after).not.toContain(before?.members[0])
    await client.patch(`/api/domains/${id}`, { allowedEmails: [] })
    expect((await signInOf(id))?.members).toEqual([])
  })

  it('is deleted when the sign-in is switched off, and with the domain', async () => {
    const { id } = await makeDomain({ allowedEmails: ['ann@example.com'] })
    const off = await client.patch(`/api/domains/${id}`, { authentication: false })
    expect(off.json()).toMatchObject({ authentication: false, allowedEmails: [] })
    expect(await signInOf(id)).toBeUndefined()
    const other = await makeDomain({ allowedEmails: ['ann@example.com'] })
    expect((await client.delete(`/api/domains/${other.id}`)).statusCode).toBe(200)
    expect(await signInOf(other.id)).toBeUndefined()
  })

  it('stays when only something else changes', async () => {
    const { id } = await makeDomain({ allowedEmails: ['ann@example.com'] })
    const before = await signInOf(id)
    await client.patch(`/api/domains/${id}`, { ssl: 'self-signed' })
    expect(await signInOf(id)).toEqual(before)
  })
})

describe('a service', () => {
  it('requires what its domain has, and says so to the edges', async () => {
    const { domain } = await makeDomain()
    const answer = await makeService(domain, { skipAuthRoutes: '/open\n\n  ^/api/v[0-9]+/\n' })
    expect(answer.statusCode).toBe(201)
    const { id, requireAuth, skipAuthRoutes } = answer.json()
    expect([requireAuth, skipAuthRoutes]).toEqual([true, '/open\n\n  ^/api/v[0-9]+/\n'])
    const routeOf = async () => (await state()).routes.find((route) => route.id === id)
    expect((await routeOf())?.signIn).toEqual({
      paths: ['/open'],
      expressions: [expect.stringMatching(/^bo2f:/)],
    })
    const off = await client.patch(`/api/services/${node.id}/http/${id}`, { requireAuth: false })
    expect(off.json()).toMatchObject({ requireAuth: false, skipAuthRoutes: null })
    expect((await routeOf())?.signIn).toBeNull()
  })

  it('cannot require it without a domain, on one without sign-in or on a new one, nor move to such', async () => {
    const plain = await makeDomain({ authentication: false })
    const wanted = [{ field: 'requireAuth', message: MESSAGES.noAuthentication }]
    for (const domain of [null, plain.domain, 'new.example.com']) {
      const answer = await makeService(domain)
      expect(answer.statusCode).toBe(422)
      expect(errorsOf(answer)).toEqual(wanted)
    }
    const { domain } = await makeDomain()
    const { id } = (await makeService(domain)).json()
    for (const to of [null, plain.domain])
      expect(errorsOf(await client.patch(`/api/services/${node.id}/http/${id}`, { domain: to }))).toEqual(
        wanted,
      )
  })

  it('is named when the sign-in under it is switched off', async () => {
    const { id, domain } = await makeDomain()
    await makeService(domain, { name: 'wiki' })
    const answer = await client.patch(`/api/domains/${id}`, { authentication: false, allowedEmails: [] })
    expect(answer.statusCode).toBe(409)
    expect(errorsOf(answer)).toMatchObject([
      { field: 'authentication', message: expect.stringContaining('“wiki”') },
    ])
    expect(await signInOf(id)).toBeDefined()
  })

  it('may be the whole console, at a domain with sign-in', async () => {
    const { id, domain } = await makeDomain()
    const plain = await makeDomain({ authentication: false })
    const save = (form: object) => client.patch('/api/services/1/http/1', form)
    for (const to of [null, plain.domain])
      expect(errorsOf(await save({ domain: to, requireAuth: true }))).toMatchObject([
        { field: 'requireAuth' },
      ])
    const answer = await save({ domain, requireAuth: true })
    expect(answer.json()).toMatchObject({ domain, requireAuth: true, skipAuthRoutes: null })
    const route = (await state()).routes.find(({ system }) => system)
    expect(route).toMatchObject({ domain, signIn: { paths: [], expressions: [] } })
    expect(errorsOf(await save({ skipAuthRoutes: '/api' }))).toMatchObject([{ field: 'skipAuthRoutes' }])
    expect(errorsOf(await save({ domain: null }))).toMatchObject([{ field: 'requireAuth' }])
    const off = await client.patch(`/api/domains/${id}`, { authentication: false, allowedEmails: [] })
    expect(errorsOf(off)).toMatchObject([{ message: expect.stringContaining('“Console”') }])
    // From its other addresses a page is led there.
    const begin = (to: string, host = '127.0.0.1') =>
      server.call({ method: 'GET', url: `/.postern/sign-in?to=${encodeURIComponent(to)}`, headers: { host } })
    expect((await begin('/nodes?x=1')).headers.location).toBe(`https://${domain}/nodes?x=1`)
    expect((await begin('//evil.example')).headers.location).toMatch(`https://${domain}/`)
    expect((await save({ domain: null, requireAuth: false })).statusCode).toBe(200)
    expect((await begin('/')).statusCode).toBe(404)
  })

  it.each([
    ['GET=/x', "Line 1 should not contain HTTP method or '!=' prefix"],
    ['/a\n\n  POST!=^/x', "Line 3 should not contain HTTP method or '!=' prefix"],
    ['/a"b', 'Line 1 contains forbidden characters'],
    ['/a b', 'Line 1 contains forbidden characters'],
    ['/a;b', 'Line 1 contains forbidden characters'],
    ['^/a\\d', 'Line 1 contains forbidden characters'],
    ['/a\n/b?', 'Line 2 contains forbidden characters'],
    ['^/[a', 'Line 1 is not a valid regular expression'],
    ['^/a{2,1}', 'Line 1 is not a valid regular expression'],
    ['a', "Line 1 must start with '/' or '^'"],
    ['\n\n.*', "Line 3 must start with '/' or '^'"],
    ['^/(a|b)+', /^Line 1 is not a valid regular expression here/],
    ['^(a+)+$', /^Line 1 is not a valid regular expression here/],
    ['^/a{90}', /^Line 1 is not a valid regular expression here/],
    [`^/${'a'.repeat(300)}`, /^Line 1 is not a valid regular expression here/],
    [
      Array(51).fill('/x').join('\n'),
      'Line 51 is one too many: 50 paths are allowed, and each alternative counts as one',
    ],
  ])('refuses the lines %j', async (skipAuthRoutes, message) => {
    const { domain } = await makeDomain()
    const answer = await makeService(domain, { skipAuthRoutes })
    expect(answer.statusCode).toBe(422)
    expect(errorsOf(answer)).toEqual([
      {
        field: 'skipAuthRoutes',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      },
    ])
  })
})

describe('without a provider', () => {
  it('sign-in cannot be switched on, and the console shows this', async () => {
    const bare = await startTestServer()
    const other = await bare.signIn()
    const form = { domain: 'a.example.com', skipValidation: true, authentication: true }
    const answer = await other.post('/api/domains', form)
    expect(answer.statusCode).toBe(422)
    expect(errorsOf(answer)).toEqual([{ field: 'authentication', message: MESSAGES.noProvider }])
    expect((await other.get('/api/config')).json().signIn).toBeNull()
    await bare.close()
    expect((await client.get('/api/config')).json().signIn).toEqual({
      issuer: 'https://id.example.com',
      redirectUrl: 'https://203.0.113.1/.postern/callback',
    })
  })

  it('a domain that has it keeps it, and admits nobody', async () => {
    const { id } = await makeDomain({ allowedEmails: ['ann@example.com'] })
    await server.restart({ settings: {} })
    const answer = await client.patch(`/api/domains/${id}`, { ssl: null })
    expect(answer.json()).toMatchObject({ authentication: true, allowedEmails: ['ann@example.com'] })
    await server.restart()
  })
})

it('keys are renewed without signing anyone out', async () => {
  const own = await duringTest(() => startTestServer({ settings: PROVIDER, now: Date.now() }))
  const keys = () => own.context.signInKeys
  const first = keys().current()
  own.now += 31 * 86_400_000
  await keys().renew()
  expect(keys().all()).toHaveLength(2)
  expect(keys().current()).toEqual(first)
  const ids = keys()
    .all()
    .map(({ id }) => id)
  const { sections } = await fetchState(own, {})
  expect(sections.settings?.signInKeys.map(({ id }) => id)).toEqual(ids)
  own.now += 3_600_000
  expect(keys().current()).not.toEqual(first)
  await own.restart()
  expect(
    keys()
      .all()
      .map(({ id }) => id),
  ).toEqual(ids)
})
