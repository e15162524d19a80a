import { X509Certificate } from 'node:crypto'
import { MESSAGES } from '@postern/contract/messages'
import type { InstallationSettings, SettingRecord } from '@postern/contract/settings/console-settings'
import {
  type Client,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '@postern/testkit/server'
import { duringTest } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'

const NAME = 'postern.example.com'

/** Every name leads here, except those of `elsewhere`. */
const resolver = {
  resolve: async (name: string) => [name.startsWith('elsewhere') ? '198.51.100.9' : '203.0.113.1'],
}

async function start(options: TestServerOptions = {}) {
  const server = await duringTest(() =>
    startTestServer({ ...options, world: { resolver, ...options.world } }),
  )
  return { server, client: await server.signIn() }
}
const read = async (client: Client): Promise<InstallationSettings> =>
  (await client.get('/api/settings')).json()
async function find(client: Client, name: string): Promise<SettingRecord | undefined> {
  return (await read(client)).settings.find((setting) => setting.name === name)
}
async function set(client: Client, form: object) {
  const answer = await client.patch('/api/settings', form)
  return answer.statusCode === 200 ? 'set' : (answer.json().errors ?? answer.json().code)
}
/** What an edge gets of the installation. */
async function settingsOfEdge({ context }: TestServer) {
  const answer = JSON.parse((await context.desiredState.read(1, {})).join(''))
  return answer.sections.settings
}

describe('each setting', () => {
  it('says where its value comes from, and no secret is in the answer', async () => {
    const { client } = await start({
      settings: { POSTERN_METRICS_ADDRESS: '127.0.0.1:9464', POSTERN_METRICS_TOKEN: 'm'.repeat(32) },
    })
    expect(await find(client, 'POSTERN_REQUESTS_DAYS')).toMatchObject({ value: '7', source: 'default' })
    expect(await set(client, { POSTERN_REQUESTS_DAYS: ' 3 ' })).toBe('set')
    expect(await find(client, 'POSTERN_REQUESTS_DAYS')).toEqual({
      name: 'POSTERN_REQUESTS_DAYS',
      ...{ value: '3', fallback: '7', isSecret: false, isSet: true, source: 'console' },
      ...{ lockedBy: null, isChangeable: true, problem: null },
    })
    expect(await find(client, 'POSTERN_METRICS_TOKEN')).toMatchObject({
      ...{ value: null, isSecret: true, isSet: true, source: 'environment', isChangeable: false },
    })
    expect((await client.get('/api/settings')).body).not.toContain('mmmm')
    expect(await find(client, 'POSTERN_PORT_RANGE')).toMatchObject({
      value: '32660-32760',
      isChangeable: false,
    })
    expect(await set(client, { POSTERN_REQUESTS_DAYS: null })).toBe('set')
    expect(await find(client, 'POSTERN_REQUESTS_DAYS')).toMatchObject({ value: '7', source: 'default' })
  })

  it('that the environment has is locked, with its variable, and so are those that belong to it', async () => {
    const { server, client } = await start({
      settings: {
        POSTERN_REQUESTS_MB: '128',
        POSTERN_ACME_EAB_KID: 'kid',
        POSTERN_ACME_EAB_HMAC_FILE: '/dev/null',
      },
    })
    const message = 'POSTERN_REQUESTS_MB in the environment sets this'
    expect(await set(client, { POSTERN_REQUESTS_MB: '256' })).toEqual([
      { field: 'POSTERN_REQUESTS_MB', message },
    ])
    expect(await find(client, 'POSTERN_REQUESTS_MB')).toMatchObject({
      ...{ value: '128', source: 'environment', lockedBy: 'POSTERN_REQUESTS_MB' },
    })
    expect(await find(client, 'POSTERN_ACME_EAB_HMAC')).toMatchObject({
      ...{ value: null, isSet: true, lockedBy: 'POSTERN_ACME_EAB_HMAC_FILE' },
    })
    expect(server.context.config.settings.POSTERN_REQUESTS_MB).toBe(128)
  })

  it('that the environment takes over and gives back keeps what the console had', async () => {
    const { server, client } = await start()
    expect(await set(client, { POSTERN_REQUESTS_DAYS: '3', POSTERN_REQUESTS_MB: '64' })).toBe('set')
    await server.restart({ settings: { POSTERN_REQUESTS_DAYS: '5' } })
    const { config } = server.context
    expect(config.settings).toMatchObject({ POSTERN_REQUESTS_DAYS: 5, POSTERN_REQUESTS_MB: 64 })
    expect(await set(await server.signIn(), { POSTERN_REQUESTS_MB: '65' })).toBe('set')
    await server.restart()
    expect(server.context.config.settings).toMatchObject({
      POSTERN_REQUESTS_DAYS: 3,
      POSTERN_REQUESTS_MB: 65,
    })
  })

  it('that later rules refuse is the default again, and says so; the next save drops it', async () => {
    const { server, client } = await start()
    expect(await set(client, { POSTERN_REQUESTS_MB: '64' })).toBe('set')
    const { db, liveSettings } = server.context
    const stored = await liveSettings.read(db)
    const values = { POSTERN_REQUESTS_DAYS: 'many', POSTERN_NEWER: 'x', POSTERN_OIDC_CLIENT_ID: 'half' }
    await liveSettings.save(db, 0, { ...stored, values: { ...stored.values, ...values } })
    await server.restart()
    const again = await server.signIn()
    expect(await find(again, 'POSTERN_REQUESTS_DAYS')).toMatchObject({
      value: '7',
      problem: 'The value that was set here must be a number from 0 to 366, so the default is in force.',
    })
    expect((await find(again, 'POSTERN_OIDC_CLIENT_ID'))?.problem).toContain('belongs together')
    expect((await find(again, 'POSTERN_REQUESTS_MB'))?.value).toBe('64')
    expect(await set(again, { POSTERN_REQUESTS_MB: '65' })).toBe('set')
    expect((await find(again, 'POSTERN_REQUESTS_DAYS'))?.problem).toBeNull()
  })

  it('is checked by the rule of its variable, with the message at its field', async () => {
    const { client } = await start()
    const wrong = {
      POSTERN_PUBLIC_HOST: 'no host',
      POSTERN_ACME_EMAIL: 'two words',
      POSTERN_REQUESTS_DAYS: '400',
      POSTERN_CONTACT_URL: 'javascript:alert(1)',
      POSTERN_DATA_DIR: '/elsewhere',
    }
    expect(await set(client, wrong)).toEqual([
      { field: 'POSTERN_PUBLIC_HOST', message: 'must be an IP address or a domain name' },
      { field: 'POSTERN_ACME_EMAIL', message: 'must be one e-mail address' },
      { field: 'POSTERN_REQUESTS_DAYS', message: 'must be a number from 0 to 366' },
      { field: 'POSTERN_CONTACT_URL', message: 'must be an http or https address' },
      { field: 'POSTERN_DATA_DIR', message: MESSAGES.unknownField },
    ])
    expect(await set(client, { POSTERN_OIDC_ISSUER: 'github' })).toEqual([
      { field: 'POSTERN_OIDC_CLIENT_ID', message: MESSAGES.required },
      { field: 'POSTERN_OIDC_CLIENT_SECRET', message: MESSAGES.required },
    ])
  })

  it('is sealed in the database, and its change is in the history without its value', async () => {
    const { server, client } = await start()
    const form = {
      POSTERN_OIDC_ISSUER: 'github',
      POSTERN_OIDC_CLIENT_ID: 'id',
      POSTERN_OIDC_CLIENT_SECRET: 'the-secret-of-github',
    }
    expect(await set(client, form)).toBe('set')
    const { db, config } = server.context
    expect(config.settings.POSTERN_OIDC_CLIENT_SECRET).toBe('the-secret-of-github')
    expect(JSON.stringify(await db.selectFrom('settings').selectAll().execute())).not.toContain('the-secret')
    const changes = await db.selectFrom('changes').selectAll().orderBy('revision').execute()
    expect(changes.at(-1)).toMatchObject({
      ...{ actor: 'admin', what: 'settings updated' },
      name: 'POSTERN_OIDC_ISSUER, POSTERN_OIDC_CLIENT_ID, POSTERN_OIDC_CLIENT_SECRET',
    })
    expect(JSON.stringify(changes) + server.logged()).not.toContain('the-secret')
    expect((await client.get('/api/settings')).body).not.toContain('the-secret')
    await server.restart()
    expect(server.context.providers.current()?.issuer).toBe('https://github.com/login/oauth')
  })

  it('that was changed meanwhile is not overwritten', async () => {
    const { server, client } = await start()
    const { updated_at } = await read(client)
    server.now = Date.now() + 1000
    expect(await set(client, { POSTERN_REQUESTS_DAYS: '3', updated_at })).toBe('set')
    const answer = await client.patch('/api/settings', { POSTERN_REQUESTS_DAYS: '4', updated_at })
    expect([answer.statusCode, answer.json().code, answer.json().message]).toEqual([
      ...[409, 'stale', 'admin changed this while you were editing'],
    ])
    expect((await find(client, 'POSTERN_REQUESTS_DAYS'))?.value).toBe('3')
  })

  it('is for those who are signed in', async () => {
    const { server } = await start()
    for (const method of ['GET', 'PATCH'] as const)
      expect((await server.call({ method, url: '/api/settings' })).statusCode).toBe(401)
  })

  it('of the links and of requests reaches the console and the edges at once', async () => {
    const { server, client } = await start()
    const form = { POSTERN_SPONSOR_URL: 'https://example.com/give', POSTERN_REQUESTS_QUERY: 'yes' }
    expect(await set(client, { ...form, POSTERN_REQUESTS_DAYS: '0' })).toBe('set')
    expect((await client.get('/api/config')).json().sponsorUrl).toBe('https://example.com/give')
    expect((await settingsOfEdge(server)).requests).toEqual({ days: 0, megabytes: 1024, hasQueries: true })
  })
})

describe('the public host', () => {
  it('is in everything that names the server at once, and the previous one stays', async () => {
    const { server, client } = await start({ settings: { POSTERN_HTTPS_PORT: '8443' } })
    expect(await set(client, { POSTERN_PUBLIC_HOST: 'Postern.Example.com' })).toBe('set')
    const config = (await client.get('/api/config')).json()
    expect(config).toMatchObject({ VPN_HOST: NAME, publicUrl: `https://${NAME}:8443` })
    expect(server.context.tunnel.endpoint).toBe(`${NAME}:51820`)
    expect(await settingsOfEdge(server)).toMatchObject({ publicHost: NAME, formerHosts: [] })
    expect(await set(client, { POSTERN_PUBLIC_HOST: 'next.example.com' })).toBe('set')
    expect(await settingsOfEdge(server)).toMatchObject({
      publicHost: 'next.example.com',
      formerHosts: [NAME],
    })
    expect((await read(client)).formerHosts).toEqual([NAME])
    // Going back is the same change once more.
    expect(await set(client, { POSTERN_PUBLIC_HOST: NAME, formerHosts: [] })).toBe('set')
    expect((await read(client)).formerHosts).toEqual(['next.example.com'])
    expect(await set(client, { formerHosts: ['other.example.com'] })).toEqual([
      { field: 'formerHosts', message: 'can only be removed' },
    ])
    expect(await set(client, { formerHosts: [] })).toBe('set')
    expect(await settingsOfEdge(server)).toMatchObject({ publicHost: NAME, formerHosts: [] })
  })

  it('that does not lead here is taken only when a person confirms it', async () => {
    const { server, client } = await start()
    const form = { POSTERN_PUBLIC_HOST: 'elsewhere.example.com' }
    const [error] = await set(client, form)
    expect(error).toMatchObject({ field: 'POSTERN_PUBLIC_HOST' })
    expect(error.message).toContain('elsewhere.example.com points to 198.51.100.9 (A)')
    expect(await set(client, { POSTERN_PUBLIC_HOST: '198.51.100.7' })).toEqual([
      { field: 'POSTERN_PUBLIC_HOST', message: 'A request to 198.51.100.7 does not come to this server.' },
    ])
    expect(server.context.config.publicHost).toBe('203.0.113.1')
    expect(await set(client, { ...form, confirmPublicHost: true })).toBe('set')
    expect(server.context.config.publicHost).toBe('elsewhere.example.com')
  })

  it('that services had is confirmed as well, and one with the console’s paths is refused', async () => {
    const { client } = await start()
    const { id } = await client.createNode({ name: 'a' })
    const expose = (domain: string, pathLocation: string) =>
      client.post(`/api/services/${id}/http`, { name: domain, domain, pathLocation, backendPort: 80 })
    expect((await expose('app.example.com', '/app')).statusCode).toBe(201)
    expect((await expose('paths.example.com', '/settings')).statusCode).toBe(201)
    expect(await set(client, { POSTERN_PUBLIC_HOST: 'app.example.com' })).toEqual([
      { field: 'POSTERN_PUBLIC_HOST', message: MESSAGES.namedServices },
    ])
    const paths = { POSTERN_PUBLIC_HOST: 'paths.example.com', confirmPublicHost: true }
    expect(await set(client, paths)).toEqual([
      { field: 'POSTERN_PUBLIC_HOST', message: 'Paths of the console belong to “paths.example.com” there' },
    ])
    expect(await set(client, { POSTERN_PUBLIC_HOST: 'app.example.com', confirmPublicHost: true })).toBe('set')
  })

  it('keeps its sessions until it answers no more, and is the console’s in the list of used names', async () => {
    const { server } = await start({ trustForwarded: true })
    const at = async (host: string) => {
      const headers = {
        host: 'x',
        'x-forwarded-host': host,
        'x-forwarded-proto': 'https',
        origin: `https://${host}`,
      }
      const payload = { username: 'admin', password: 'correct horse battery' }
      const login = await server.call({ method: 'POST', url: '/api/auth/login', headers, payload })
      return server.as(login.json().token)
    }
    const local = await server.signIn()
    expect(await set(local, { POSTERN_PUBLIC_HOST: NAME })).toBe('set')
    const old = await at(NAME)
    expect(await set(old, { POSTERN_PUBLIC_HOST: 'next.example.com' })).toBe('set')
    expect((await old.get('/api/auth/me')).statusCode).toBe(200)
    expect(await set(local, { formerHosts: [] })).toBe('set')
    await expect.poll(async () => (await old.get('/api/auth/me')).statusCode).toBe(401)
    const used = await server.context.db
      .selectFrom('used_names')
      .select(['domain', 'is_console'])
      .orderBy('id')
      .execute()
    expect(used).toEqual([
      { domain: NAME, is_console: 1 },
      { domain: 'next.example.com', is_console: 1 },
    ])
  })

  it('has a certificate at once, with the names from before', async () => {
    const { server, client } = await start()
    expect(await set(client, { POSTERN_PUBLIC_HOST: NAME })).toBe('set')
    expect(await set(client, { POSTERN_PUBLIC_HOST: 'next.example.com' })).toBe('set')
    const names = async () => {
      const answer = JSON.parse((await server.context.desiredState.read(1, {})).join(''))
      return new X509Certificate(answer.sections.certificates[0].chain).subjectAltName
    }
    await expect.poll(names).toContain(`DNS:next.example.com, DNS:${NAME}, `)
  })
})
