import type { HistoryEntry, WholeChange } from '@postern/contract/history/history'
import { publishAs } from '@postern/testkit/agent-calls'
import { addPerson } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { expect, it, test } from 'vitest'
import { verifyChain } from '../../changes/verify.ts'

const PROVIDER = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'secret',
}
const server = shared(() => startTestServer({ settings: PROVIDER }))
const client = shared(() => server.signIn())
let names = 0
const nextName = (what: string) => `${what}-${++names}`
const newest = async (): Promise<HistoryEntry> => (await client.get('/api/history?limit=1')).json().data[0]
const undo = (revision: number) => client.post(`/api/history/${revision}/undo`)
/** Takes the newest change back. @returns the change that did it */
async function undoNewest(): Promise<HistoryEntry> {
  const { revision } = await newest()
  const answer = await undo(revision)
  expect(answer.statusCode, answer.body).toBe(200)
  const entry = await newest()
  expect(entry).toMatchObject({ revision: answer.json().revision, undoes: revision })
  expect(entry.what).toMatch(new RegExp(`^undid revision ${revision}: `))
  return entry
}
const whyNot = async (revision?: number): Promise<string | null> => {
  const of = revision ?? (await newest()).revision
  const whole: WholeChange = (await client.get(`/api/history/${of}`)).json()
  const refused = await undo(of)
  expect([refused.statusCode, refused.json().message]).toEqual([409, whole.whyNotUndone])
  return whole.whyNotUndone
}
async function tcp(over: object = {}) {
  const node = await client.createNode({ name: nextName('node') })
  const form = { name: nextName('svc'), backendPort: 80, allowedIps: ['203.0.113.7'], ...over }
  const answer = await client.post(`/api/services/${node.id}/tcp`, form)
  const made = answer.json()
  const url = `/api/services/${node.id}/tcp/${made.id}`
  return { node, url, id: made.id as number, read: async () => (await client.get(url)).json(), made }
}

it('takes back the fields of a service, which is itself a change that can be taken back', async () => {
  const { url, read } = await tcp()
  await client.patch(url, { backendPort: 81, allowedIps: [] })
  await undoNewest()
  expect(await read()).toMatchObject({ backendPort: 80, allowedIps: ['203.0.113.7'] })
  await undoNewest()
  expect(await read()).toMatchObject({ backendPort: 81, allowedIps: [] })
  expect(await verifyChain(server.context.db)).toMatchObject({ isWhole: true })
})

it('keeps what was changed in other fields since, and refuses with the fields what was changed in these', async () => {
  const { url, read } = await tcp()
  await client.patch(url, { backendPort: 81 })
  const { revision } = await newest()
  await client.patch(url, { name: 'renamed' })
  expect((await undo(revision)).statusCode).toBe(200)
  expect(await read()).toMatchObject({ backendPort: 80, name: 'renamed' })
  expect((await client.get(`/api/history/${revision}`)).json().undoneBy).toBe((await newest()).revision)
  const again = await undo(revision)
  expect(again.statusCode).toBe(409)
  expect(again.json()).toMatchObject({
    ...{
      code: 'stale',
      message: expect.stringMatching(/^admin has changed “svc-\d+” since, so this cannot be taken back$/),
    },
    errors: [{ field: 'backendPort', message: 'is 80 now' }],
  })
})

it('checks all rules again', async () => {
  const { url } = await tcp({ port: 32700 })
  await client.patch(url, { port: 32701 })
  const { revision } = await newest()
  await tcp({ port: 32700 })
  const refused = await undo(revision)
  expect([refused.statusCode, refused.json().errors]).toEqual([
    409,
    [{ field: 'port', message: expect.stringContaining('already belongs to') }],
  ])
})

it('brings a deleted service back with its name, its address and its port, and disabled if it was', async () => {
  const { url, made } = await tcp({ port: 32710 })
  await client.patch(`${url}/disable`)
  await client.delete(url)
  await undoNewest()
  const found = (await client.get(`/api/services/tcp?search=${made.name}`)).json()
  expect(found).toMatchObject([{ name: made.name, port: 32710, enabled: false, allowedIps: ['203.0.113.7'] }])
  const node = await client.createNode({ name: nextName('node') })
  const web = {
    name: 'wiki',
    backendPort: 8080,
    domain: 'wiki.example.com',
    skipValidation: true,
    pathLocation: '/w',
  }
  const { id } = (await client.post(`/api/services/${node.id}/http`, web)).json()
  await client.delete(`/api/services/${node.id}/http/${id}`)
  await undoNewest()
  expect((await client.get('/api/services/http?search=wiki')).json()).toMatchObject([
    { name: 'wiki', domain: 'wiki.example.com', pathLocation: '/w', nodeId: node.id },
  ])
})

it('brings a deleted domain back with who may sign in, and takes back only what it changed in that list', async () => {
  const form = { domain: 'door.example.com', ssl: 'self-signed', skipValidation: true, authentication: true }
  const { id } = await client.createDomain({ ...form, allowedEmails: ['ann@example.com', 'bob@example.com'] })
  await client.patch(`/api/domains/${id}`, { allowedEmails: ['ann@example.com', 'eve@example.com'] })
  const { revision } = await newest()
  const more = ['ann@example.com', 'eve@example.com', 'zoe@example.com']
  await client.patch(`/api/domains/${id}`, { allowedEmails: more })
  expect((await undo(revision)).statusCode).toBe(200)
  const list = ['ann@example.com', 'bob@example.com', 'zoe@example.com']
  expect((await client.get(`/api/domains/${id}`)).json().allowedEmails.sort()).toEqual(list)
  await client.delete(`/api/domains/${id}`)
  await undoNewest()
  const [back] = (await client.get('/api/domains?search=door')).json()
  expect(back).toMatchObject({ domain: 'door.example.com', authentication: true })
  expect(back.allowedEmails.sort()).toEqual(list)
})

