import type { InvitedPerson, Person, PersonFormInput } from '@postern/contract/people/people'
import { followStream } from '@postern/testkit/event-stream'
import { letIn, PASSWORD_OF_PEOPLE } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())

const EDITOR: PersonFormInput = { username: 'ann', role: 'editor' }

const invite = async (form: object) => (await admin.post('/api/people', form)).json<InvitedPerson>()
const list = async () => (await admin.get('/api/people')).json<Person[]>()
const getPerson = async (id: number) => (await admin.get(`/api/people/${id}`)).json<Person>()
async function errorsOf(form: object) {
  const answer = await admin.post('/api/people', form)
  return [answer.statusCode, answer.json().errors]
}
async function changes() {
  const rows = await server.context.db.selectFrom('changes').selectAll().orderBy('revision').execute()
  return rows.map(({ actor, name, what }) => `${actor}: ${name} ${what}`)
}

test('the list says who there is, what they may do, and when they were last here', async () => {
  const node = await admin.createNode({ name: 'workshop' })
  const { id, client } = await letIn(server, admin, {
    ...EDITOR,
    reach: { nodes: [node.id], domains: [] },
  })
  const people = await list()
  expect(people.map(({ username, role, state, sessions }) => [username, role, state, sessions])).toEqual([
    ['admin', 'admin', 'active', 1],
    ['ann', 'editor', 'active', 1],
  ])
  expect(await getPerson(id)).toEqual({
    ...people[1],
    reach: { nodes: [node.id], domains: [] },
    reachNames: { nodes: ['workshop'], domains: [] },
    lastSignInAt: '2026-11-21T12:00:00.000Z',
    invite: null,
    hasFactor: false,
  })
  expect((await client.get('/api/auth/me')).json()).toEqual({
    ...{ id, username: 'ann', role: 'editor', reach: { nodes: [node.id], domains: [] } },
  })
})

test('only administrators see and change people', async () => {
  const { id, client } = await letIn(server, admin, EDITOR)
  const calls = [
    client.get('/api/people'),
    client.get(`/api/people/${id}`),
    client.post('/api/people', { username: 'eve', role: 'admin' }),
    client.patch(`/api/people/${id}`, { role: 'admin' }),
    client.post(`/api/people/${id}/invite`),
    client.patch('/api/people/1/disable'),
    client.delete('/api/people/1/sessions'),
    client.delete('/api/people/1'),
  ]
  for (const answer of await Promise.all(calls))
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'role'])
})

test('a name is taken whatever its case, also by somebody who is disabled', async () => {
  const { id } = await invite({ ...EDITOR, username: 'Élan' })
  await admin.patch(`/api/people/${id}/disable`)
  const taken = [{ field: 'username', message: 'Somebody has this name already. Choose another one.' }]
  expect(await errorsOf({ ...EDITOR, username: ' élan ' })).toEqual([409, taken])
  expect(await errorsOf({ ...EDITOR, username: 'ADMIN' })).toEqual([409, taken])
  const renamed = await admin.patch(`/api/people/${id}`, { username: 'Admin' })
  expect([renamed.statusCode, renamed.json().errors]).toEqual([409, taken])
  expect((await admin.patch(`/api/people/${id}`, { username: 'élan' })).statusCode).toBe(200)
})

