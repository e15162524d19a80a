import { MESSAGES } from '@postern/contract/messages'
import type { TcpService, TcpServiceFormInput } from '@postern/contract/services/services'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, it } from 'vitest'

const CONSOLE = 'ops.example.com'
const SITE = 'app.example.com'
const REFUSED = [{ field: 'domain', message: MESSAGES.sharedCookies }]

const domains = new Map<string, number>()

const server = shared(() =>
  startTestServer({
    settings: {
      POSTERN_PUBLIC_HOST: 'console.example.com',
      POSTERN_OIDC_ISSUER: 'https://id.example.com',
      POSTERN_OIDC_CLIENT_ID: 'postern',
      POSTERN_OIDC_CLIENT_SECRET: 'secret',
    },
  }),
)
const client = shared(() => server.signIn())
beforeAll(async () => {
  const add = async (domain: string, form = {}) => {
    const answer = await client.post('/api/domains', { domain, skipValidation: true, ...form })
    expect(answer.statusCode).toBe(201)
    domains.set(domain, answer.json().id)
  }
  const list = { authentication: true, allowedEmails: ['ann@example.com'] }
  await add(SITE, list)
  await add('open.example.com')
  await add('later.example.com')
  await add(CONSOLE)
  const [own] = (await client.get('/api/services/http')).json()
  expect((await client.patch(`/api/services/1/http/${own.id}`, { domain: CONSOLE })).statusCode).toBe(200)
})

let count = 0
const form = (changes: Partial<TcpServiceFormInput>) => ({
  name: `port ${++count}`,
  backendHost: '127.0.0.1',
  backendPort: 7000,
  ssl: true,
  skipValidation: true,
  ...changes,
})
const create = (changes: Partial<TcpServiceFormInput>) => client.post('/api/services/1/tcp', form(changes))

describe('a port whose TLS ends here', () => {
  it.each([SITE, CONSOLE, 'APP.example.com.'])(
    "at %s needs a person's confirmation that its program may see the cookies of sign-ins",
    async (domain) => {
      const refused = await create({ domain })
      expect(refused.statusCode).toBe(422)
      expect(refused.json().errors).toEqual(REFUSED)
      const confirmed = await create({ domain, confirmSharedCookies: true })
      expect(confirmed.statusCode).toBe(201)
      expect(confirmed.json()).not.toHaveProperty('confirmSharedCookies')
      // Its row always shows this, even to people who were not asked.
      const { state, domain: name } = confirmed.json()
      expect(state.note).toContain(`the cookies of sign-ins at ${name}`)
    },
  )

  it('without a domain needs one too: it is at the name of the public host', async () => {
    expect((await create({})).json().errors).toEqual(REFUSED)
    const made = (await create({ confirmSharedCookies: true })).json()
    expect(made.publicAccess).toBe(`tcp://console.example.com:${made.port}`)
    expect((await client.patch(`/api/services/1/tcp/${made.id}`, { name: 'own' })).statusCode).toBe(200)
  })

  it('needs none at other domains, nor where TLS passes through', async () => {
    const open = await create({ domain: 'open.example.com' })
    expect([open.statusCode, open.json().state.note]).toEqual([201, undefined])
    expect((await create({ domain: 'new.example.com' })).statusCode).toBe(201)
    expect((await create({ domain: SITE, ssl: false })).statusCode).toBe(201)
    expect((await create({ domain: SITE, ssl: false, proto: 'udp' })).statusCode).toBe(201)
  })

  it('needs it again when it changes, and otherwise stays', async () => {
    const made = (await create({ domain: SITE, ssl: false })).json()
    const url = `/api/services/1/tcp/${made.id}`
    const refused = await client.patch(url, { ssl: true })
    expect(refused.statusCode).toBe(422)
    expect(refused.json().errors).toEqual(REFUSED)
    expect((await client.patch(url, { ssl: true, confirmSharedCookies: true })).statusCode).toBe(200)
    expect((await client.patch(url, { name: 'another' })).json()).toMatchObject({
      name: 'another',
      ssl: true,
    })
    expect((await client.patch(url, { domain: CONSOLE })).json().errors).toEqual(REFUSED)
  })
})

it('sign-in cannot be switched on at a domain with such a port, which is named', async () => {
  const made = (await create({ domain: 'later.example.com', name: 'mqtt' })).json()
  const url = `/api/domains/${domains.get('later.example.com')}`
  const change = { authentication: true, allowedEmails: ['ann@example.com'] }
  const refused = await client.patch(url, change)
  expect(refused.statusCode).toBe(409)
  expect(refused.json().errors).toEqual([
    { field: 'authentication', message: expect.stringContaining('“mqtt”') },
  ])
  expect((await client.patch(`/api/services/1/tcp/${made.id}`, { ssl: false })).statusCode).toBe(200)
  expect((await client.patch(url, change)).statusCode).toBe(200)
})

it('the console cannot move to a domain with such a port, which is named', async () => {
  expect((await create({ domain: 'open.example.com', name: 'xmpp' })).statusCode).toBe(201)
  const sites: { id: number; system: boolean }[] = (await client.get('/api/services/http')).json()
  const own = sites.find(({ system }) => system)
  const move = () =>
    client.patch(`/api/services/1/http/${own?.id}`, { domain: 'open.example.com', confirmUsedName: true })
  const refused = await move()
  expect(refused.statusCode).toBe(409)
  expect(refused.json().errors).toEqual([{ field: 'domain', message: expect.stringContaining('“xmpp”') }])
  const ports: TcpService[] = (await client.get('/api/services/1/tcp')).json()
  for (const { id } of ports.filter(({ domain }) => domain === 'open.example.com'))
    expect((await client.patch(`/api/services/1/tcp/${id}`, { ssl: false })).statusCode).toBe(200)
  expect((await move()).statusCode).toBe(200)
})