it('takes back the settings of a node, connecting, muting and its creation', async () => {
  const node = await client.createNode({ name: nextName('node') })
  await client.patch(`/api/nodes/${node.id}`, { keepalive: 9, dns: '192.0.2.53' })
  await undoNewest()
  expect((await client.get(`/api/nodes/${node.id}`)).json()).toMatchObject({ keepalive: 25, dns: null })
  await client.patch(`/api/nodes/${node.id}/disable`)
  await undoNewest()
  expect((await client.get(`/api/nodes/${node.id}`)).json().enabled).toBe(true)
  await client.patch(`/api/nodes/${node.id}/mute`, { until: null })
  await undoNewest()
  expect((await client.get(`/api/nodes/${node.id}`)).json().mute).toBeNull()
  const last = await client.createNode({ name: nextName('node') })
  await undoNewest()
  expect((await client.get(`/api/nodes/${last.id}`)).statusCode).toBe(404)
})

it('takes back many that were disabled or moved in one change', async () => {
  const [a, b] = [await tcp(), await tcp()]
  await client.post('/api/services/many', { action: 'disable', records: [{ id: a.id }, { id: b.id }] })
  await undoNewest()
  expect([(await a.read()).enabled, (await b.read()).enabled]).toEqual([true, true])
  const to = { nodeId: b.node.id }
  await client.post('/api/services/many', { action: 'move', records: [{ id: a.id, to }] })
  await undoNewest()
  expect((await a.read()).nodeId).toBe(a.node.id)
})

it('takes back settings, quiet hours, rules and channels', async () => {
  await client.patch('/api/settings', { POSTERN_REQUESTS_DAYS: '5' })
  await undoNewest()
  const { settings } = (await client.get('/api/settings')).json()
  expect(settings.find(({ name }: { name: string }) => name === 'POSTERN_REQUESTS_DAYS').source).toBe(
    'default',
  )
  await client.put('/api/alerts/quiet-hours', { enabled: true, from: '21:00', to: '06:00', timeZone: 'UTC' })
  await undoNewest()
  expect((await client.get('/api/alerts/quiet-hours')).json().enabled).toBe(false)
  const form = {
    name: 'Busy',
    figure: 'requests',
    comparison: 'above',
    threshold: 5,
    minutes: 3,
    enabled: true,
  }
  const { id } = (await client.post('/api/alerts/rules', form)).json()
  await client.patch(`/api/alerts/rules/${id}`, { threshold: 7 })
  await undoNewest()
  await client.delete(`/api/alerts/rules/${id}`)
  await undoNewest()
  const rules = (await client.get('/api/alerts/rules')).json()
  expect(rules.at(-1)).toMatchObject({ name: 'Busy', threshold: 5 })
  const channel = { kind: 'slack', name: 'Team', url: 'https://hooks.example.com/x' }
  const made = (await client.post('/api/alerts/channels', channel)).json()
  await client.patch(`/api/alerts/channels/${made.id}`, { name: 'Others', enabled: false })
  await undoNewest()
  expect((await client.get(`/api/alerts/channels/${made.id}`)).json()).toMatchObject({
    name: 'Team',
    enabled: true,
  })
})

test('what cannot be taken back says why', async () => {
  const node = await client.createNode({ name: nextName('node') })
  await client.patch(`/api/nodes/${node.id}`, { agentMayPublish: true })
  await publishAs(server, node.token, [{ key: 'a', type: 'tcp', name: 'a', backendPort: 80 }])
  expect(await whyNot()).toContain('This is what an agent publishes')
  const [pat] = (await client.get(`/api/nodes/${node.id}/pats`)).json()
  await client.patch(`/api/nodes/${node.id}/pats/${pat.id}/revoke`)
  expect(await whyNot()).toContain('An access token that has ended stays so')
  await client.get(`/api/nodes/${node.id}/download`)
  expect(await whyNot()).toContain('about a secret that is gone')
  await client.delete(`/api/nodes/${node.id}`)
  const deleted = (await newest()).revision
  expect(await whyNot(deleted)).toContain('The keys and tokens of a deleted node are gone')
})

it('lets a person take back only what that person may change, and all of it', async () => {
  const [a, b] = [await tcp(), await tcp()]
  const limited = await addPerson(server, 'limited', 'editor', { nodes: [a.node.id], domains: [] })
  const viewer = await addPerson(server, 'viewer', 'viewer')
  const undoAs = async (person: { token: string }) => {
    const { revision } = await newest()
    const answer = await server.as(person.token).post(`/api/history/${revision}/undo`)
    return [answer.statusCode, answer.json().code]
  }
  await client.patch(a.url, { backendPort: 81 })
  expect(await undoAs(viewer)).toEqual([403, 'role'])
  expect((await undoAs(limited))[0]).toBe(200)
  expect((await newest()).actor).toMatchObject({ kind: 'person', name: 'limited' })
  await client.patch(b.url, { backendPort: 81 })
  expect(await undoAs(limited)).toEqual([404, 'not_found'])
  await client.post('/api/services/many', { action: 'disable', records: [{ id: a.id }, { id: b.id }] })
  expect(await undoAs(limited)).toEqual([403, 'role'])
  const editor = await addPerson(server, 'editor', 'editor')
  await client.patch('/api/settings', { POSTERN_REQUESTS_DAYS: '4' })
  expect((await undoAs(editor))[0]).toBe(404)
})
