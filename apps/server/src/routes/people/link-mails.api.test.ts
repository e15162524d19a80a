import type { InvitedPerson } from '@postern/contract/people/people'
import { letIn } from '@postern/testkit/people'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh, shared } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { startMailServer } from '../../../test/mail-server.ts'
import { OUTSIDE } from '../../core/alerts/deliver/outside.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const world = { ...OUTSIDE, lookup: async () => ['127.0.0.1'], isExempt: () => true }
const server = fresh(() => startTestServer({ now: NOW, world: { outside: world } }))
const admin = fresh(() => server.signIn())
const mail = shared(() => startMailServer({ security: 'none' }))

beforeEach(() => void mail.mails.splice(0))

const CHANNEL = {
  kind: 'email',
  name: 'Mail',
  host: 'mail.example.com',
  security: 'none',
  sender: 'postern@example.com',
  recipients: ['ops@example.com'],
}
const addChannel = async (over: object = {}) => {
  const answer = await admin.post('/api/alerts/channels', { ...CHANNEL, port: mail.port, ...over })
  expect(answer.statusCode, answer.body).toBe(201)
}
const invite = async (over: object = {}, as = admin) => {
  const form = { username: 'ann', role: 'viewer', email: 'Ann@Example.com', ...over }
  const answer = await as.post('/api/people', form)
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json<InvitedPerson>()
}

/** The headers, unfolded, and the text as its reader sees it. */
function read(raw: string | undefined) {
  const [head = '', body = ''] = (raw ?? '').split(/\r\n\r\n(.*)/s)
  const headers = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const encoding = headers.find((line) => line.startsWith('Content-Transfer-Encoding: '))?.split(': ')[1]
  const bytes = Buffer.from(
    body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  )
  const text = encoding === 'base64' ? Buffer.from(body, 'base64').toString() : undefined
  return { headers, text: text ?? (encoding === 'quoted-printable' ? bytes.toString() : body) }
}

test('an invitation goes to its address alone, says who invites, where and until when, and lets them in', async () => {
  await addChannel()
  const { token, mail: what, mailProblem } = await invite()
  expect([what, mailProblem]).toEqual(['sent', null])
  expect(mail.mails).toMatchObject([{ from: 'postern@example.com', to: ['ann@example.com'] }])
  const { headers, text } = read(mail.mails[0]?.text)
  expect(headers).toContain('Subject: Invitation to Postern at 203.0.113.1')
  expect(headers).toContain('To: ann@example.com')
  expect(headers.join('\n')).toMatch(/^Content-Type: text\/plain; charset=utf-8$/m)
  expect(text.trim().split(/\r?\n/)).toEqual([
    'admin invites you to the Postern console at 203.0.113.1. This link works once, until 2026-11-23 12:00 UTC:',
    '',
    `https://203.0.113.1/invite#${token}`,
  ])
  const payload = { token, password: 'long enough 1' }
  expect((await server.call({ method: 'POST', url: '/api/invites/accept', payload })).statusCode).toBe(200)
})

test('a link for a new password is sent, too, and without an address nothing is', async () => {
  await addChannel()
  const { id } = await letIn(server, admin, { username: 'ann', role: 'viewer', reach: null })
  expect(mail.mails).toEqual([])
  expect((await admin.post(`/api/people/${id}/invite`)).json()).toMatchObject({ mail: null })
  const again = await admin.post(`/api/people/${id}/invite`, { email: 'ann@example.com' })
  expect(again.json()).toMatchObject({ mail: 'sent', mailProblem: null })
  const { headers, text } = read(mail.mails[0]?.text)
  expect(headers).toContain('Subject: New password for Postern at 203.0.113.1')
  expect(text).toMatch(
    /^admin lets you choose a new password for the Postern console at 203.0.113.1. This link/,
  )
  expect(text).toContain(again.json<InvitedPerson>().token)
})

test.each([
  ['no channel', () => undefined, 'No alert channel for e-mail is enabled.'],
  ['one that is turned off', () => addChannel({ enabled: false }), 'No alert channel for e-mail is enabled.'],
  [
    'one of another kind',
    () => addChannel({ kind: 'slack', url: 'https://hooks.slack.com/services/a' }),
    'No alert channel for e-mail is enabled.',
  ],
  [
    'a server that refuses it',
    () => addChannel(),
    'mail.example.com refused the sender or a recipient (550).',
  ],
])('with %s the person is made, and the link shown', async (_, prepare, reason) => {
  await prepare()
  const { token, mail: what, mailProblem } = await invite({ email: 'nobody@example.com' })
  expect([what, mailProblem]).toEqual(['failed', reason])
  const read = await server.call({ method: 'POST', url: '/api/invites/read', payload: { token } })
  expect(read.json()).toMatchObject({ username: 'ann' })
})

