import { randomBytes } from 'node:crypto'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { HistoryEntry } from '@postern/contract/history/history'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import type { InjectOptions } from 'fastify'
import { expect, it, test } from 'vitest'
import { CONFIRMED } from '../../../test/programs-lab.ts'

const PROVIDER = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'hidden-secret',
}

const CONTROL = { POSTERN_CONTROL_LISTEN: '127.0.0.1:8443' }

const server = shared(() => startTestServer({ settings: { ...PROVIDER, ...CONTROL } }))
const client = shared(() => server.signIn())
const newest = async (): Promise<HistoryEntry> => (await client.get('/api/history?limit=1')).json().data[0]
let names = 0
const nextName = (what: string) => `${what}${++names}`
const node = () => client.createNode({ name: nextName('node') })
const domain = (form: object = {}) =>
  client.createDomain({
    domain: `${nextName('d')}.example.com`,
    ssl: 'self-signed',
    skipValidation: true,
    ...form,
  })
const service = async (type: 'http' | 'tcp' = 'tcp') => {
  const { id } = await node()
  const own = type === 'http' ? { pathLocation: `/${nextName('p')}` } : {}
  const answer = await client.post(`/api/services/${id}/${type}`, {
    name: nextName('s'),
    backendPort: 80,
    ...own,
  })
  return {
    nodeId: id,
    url: `/api/services/${id}/${type}/${answer.json().id}`,
    id: answer.json().id as number,
  }
}
const pat = async () => {
  const { id } = await node()
  const made = (await client.post(`/api/nodes/${id}/pats`, { name: 'ci', expireAt: null })).json()
  return { all: `/api/nodes/${id}/pats`, url: `/api/nodes/${id}/pats/${made.id}`, id: made.id as number }
}
const channel = async () =>
  (
    await client.post('/api/alerts/channels', {
      kind: 'slack',
      name: nextName('c'),
      url: 'https://hooks.example.com/hidden-url',
    })
  ).json()
const RULE = { figure: 'requests', comparison: 'above', threshold: 5, minutes: 3, enabled: true }
const rule = async () => (await client.post('/api/alerts/rules', { name: nextName('r'), ...RULE })).json()
const person = async () =>
  (await client.post('/api/people', { username: nextName('person'), role: 'viewer', reach: null })).json()
const API_TOKEN = { name: 'ci', role: 'viewer', reach: null, expireAt: null, ...CONFIRMED }
const apiToken = async () => (await client.post('/api/tokens', API_TOKEN)).json()
const mute = { until: null }
const edge = async () => (await client.post('/api/edges', { name: nextName('edge') })).json().edge.id
const anEdge = shared(async () => ({ id: (await edge()) as number }))

