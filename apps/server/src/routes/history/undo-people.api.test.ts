import type { HistoryEntry, WholeChange } from '@postern/contract/history/history'
import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import type { Person, PersonFormInput } from '@postern/contract/people/people'
import { letIn } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, it, test } from 'vitest'
import { CONFIRMED } from '../../../test/programs-lab.ts'
import { takeBackDue } from '../../core/history/pending.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())

const newest = async (): Promise<HistoryEntry> => (await admin.get('/api/history?limit=1')).json().data[0]
const undo = (revision: number, as: Client = admin) => as.post(`/api/history/${revision}/undo`)
const read = async (id: number) => (await admin.get(`/api/people/${id}`)).json<Person>()
const edit = (id: number, form: Partial<PersonFormInput>) => admin.patch(`/api/people/${id}`, form)
const ann = (over: Partial<PersonFormInput> = {}) =>
  letIn(server, admin, { username: 'ann', role: 'editor', reach: null, ...over })

/** Takes the newest change back. */
async function undoNewest(): Promise<void> {
  const { revision } = await newest()
  const answer = await undo(revision)
  expect(answer.statusCode, answer.body).toBe(200)
  expect(await newest()).toMatchObject({ undoes: revision })
}

async function whyNot(): Promise<string> {
  const { revision } = await newest()
  const { whyNotUndone } = (await admin.get(`/api/history/${revision}`)).json<WholeChange>()
  const refused = await undo(revision)
  expect([refused.statusCode, refused.json().message]).toEqual([409, whyNotUndone])
  return whyNotUndone ?? ''
}

it('takes back a name, a role and limits, which are in force at once', async () => {
  const { id: workshop } = await admin.createNode({ name: 'workshop' })
  const { id: office } = await admin.createNode({ name: 'office' })
  const { id: domain } = await admin.createDomain({ domain: 'shop.example.com', skipValidation: true })
  const { id, client } = await ann()
  await edit(id, { username: 'anna', role: 'viewer', reach: { nodes: [workshop], domains: [domain] } })
  expect((await client.get(`/api/nodes/${office}`)).statusCode).toBe(404)
  await undoNewest()
  expect(await read(id)).toMatchObject({ username: 'ann', role: 'editor', reach: null })
  expect((await client.get(`/api/nodes/${office}`)).statusCode).toBe(200)
  await undoNewest()
  const limited = { nodes: [workshop], domains: [domain] }
  expect(await read(id)).toMatchObject({ username: 'anna', role: 'viewer', reach: limited })
  expect((await client.get(`/api/nodes/${office}`)).statusCode).toBe(404)
})

it('gives back only what a change of limits took, and takes only what it gave', async () => {
  const names = ['workshop', 'office', 'lab']
  const [workshop = 0, office = 0, lab = 0] = await Promise.all(
    names.map(async (name) => (await admin.createNode({ name })).id),
  )
  const { id } = await ann({ reach: { nodes: [workshop], domains: [] } })
  await edit(id, { reach: { nodes: [office], domains: [] } })
  const { revision } = await newest()
  await edit(id, { reach: { nodes: [office, lab], domains: [] } })
  expect((await undo(revision)).statusCode).toBe(200)
  expect((await read(id)).reach?.nodes.toSorted()).toEqual([workshop, lab].toSorted())
})

it('says when a node of the limits is gone since', async () => {
  const { id: workshop } = await admin.createNode({ name: 'workshop' })
  const { id: office } = await admin.createNode({ name: 'office' })
  const { id } = await ann({ reach: { nodes: [workshop], domains: [] } })
  await edit(id, { reach: { nodes: [office], domains: [] } })
  const { revision } = await newest()
  await admin.delete(`/api/nodes/${workshop}`)
  const refused = await undo(revision)
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    'Not exactly one is called “workshop” now, so this cannot be taken back',
  ])
})

it('takes back that a person was disabled, and enabled', async () => {
  const { id, client } = await ann()
  await admin.patch(`/api/people/${id}/disable`)
  await undoNewest()
  expect(await read(id)).toMatchObject({ state: 'active' })
  await undoNewest()
  expect(await read(id)).toMatchObject({ state: 'disabled' })
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
})

it('takes back the name that somebody gave themselves', async () => {
  const { id, client } = await ann()
  expect((await client.patch('/api/account', { username: 'boss' })).statusCode).toBe(200)
  await undoNewest()
  expect(await read(id)).toMatchObject({ username: 'ann' })
})

it('refuses what was changed since, and a name that is taken', async () => {
  const { id } = await ann()
  await edit(id, { role: 'viewer' })
  const { revision } = await newest()
  await edit(id, { role: 'admin' })
  const stale = await undo(revision)
  expect([stale.statusCode, stale.json()]).toMatchObject([
    409,
    { code: 'stale', errors: [{ field: 'role', message: 'is admin now' }] },
  ])
  await edit(id, { username: 'anna' })
  const renamed = await newest()
  await admin.post('/api/people', { username: 'ANN', role: 'viewer' })
  const taken = await undo(renamed.revision)
  expect([taken.statusCode, taken.json().errors?.[0]?.field]).toEqual([409, 'username'])
})

it('protects the last administrator', async () => {
  const { id, client } = await ann({ role: 'viewer' })
  await edit(id, { role: 'admin' })
  const promoted = await newest()
  expect((await client.patch('/api/people/1', { role: 'viewer' })).statusCode).toBe(200)
  const refused = await undo(promoted.revision, client)
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    expect.stringContaining('Nobody else could administer the installation.'),
  ])
  expect((await client.get('/api/auth/me')).json()).toMatchObject({ role: 'admin' })
})

it('is for administrators in person', async () => {
  const { id } = await ann()
  const { client: editor } = await letIn(server, admin, { username: 'max', role: 'editor', reach: null })
  await edit(id, { role: 'viewer' })
  const { revision } = await newest()
  expect((await undo(revision, editor)).statusCode).toBe(404)
  const { token } = (await admin.post('/api/tokens', { name: 'robot', role: 'admin', ...CONFIRMED })).json()
  const program = await undo(revision, server.as(token))
  expect(program.statusCode).toBe(404)
  expect(await read(id)).toMatchObject({ role: 'viewer' })
})

test('what cannot come back says why', async () => {
  const { id } = await ann()
  expect(await whyNot()).toBe('This is about how a person signs in, which cannot be taken back.')
  await admin.delete(`/api/people/${id}`)
  expect(await whyNot()).toBe(
    'The password and the sign-ins of a deleted person are gone, so this cannot be taken back. Invite them again.',
  )
  const { id: next } = (await admin.post('/api/people', { username: 'ben', role: 'viewer' })).json()
  expect(await whyNot()).toBe('An invitation is not taken back here. Delete the person on the page People.')
  await admin.post(`/api/people/${next}/invite`)
  expect(await whyNot()).toBe('Nothing is kept of what was before, so this cannot be taken back.')
})

it('comes back by itself where a person asked for that and does not keep it', async () => {
  const { id } = await ann()
  const answer = await server.call({
    method: 'PATCH',
    url: `/api/people/${id}`,
    payload: { role: 'viewer' },
    headers: { authorization: `Bearer ${admin.token}`, [TAKE_BACK_HEADER]: '120' },
  })
  expect(answer.statusCode, answer.body).toBe(200)
  server.now += 121_000
  await takeBackDue(server.context)
  expect(await read(id)).toMatchObject({ role: 'editor' })
})