test('of several channels the first one that is enabled sends it', async () => {
  await addChannel({ enabled: false, sender: 'off@example.com' })
  await addChannel({ sender: 'first@example.com' })
  await addChannel({ sender: 'second@example.com' })
  await invite()
  expect(mail.mails.map(({ from }) => from)).toEqual(['first@example.com'])
})

test('the rules for private addresses hold as for alerts', async () => {
  await addChannel()
  world.isExempt = () => false
  try {
    expect((await invite()).mailProblem).toMatch(/^mail.example.com leads to 127.0.0.1, a loopback/)
  } finally {
    world.isExempt = () => true
  }
})

test.each([
  ['not an address', 'ann'],
  ['two', 'ann@example.com, max@example.com'],
  ['one with a line break', 'ann@example.com\r\nBcc: eve@example.com'],
  ['one with a name', 'Ann <ann@example.com>'],
])('an address that is %s is refused at its field, and nobody is made', async (_, email) => {
  await addChannel()
  const answer = await admin.post('/api/people', { username: 'ann', role: 'viewer', email })
  expect([answer.statusCode, answer.json().errors]).toEqual([
    422,
    [{ field: 'email', message: expect.stringMatching(/\w/) }],
  ])
  const renewed = await admin.post('/api/people/1/invite', { email })
  expect([renewed.statusCode, renewed.json().errors?.[0]?.field]).toEqual([422, 'email'])
  expect((await admin.get('/api/people')).json()).toHaveLength(1)
  expect(mail.mails).toEqual([])
})

test.each([
  'Ünïcødé 🦊',
  '名前 🦊',
  '<b>Bcc: eve@example.com</b>',
  '=?utf-8?q?Bcc=3A?=',
  `"${'x'.repeat(40)}, %0d%0aBcc: e"`,
])('the name %j stands in the text alone, as it is', async (username) => {
  await addChannel()
  const { client } = await letIn(server, admin, { username, role: 'admin', reach: null })
  expect((await invite({ username: `${username} 2` }, client)).mail).toBe('sent')
  expect(mail.mails[0]?.to).toEqual(['ann@example.com'])
  const { headers, text } = read(mail.mails[0]?.text)
  expect(headers.map((line) => line.split(':')[0]).sort()).toEqual(HEADERS)
  expect(headers.join('\n')).not.toMatch(/eve|Bcc/)
  expect(text.startsWith(`${username} invites you to`)).toBe(true)
})

const HEADERS = [
  'Auto-Submitted',
  'Content-Transfer-Encoding',
  'Content-Type',
  'Date',
  'From',
  'MIME-Version',
  'Message-ID',
  'Subject',
  'To',
]

test.each(['ann\r\nBcc: eve@example.com', 'ann\nx', 'ann\u2028x', 'ann\u0000'])(
  'a name like %j is none, and sends nothing',
  async (username) => {
    await addChannel()
    const answer = await admin.post('/api/people', { username, role: 'admin', email: 'ann@example.com' })
    expect(answer.json().errors).toMatchObject([{ field: 'username' }])
    expect(mail.mails).toEqual([])
  },
)

test('neither the link nor the address is in a log, the database or the history', async () => {
  await addChannel()
  const { token } = await invite()
  const failed = await invite({ username: 'max', email: 'nobody@example.com' })
  const history = await admin.get('/api/history')
  expect(history.json().data[0]).toMatchObject({ what: 'person invited', name: 'max' })
  const { rows: tables } = await sql<{ name: string }>`SELECT name FROM sqlite_schema
    WHERE type = 'table'`.execute(server.context.db)
  const dumps = await Promise.all(
    tables.map(({ name }) => sql`SELECT * FROM ${sql.table(name)}`.execute(server.context.db)),
  )
  for (const place of [server.logged(), history.body, JSON.stringify(dumps)])
    for (const secret of [token, failed.token, 'ann@example.com', 'nobody@example.com'])
      expect(place).not.toContain(secret)
})

test('after twenty within an hour an administrator sends links by hand; another one does not', async () => {
  await addChannel()
  const { client } = await letIn(server, admin, { username: 'max', role: 'admin', reach: null })
  const { id } = await letIn(server, admin, { username: 'eve', role: 'viewer', reach: null })
  const again = async (as = admin) =>
    (await as.post(`/api/people/${id}/invite`, { email: 'eve@example.com' })).json<InvitedPerson>()
  for (let i = 0; i < 20; i++) expect((await again()).mail).toBe('sent')
  const { mail: what, mailProblem, token } = await again()
  expect([what, token]).toEqual(['failed', expect.stringMatching(/^pti_/)])
  expect(mailProblem).toBe('You have sent 20 links by e-mail within an hour. Send this one yourself.')
  expect((await again(client)).mail).toBe('sent')
  server.now += 3_600_000
  await admin.post('/api/account/confirm', { password: TEST_ADMIN.password })
  expect((await again()).mail).toBe('sent')
})