test.each([
  [{ role: 'editor' }, 'username', 'This field is required'],
  [{ username: ' ', role: 'editor' }, 'username', 'This field is required'],
  [
    { username: 'x'.repeat(101), role: 'editor' },
    'username',
    'must be less than or equal to 100 characters long',
  ],
  [
    { username: 'a\u202eb', role: 'editor' },
    'username',
    'Control characters and invisible marks are not allowed.',
  ],
  [{ username: 'Node 7', role: 'editor' }, 'username', 'The history names programs so. Choose another name.'],
  [{ username: 'ann' }, 'role', 'must be one of the allowed values'],
  [{ username: 'ann', role: 'owner' }, 'role', 'must be one of the allowed values'],
  [{ username: 'ann', role: 'editor', password: 'x' }, 'password', 'Unknown field'],
  [
    { username: 'ann', role: 'admin', reach: { nodes: [1], domains: [] } },
    'reach.nodes',
    'An administrator cannot be limited. Choose another role, or the whole installation.',
  ],
  [
    { username: 'ann', role: 'viewer', reach: { nodes: [], domains: [] } },
    'reach.nodes',
    'Choose at least one node or domain.',
  ],
  [
    { username: 'ann', role: 'viewer', reach: { nodes: [77], domains: [] } },
    'reach.nodes',
    'A chosen node does not exist any more. Choose again.',
  ],
  [
    { username: 'ann', role: 'viewer', reach: { nodes: [1], domains: [5] } },
    'reach.domains',
    'A chosen domain does not exist any more. Choose again.',
  ],
  [
    { username: 'ann', role: 'viewer', reach: { nodes: Array.from({ length: 501 }, (_, i) => i + 1) } },
    'reach.nodes',
    'must have at most 500 entries',
  ],
])('a form is refused: %#', async (form, field, message) => {
  expect(await errorsOf(form)).toEqual([422, [{ field, message }]])
  expect(await list()).toHaveLength(1)
})

test('there is room for five hundred', async () => {
  const rows = Array.from({ length: 499 }, (_, i) => ({
    ...{ username: `p${i}`, role: 'viewer' as const },
    ...{ created_at: '', updated_at: '' },
  }))
  await server.context.db.insertInto('users').values(rows).execute()
  const answer = await admin.post('/api/people', EDITOR)
  expect(answer.statusCode).toBe(409)
  expect(answer.json().message).toBe('There are 500 people, which is the limit. Delete one first.')
})

test('a stale form is refused, and one field can be changed alone', async () => {
  const { id, updated_at } = await invite(EDITOR)
  server.now += 1000
  const changed = await admin.patch(`/api/people/${id}`, { role: 'viewer', updated_at })
  expect(changed.json()).toMatchObject({ username: 'ann', role: 'viewer', reach: null })
  const stale = await admin.patch(`/api/people/${id}`, { role: 'editor', updated_at })
  expect([stale.statusCode, stale.json().code]).toEqual([409, 'stale'])
  expect((await admin.patch('/api/people/99', { role: 'editor' })).json().message).toBe('Person not found')
})

test('another role is in force with the next request, and streams begin anew with it', async () => {
  const { id, client } = await letIn(server, admin, { ...EDITOR, role: 'admin' })
  const origin = await server.listen()
  const stream = await followStream(`${origin}/api/nodes/stream?token=${client.token}`)
  const other = await followStream(`${origin}/api/nodes/stream?token=${admin.token}`)
  await admin.patch(`/api/people/${id}`, { role: 'viewer' })
  await vi.waitFor(() => expect(stream.isEnded).toBe(true))
  expect(other.isEnded).toBe(false)
  other.close()
  expect((await client.get('/api/people')).statusCode).toBe(403)
  expect((await client.get('/api/auth/me')).json()).toMatchObject({ role: 'viewer' })
})

test('whoever is disabled is out at once, streams too, and comes back only when enabled', async () => {
  const { id, client } = await letIn(server, admin, EDITOR)
  const stream = await followStream(`${await server.listen()}/api/hints/stream?token=${client.token}`)
  const begun = Date.now()
  const answer = await admin.patch(`/api/people/${id}/disable`)
  expect(answer.json()).toMatchObject({ state: 'disabled', sessions: 0 })
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), 2000)
  // Two seconds are promised; a busy machine gets five times that.
  expect(Date.now() - begun).toBeLessThan(10_000)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  const signIn = () =>
    server.call({
      method: 'POST',
      url: '/api/auth/login',
      payload: { username: 'ann', password: PASSWORD_OF_PEOPLE },
    })
  expect((await signIn()).statusCode).toBe(401)
  await admin.patch(`/api/people/${id}/enable`)
  expect((await signIn()).statusCode).toBe(200)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
})