/** Each endpoint that changes something, and a request to it that does; or why it leaves no record. */
const WRITING: Record<string, (() => Promise<{ statusCode: number; body: string }>) | string> = {
  login: 'begins a session',
  logout: 'ends a session',
  ticket: 'opens a stream',
  createNode: () => client.post('/api/nodes', { name: nextName('node') }),
  updateNode: async () => client.patch(`/api/nodes/${(await node()).id}`, { keepalive: 7 }),
  deleteNode: async () => client.delete(`/api/nodes/${(await node()).id}`),
  enableNode: async () => {
    const { id } = await node()
    await client.patch(`/api/nodes/${id}/disable`)
    return client.patch(`/api/nodes/${id}/enable`)
  },
  disableNode: async () => client.patch(`/api/nodes/${(await node()).id}/disable`),
  muteNode: async () => client.patch(`/api/nodes/${(await node()).id}/mute`, mute),
  unmuteNode: async () => {
    const { id } = await node()
    await client.patch(`/api/nodes/${id}/mute`, mute)
    return client.patch(`/api/nodes/${id}/unmute`)
  },
  createToken: async () => client.post((await pat()).all, { name: 'new' }),
  rotateToken: async () => client.post(`${(await pat()).url}/rotate`),
  revokeToken: async () => client.patch(`${(await pat()).url}/revoke`),
  deleteToken: async () => client.delete((await pat()).url),
  createDomain: () =>
    client.post('/api/domains', {
      domain: `${nextName('d')}.example.com`,
      ssl: 'self-signed',
      skipValidation: true,
    }),
  updateDomain: async () =>
    client.patch(`/api/domains/${(await domain()).id}`, {
      authentication: true,
      allowedEmails: ['ann@example.com'],
    }),
  endSessions: 'an entry gets another id, and nothing of it is shown',
  retryCertificate: 'orders are not kept',
  deleteDomain: async () => client.delete(`/api/domains/${(await domain()).id}`),
  enableService: async () => {
    const { url } = await service()
    await client.patch(`${url}/disable`)
    return client.patch(`${url}/enable`)
  },
  disableService: async () => client.patch(`${(await service()).url}/disable`),
  muteService: async () => client.patch(`${(await service()).url}/mute`, mute),
  unmuteService: async () => {
    const { url } = await service()
    await client.patch(`${url}/mute`, mute)
    return client.patch(`${url}/unmute`)
  },
  deleteService: async () => client.delete((await service()).url),
  createHttpService: async () =>
    client.post(`/api/services/${(await node()).id}/http`, {
      name: 'x',
      backendPort: 80,
      pathLocation: `/${nextName('p')}`,
    }),
  updateHttpService: async () => client.patch((await service('http')).url, { backendPort: 8081 }),
  createTcpService: async () =>
    client.post(`/api/services/${(await node()).id}/tcp`, { name: 'x', backendPort: 80 }),
  updateTcpService: async () => client.patch((await service()).url, { allowedIps: ['203.0.113.0/24'] }),
  keepChange: 'nothing becomes another',
  undoChange: async () => {
    const { id } = await node()
    await client.patch(`/api/nodes/${id}`, { keepalive: 8 })
    return client.post(`/api/history/${(await newest()).revision}/undo`)
  },
  addEdge: () => client.post('/api/edges', { name: nextName('edge') }),
  editEdge: () => client.patch(`/api/edges/${anEdge.id}`, { place: nextName('place') }),
  drainEdge: () => client.patch(`/api/edges/${anEdge.id}/drain`),
  undrainEdge: async () => {
    await client.patch(`/api/edges/${anEdge.id}/drain`)
    return client.patch(`/api/edges/${anEdge.id}/undrain`)
  },
  makeJoinToken: () => client.post(`/api/edges/${anEdge.id}/join-token`),
  removeEdge: async () => client.delete(`/api/edges/${await edge()}`),
  edgeJoin: 'needs a key of a machine: edges/join.api.test.ts',
  edgeCertificate: 'needs an edge that joined: edges/join.api.test.ts',
  beginTrial: 'a trial changes nothing',
  edgeState: 'an edge asks',
  edgeWhy: 'root asks',
  registerKey: async () => {
    const { token } = await node()
    return server
      .as(token)
      .put('/api/agent/key', { publicKey: createWireGuardKeys(randomBytes(32)).publicKey })
  },
  publishServices: async () => {
    const made = await node()
    await client.patch(`/api/nodes/${made.id}`, { agentMayPublish: true })
    const services = [{ key: 'a', type: 'tcp', name: 'a', backendPort: 80 }]
    return server.as(made.token).put('/api/agent/services', { source: 'file', services })
  },
  reportNode: 'reports are not changes',
  agentWhy: 'a node asks',
  beginWhy: 'a person asks',
  changeServices: async () =>
    client.post('/api/services/many', { action: 'disable', records: [{ id: (await service()).id }] }),
  changeNodes: async () =>
    client.post('/api/nodes/many', { action: 'disable', records: [{ id: (await node()).id }] }),
  changeDomains: async () =>
    client.post('/api/domains/many', { action: 'delete', records: [{ id: (await domain()).id }] }),
  changeTokens: async () => {
    const { all, id } = await pat()
    return client.post(`${all}/many`, { action: 'revoke', records: [{ id }] })
  },
  createChannel: () =>
    client.post('/api/alerts/channels', {
      kind: 'slack',
      name: 'Team',
      url: 'https://hooks.example.com/hidden-url',
    }),
  updateChannel: async () =>
    client.patch(`/api/alerts/channels/${(await channel()).id}`, {
      url: 'https://hooks.example.com/hidden-two',
    }),
  deleteChannel: async () => client.delete(`/api/alerts/channels/${(await channel()).id}`),
  testChannel: 'a message is sent',
  updateBuiltInRule: async () => {
    const [{ id }] = (await client.get('/api/alerts/rules')).json()
    return client.patch(`/api/alerts/built-in-rules/${id}`, { minutes: 17 })
  },
  createFigureRule: () => client.post('/api/alerts/rules', { name: 'Busy', ...RULE }),
  updateFigureRule: async () => client.patch(`/api/alerts/rules/${(await rule()).id}`, { threshold: 9 }),
  deleteFigureRule: async () => client.delete(`/api/alerts/rules/${(await rule()).id}`),
  setQuietHours: () =>
    client.put('/api/alerts/quiet-hours', {
      enabled: true,
      from: '22:00',
      to: '06:00',
      timeZone: 'Europe/Paris',
    }),
  updateSettings: () => client.patch('/api/settings', { POSTERN_REQUESTS_DAYS: String(8 + ++names) }),
  makeBackup: 'a copy changes nothing',
  readInvite: 'a stranger asks',
  acceptInvite: 'the link ends, and a password is no field of the history: people/invites.api.test.ts',
  invitePerson: () => client.post('/api/people', { username: nextName('ann'), role: 'viewer', reach: null }),
  updatePerson: async () => {
    const { id, username } = await person()
    return client.patch(`/api/people/${id}`, { username, role: 'editor', reach: null })
  },
  renewInvite: 'another link, which is a secret',
  disablePerson: async () => client.patch(`/api/people/${(await person()).id}/disable`),
  enablePerson: async () => {
    const { id } = await person()
    await client.patch(`/api/people/${id}/disable`)
    return client.patch(`/api/people/${id}/enable`)
  },
  deletePerson: async () => client.delete(`/api/people/${(await person()).id}`),
  endPersonSessions: 'sessions are not kept',
  endPersonTokens: async () => {
    await apiToken()
    return client.delete('/api/people/1/tokens')
  },
  disconnectPerson: 'needs a provider: console-sign-in/taken-back.api.test.ts',
  updateAccount: () => client.patch('/api/account', { username: nextName('admin') }),
  changePassword: () =>
    client.post('/api/account/password', {
      password: TEST_ADMIN.password,
      newPassword: TEST_ADMIN.password,
    }),
  endSession: 'sessions are not kept',
  endOtherSessions: 'sessions are not kept',
  createApiToken: () => client.post('/api/tokens', API_TOKEN),
  revokeApiToken: async () => client.patch(`/api/tokens/${(await apiToken()).id}/revoke`),
  deleteApiToken: async () => client.delete(`/api/tokens/${(await apiToken()).id}`),
  beginDevice: 'a stranger asks',
  pollDevice: 'a stranger asks',
  readDevice: 'a person looks',
  approveDevice: async () => {
    const { user_code: code } = (await client.post('/api/auth/device', { client: 'laptop' })).json()
    return client.post('/api/auth/device/approve', { ...API_TOKEN, code })
  },
  denyDevice: 'nothing becomes another',
  loginByCode: 'begins a session',
  beginPasskeyLogin: 'begins a session',
  loginByPasskey: 'begins a session',
  beginProviderLogin: 'nothing is stored yet',
  loginByProvider: 'may make an account: console-sign-in/made-accounts.api.test.ts',
  beginIdentity: 'nothing is stored yet',
  addIdentity: 'needs a provider: console-sign-in/own-identities.api.test.ts',
  removeIdentity: 'needs a provider: console-sign-in/own-identities.api.test.ts',
  createConsoleProvider: 'needs a provider: console-sign-in/providers.api.test.ts',
  updateConsoleProvider: 'needs a provider: console-sign-in/providers.api.test.ts',
  deleteConsoleProvider: 'needs a provider: console-sign-in/providers.api.test.ts',
  setPasswordRule: 'needs a provider: console-sign-in/password-rule.api.test.ts',
  tryConsoleProvider: 'a trial changes nothing',
  previewRules: 'nothing is stored',
  beginAuthenticator: 'nothing is stored yet',
  confirmAuthenticator: 'needs a code of an app',
  removeAuthenticator: 'needs an app that was confirmed',
  beginPasskey: 'nothing is stored yet',
  addPasskey: 'needs a device',
  renamePasskey: 'needs a device',
  removePasskey: 'needs a device',
  makeRecoveryCodes: 'codes are secrets',
  removeFactors: 'needs a factor',
  confirmAccount: 'nothing is stored',
}

