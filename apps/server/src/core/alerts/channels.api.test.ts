import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it, test } from 'vitest'
import { startAlertLab } from '../../../test/alert-lab.ts'

const lab = fresh(startAlertLab)
const url = (path = '') => `http://127.0.0.1:${lab.receiver.port}${path}`
const create = (form: object) => lab.client.post('/api/alerts/channels', form)
const tryOut = (channel: object, id?: number) => lab.client.post('/api/alerts/channel-tests', { channel, id })

const SECRET = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
const LAN = { inPrivateNetwork: true }

/** A channel of each kind, and what opens it. */
const kinds = () => [
  { kind: 'webhook', name: 'Hook', url: url('/hook?key=hidden-1'), signingSecret: SECRET, ...LAN },
  { kind: 'ntfy', name: 'Phone', url: url('/hidden-2'), token: 'tk_hidden3', ...LAN },
  { kind: 'slack', name: 'Team', url: url('/services/hidden-4'), ...LAN },
  { kind: 'discord', name: 'Friends', url: url('/api/webhooks/hidden-5'), ...LAN },
  { kind: 'telegram', name: 'Bot', token: '7:hidden-6', chatId: '-1001' },
]

test('a test message arrives at a channel of each kind, before it is saved', async () => {
  for (const form of kinds()) expect((await tryOut(form)).json(), form.kind).toEqual({ problem: null })
  const [hook, ...others] = lab.receiver.received
  expect(others.map(({ path }) => path)).toEqual([
    '/',
    '/services/hidden-4',
    '/api/webhooks/hidden-5',
    '/bot7%3Ahidden-6/sendMessage',
  ])
  expect(others[0]?.headers.authorization).toBe('Bearer tk_hidden3')
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = hook?.headers ?? {}
  const hmac = createHmac('sha256', '0123456789abcdef01234567').update(`${id}.${at}.${hook?.text}`)
  expect(signature).toBe(`v1,${hmac.digest('base64')}`)
  expect(hook?.body).toMatchObject({ type: 'alert.test', data: { title: 'Postern can reach you here' } })
})

test('no secret of a channel is in an answer, in the log, or readable in the database', async () => {
  for (const form of [...kinds(), { ...MAIL, username: 'ann', password: 'hidden-7' }]) {
    const made = await create(form)
    expect(made.statusCode, made.body).toBe(201)
    const { id } = made.json()
    const changed = await lab.client.patch(`/api/alerts/channels/${id}`, { name: 'Other' })
    expect(changed.statusCode, changed.body).toBe(200)
    for (const text of [made.body, changed.body]) {
      expect(text).not.toContain('hidden')
      expect(text).not.toContain(SECRET)
    }
  }
  const list = await lab.client.get('/api/alerts/channels')
  expect(list.body).not.toContain('hidden')
  expect(list.json().map(({ secrets }: { secrets: string[] }) => secrets)).toEqual([
    ['url', 'signingSecret'],
    ['url', 'token'],
    ['url'],
    ['url'],
    ['token'],
    ['password'],
  ])
  lab.receiver.feel({ status: 404 })
  expect((await tryOut(kinds()[2] ?? {})).json().problem).toBe(
    '127.0.0.1 knows no such address (404). It may have been deleted.',
  )
  expect(lab.server.logged()).not.toContain('hidden')
  const { database } = lab.server.context.config.paths
  const stored = [database, `${database}-wal`].map((file) => readFileSync(file, 'latin1')).join('')
  expect(stored).not.toContain('hidden')
  expect(stored).not.toContain(SECRET)
})

const MAIL = {
  kind: 'email',
  name: 'Mail',
  host: 'mail.example.com',
  port: 465,
  sender: 'postern@example.com',
  recipients: ['ann@example.com'],
}

