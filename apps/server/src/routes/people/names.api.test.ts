import { MESSAGES } from '@postern/contract/messages'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import { addPerson, letIn } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())

test.each([
  ['postern', 422, PEOPLE_MESSAGES.nameOfAProgram],
  ['The Host', 422, PEOPLE_MESSAGES.nameOfAProgram],
  ['Someone else', 422, PEOPLE_MESSAGES.nameOfAProgram],
  ['admin (token nightly backup)', 422, PEOPLE_MESSAGES.nameOfAProgram],
  ['admin (token backup).', 422, PEOPLE_MESSAGES.nameOfAProgram],
  ['аdmin', 422, PEOPLE_MESSAGES.mixedScripts],
  ['p\u0585stern', 422, PEOPLE_MESSAGES.nameOfAProgram],
  ['d\u0585ra', 422, PEOPLE_MESSAGES.mixedScripts],
  ['ad\u00admin', 422, MESSAGES.controlCharacters],
  ['node 3\u3164', 422, MESSAGES.controlCharacters],
  ['adm\u0131n', 409, PEOPLE_MESSAGES.nameTaken],
  ['Admin\u0332', 409, PEOPLE_MESSAGES.nameTaken],
  ['ａdmin', 409, PEOPLE_MESSAGES.nameTaken],
  ['рах', 409, PEOPLE_MESSAGES.nameTaken],
])('nobody is invited as, or becomes, %s', async (username, status, message) => {
  const { id, client } = await letIn(server, admin, { username: 'ann', role: 'viewer', reach: null })
  await addPerson(server, 'pax', 'viewer')
  const form = { username, role: 'viewer' }
  for (const answer of [
    await admin.post('/api/people', form),
    await admin.patch(`/api/people/${id}`, form),
    await client.patch('/api/account', { username }),
  ])
    expect([answer.statusCode, answer.json().errors]).toEqual([status, [{ field: 'username', message }]])
})

test.each(['José', 'Łukasz', 'Søren', 'Иван', '田中', 'محمد', 'אבי', 'ग़ालिब', 'O’Brien', 'ann (work)'])(
  'somebody may be called %s',
  async (username) => {
    const { id, client } = await letIn(server, admin, { username: 'eve', role: 'viewer', reach: null })
    expect((await client.patch('/api/account', { username })).statusCode).toBe(200)
    expect((await admin.get(`/api/people/${id}`)).json().username).toBe(username.normalize('NFC'))
  },
)

test('a name that somebody has from before stays theirs', async () => {
  for (const username of ['The Host', 'ad\u00admin', 'p\u0585stern']) {
    const { userId } = await addPerson(server, username, 'viewer')
    expect((await admin.patch(`/api/people/${userId}`, { username, role: 'editor' })).statusCode).toBe(200)
  }
})