test('whoever is deleted is gone with everything, and the name is free', async () => {
  const { id, client } = await letIn(server, admin, EDITOR)
  const stream = await followStream(`${await server.listen()}/api/hints/stream?token=${client.token}`)
  expect((await admin.delete(`/api/people/${id}`)).json()).toEqual({ id })
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), 2000)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  expect((await admin.delete(`/api/people/${id}`)).statusCode).toBe(404)
  expect((await invite(EDITOR)).id).not.toBe(id)
})

test('an administrator ends all sessions of a person', async () => {
  const { id, client } = await letIn(server, admin, EDITOR)
  expect((await admin.delete(`/api/people/${id}/sessions`)).json()).toEqual({ ended: 1 })
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  expect((await admin.delete(`/api/people/${id}/sessions`)).json()).toEqual({ ended: 0 })
  expect((await admin.get('/api/auth/me')).statusCode).toBe(200)
})

const REFUSED =
  'Nobody else could administer the installation. Make another person an administrator first, who has signed in.'

test.each([
  ['disabled', () => admin.patch('/api/people/1/disable')],
  ['deleted', () => admin.delete('/api/people/1')],
  ['demoted', () => admin.patch('/api/people/1', { role: 'editor' })],
])('the last administrator cannot be %s', async (_, act) => {
  // Neither of these could come in.
  await invite({ username: 'eve', role: 'admin' })
  const { id } = await letIn(server, admin, { username: 'max', role: 'admin' })
  await admin.patch(`/api/people/${id}/disable`)
  const answer = await act()
  expect([answer.statusCode, answer.json().message]).toEqual([409, REFUSED])
  expect(await getPerson(1)).toMatchObject({ role: 'admin', state: 'active' })
  await admin.patch(`/api/people/${id}/enable`)
  expect((await act()).statusCode).toBe(200)
})

test.each([
  ['disable', 'PATCH', '/disable', {}],
  ['delete', 'DELETE', '', undefined],
  ['demote', 'PATCH', '', { role: 'viewer' }],
] as const)(
  'of two administrators who %s each other at once, one stays',
  async (_, method, path, payload) => {
    const { id, client } = await letIn(server, admin, { username: 'max', role: 'admin' })
    const act = (token: string, other: number) =>
      server.call({
        method,
        url: `/api/people/${other}${path}`,
        headers: { authorization: `Bearer ${token}` },
        ...(payload && { payload }),
      })
    const answers = await Promise.all([act(admin.token, id), act(client.token, 1)])
    // The second has lost the right, or would leave nobody.
    const [first, second] = answers.map(({ statusCode }) => statusCode).sort()
    expect(first).toBe(200)
    expect([401, 403, 409]).toContain(second)
    const left = await server.context.db
      .selectFrom('users')
      .select('id')
      .where('role', '=', 'admin')
      .where('is_disabled', '=', 0)
      .execute()
    expect(left).toHaveLength(1)
  },
)

test('each change of an account is on record, with who did it', async () => {
  const { id } = await letIn(server, admin, EDITOR)
  const before = (await changes()).length
  await admin.patch(`/api/people/${id}`, { username: 'anna' })
  await admin.patch(`/api/people/${id}/disable`)
  await admin.patch(`/api/people/${id}/disable`)
  await admin.patch(`/api/people/${id}/enable`)
  await admin.post(`/api/people/${id}/invite`)
  await admin.delete(`/api/people/${id}`)
  const all = await changes()
  expect(all.slice(before - 2)).toEqual([
    'admin: ann person invited',
    'ann: ann accepted the invitation',
    'admin: anna person updated',
    'admin: anna person disabled',
    'admin: anna person enabled',
    'admin: anna person given a link for a new password',
    'admin: anna person deleted',
  ])
})

test('pages of administrators read the people again after each change', async () => {
  const stream = await followStream(`${await server.listen()}/api/hints/stream?token=${admin.token}`)
  await invite(EDITOR)
  await vi.waitFor(() => expect(stream.listData().flat()).toContain('people'))
  stream.close()
})