describe('a stored secret', () => {
  it('is used for a test of its channel, and stays when other fields change', async () => {
    const [, ntfy = {}] = kinds()
    const { id } = (await create(ntfy)).json()
    await lab.client.patch(`/api/alerts/channels/${id}`, { name: 'My phone', url: null, token: null })
    expect((await tryOut({ ...ntfy, url: null, token: null }, id)).json()).toEqual({ problem: null })
    expect(lab.receiver.received[0]?.headers.authorization).toBe('Bearer tk_hidden3')
  })

  it('goes to no other server', async () => {
    const [, ntfy = {}] = kinds()
    const phone = (await create(ntfy)).json().id
    const mail = (await create({ ...MAIL, username: 'ann', password: 'hidden-7' })).json().id
    const moved = [
      lab.client.patch(`/api/alerts/channels/${phone}`, { url: 'https://evil.example.com/a' }),
      lab.client.patch(`/api/alerts/channels/${mail}`, { host: 'evil.example.com' }),
      lab.client.patch(`/api/alerts/channels/${mail}`, { security: 'none' }),
    ]
    const fields = (await Promise.all(moved)).map((answer) => [
      answer.statusCode,
      answer.json().errors[0].field,
    ])
    expect(fields).toEqual([
      [422, 'token'],
      [422, 'password'],
      [422, 'password'],
    ])
    const tried = await tryOut({ ...ntfy, url: url('/b'), token: null }, phone)
    expect(tried.json().errors[0].field).toBe('channel.token')
    expect(lab.receiver.received).toEqual([])
  })

  it('that can be left out is removed by a blank', async () => {
    const { id } = (await create(kinds()[1] ?? {})).json()
    const changed = await lab.client.patch(`/api/alerts/channels/${id}`, { token: '' })
    expect(changed.json().secrets).toEqual(['url'])
  })
})

test.each<[string, object, string]>([
  ['no address', { kind: 'slack', name: 'a' }, 'url'],
  ['no signing secret', { kind: 'webhook', name: 'a', url: 'https://a.example.com' }, 'signingSecret'],
  [
    'a short signing secret',
    { kind: 'webhook', name: 'a', url: 'https://a.example.com', signingSecret: 'whsec_YQ==' },
    'signingSecret',
  ],
  ['plain HTTP', { kind: 'slack', name: 'a', url: 'http://a.example.com' }, 'url'],
  ['another scheme', { kind: 'slack', name: 'a', url: 'file:///etc/passwd' }, 'url'],
  ['a password in the address', { kind: 'slack', name: 'a', url: 'https://a:b@a.example.com' }, 'url'],
  ['no chat', { kind: 'telegram', name: 'a', token: '1:a' }, 'chatId'],
  ['a line break in a token', { kind: 'telegram', name: 'a', token: '1:a\r\nx: y', chatId: '1' }, 'token'],
  ['no recipients', { ...MAIL, recipients: [] }, 'recipients'],
  ['a header in the sender', { ...MAIL, sender: 'a@example.com\r\nBcc: b@example.com' }, 'sender'],
  ['a command in the host', { ...MAIL, host: 'a.example.com\r\nQUIT' }, 'host'],
])('a channel with %s is refused at its field', async (_what, form, field) => {
  const answer = await create(form)
  expect(answer.statusCode).toBe(422)
  expect(answer.json().errors.map((error: { field: string }) => error.field)).toEqual([field])
})

test('a deleted channel is told nothing more, and stays in the history', async () => {
  const { id } = await lab.addNtfy()
  lab.receiver.feel({ status: 500 })
  await lab.pass(4 * 60_000)
  expect(await lab.history()).toMatchObject([{ status: 'waiting', title: 'The edge Local is gone' }])
  await lab.client.delete(`/api/alerts/channels/${id}`)
  lab.receiver.feel({ status: 200 })
  await lab.pass(10 * 60_000)
  expect(lab.titles()).toEqual([])
  expect(await lab.history()).toMatchObject([
    { status: 'failed', channelName: 'Phone', problem: 'The channel was deleted.' },
  ])
})

test('there are at most so many tests in ten minutes', async () => {
  const [hook = {}] = kinds()
  const answers = []
  for (let i = 0; i < 31; i++) answers.push((await tryOut(hook)).statusCode)
  expect(answers.filter((status) => status === 200)).toHaveLength(30)
  expect(answers.at(-1)).toBe(429)
})

test('a new key opens the secrets of channels too', async () => {
  const { id } = await lab.addNtfy({ token: 'tk_hidden3' })
  const { rotateSecretKey } = await import('../secrets/key-rotation.ts')
  await lab.server.restart({}, async () => {
    const { openDatabase } = await import('../../db/open.ts')
    const { database, secretKey } = lab.server.context.config.paths
    const db = openDatabase(database)
    await rotateSecretKey(db, secretKey)
    await db.destroy()
  })
  const client = await lab.server.signIn()
  const form = { kind: 'ntfy', name: 'Phone', ...LAN }
  const answer = await client.post('/api/alerts/channel-tests', { channel: form, id })
  expect(answer.json()).toEqual({ problem: null })
  expect(lab.receiver.received[0]?.headers.authorization).toBe('Bearer tk_hidden3')
})