const all: [string, Endpoint][] = Object.entries(endpoints).filter(([, { method }]) => method !== 'GET')

test.each(all)('%s leaves an entry with what was before and after', async (name) => {
  const change = WRITING[name]
  // A new endpoint that writes needs a request here, or the reason why the history has nothing of it.
  expect(change, `${name} has no row in the table of this test`).toBeDefined()
  if (change === undefined || typeof change === 'string') return
  const before = await server.context.db.selectFrom('revisions').select('latest').executeTakeFirstOrThrow()
  const answer = await change()
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  const entry = await newest()
  expect(entry.revision).toBeGreaterThan(before.latest)
  expect(entry.records.length, JSON.stringify(entry)).toBeGreaterThan(0)
  expect(entry.address).toBe('127.0.0.1')
  const [record] = entry.records
  expect(record?.before === null && record.after === null).toBe(false)
})

/** From the next request to the endpoint on, its caller loses every right just before it changes anything. */
function loseRightsIn({ method, path }: Endpoint): () => Promise<void> {
  const { db } = server.context
  const transaction = db.transaction
  const inject: (options: InjectOptions) => unknown = server.app.inject
  const address = new RegExp(`^${path.replace(/:[A-Za-z]+/g, '[^/]+')}$`)
  let isIn = false
  const lose = async () => {
    await db.updateTable('users').set({ is_disabled: 1 }).execute()
    await db.updateTable('node_tokens').set({ revoked: 1 }).execute()
  }
  const hear = (options: InjectOptions) => {
    isIn ||= options.method === method && address.test(String(options.url))
    return inject.call(server.app, options)
  }
  Object.assign(server.app, { inject: hear })
  db.transaction = () => {
    const begun = transaction.call(db)
    const execute = begun.execute.bind(begun)
    begun.execute = async (work) => {
      if (isIn) await lose()
      return await execute(work)
    }
    return begun
  }
  return async () => {
    Object.assign(server.app, { inject })
    Object.assign(db, { transaction })
    await db.updateTable('users').set({ is_disabled: 0 }).execute()
  }
}

test.each(all.filter(([name]) => typeof WRITING[name] === 'function'))(
  '%s changes nothing for somebody who loses the right while it waits',
  async (name, endpoint) => {
    const restore = loseRightsIn(endpoint)
    try {
      // Checked above.
      const answer = await (WRITING[name] as () => Promise<{ statusCode: number; body: string }>)()
      expect([401, 403], answer.body).toContain(answer.statusCode)
    } finally {
      await restore()
    }
  },
)

it('has no secret in any text that is stored', async () => {
  const { db } = server.context
  const stored = JSON.stringify([
    await db.selectFrom('change_records').selectAll().execute(),
    await db.selectFrom('changes').selectAll().execute(),
  ])
  const secrets = [
    ...(await db.selectFrom('nodes').select(['private_key', 'preshared_key']).execute()),
    ...(await db.selectFrom('node_tokens').select('token_hash').execute()),
    ...(await db.selectFrom('certificates').select('private_key').execute()),
    ...(await db.selectFrom('users').select('password_hash').execute()),
    ...(await db.selectFrom('edges').select(['private_key', 'token_hash']).execute()),
    ...(await db.selectFrom('join_tokens').select('hash').execute()),
    ...(await db.selectFrom('alert_channels').select('secrets').execute()),
  ].flatMap((row) => Object.values(row).filter((value) => value !== null))
  expect(secrets.length).toBeGreaterThan(20)
  for (const secret of [...secrets, 'hidden-', 'ptn_', 'v2.', 'BEGIN ', 'pte_'])
    expect(stored).not.toContain(secret)
  expect(stored).toContain('changed')
})
