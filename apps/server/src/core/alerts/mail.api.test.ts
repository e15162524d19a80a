import { startTestServer } from '@postern/testkit/server'
import { duringTest, shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { startMailServer } from '../../../test/mail-server.ts'

const world = { lookup: async () => ['127.0.0.1'], telegram: '', isExempt: () => true, ca: '' }
const server = shared(() => startTestServer({ world: { outside: world } }))

async function test(channel: object) {
  const client = await server.signIn()
  const form = {
    kind: 'email',
    name: 'Mail',
    host: 'mail.example.com',
    sender: 'postern@example.com',
    recipients: ['ann@example.com', 'ops@example.com'],
    ...channel,
  }
  const answer = await client.post('/api/alerts/channel-tests', { channel: form })
  expect(answer.statusCode, answer.body).toBe(200)
  expect(answer.body).not.toContain('from the server')
  return answer.json<{ problem: string | null }>().problem
}

async function startMail(security: 'tls' | 'starttls' | 'none') {
  const mail = await duringTest(() => startMailServer({ security }))
  world.ca = mail.ca
  return mail
}

describe('a message by e-mail', () => {
  it.each(['tls', 'starttls', 'none'] as const)('arrives with %s, signed in', async (security) => {
    const mail = await startMail(security)
    const { port } = mail
    expect(await test({ port, security, username: 'ann', password: 'right password' })).toBeNull()
    expect(mail.mails).toMatchObject([
      {
        from: 'postern@example.com',
        to: ['ann@example.com', 'ops@example.com'],
        username: 'ann',
        isTls: security !== 'none',
      },
    ])
    const [{ text } = { text: '' }] = mail.mails
    expect(text).toMatch(/^From: Postern <postern@example.com>/m)
    expect(text).toMatch(/^Subject: Postern can reach you here/m)
    expect(text).toMatch(/^Auto-Submitted: auto-generated/m)
    expect(text).toMatch(/^Content-Type: text\/plain/m)
    expect(text).toContain('https://203.0.113.1/alerts')
  })

  it('is not sent without TLS where TLS is wanted', async () => {
    const { port, mails } = await startMail('none')
    expect(await test({ port, security: 'starttls', username: 'ann', password: 'right password' })).toMatch(
      /offers no TLS on this port/,
    )
    expect(mails).toEqual([])
  })

  it('is not sent to a server whose certificate is not valid', async () => {
    const { port, mails } = await startMail('tls')
    expect(await test({ host: 'other.example.com', port })).toMatch(/certificate of other.example.com/)
    await startMail('tls')
    expect(await test({ port })).toMatch(/certificate of mail.example.com/)
    expect(mails).toEqual([])
  })

  it.each([
    [{ username: 'ann', password: 'wrong' }, /refused the user name or the password \(535\)/],
    [{ recipients: ['nobody@example.com'] }, /refused the sender or a recipient \(550\)/],
  ])('that is refused with %j is told in our words', async (over, reason) => {
    const { port } = await startMail('tls')
    expect(await test({ port, ...over })).toMatch(reason)
  })

  it('to a server that is away is told', async () => {
    const { port, close } = await startMailServer({ security: 'tls' })
    await close()
    expect(await test({ port })).toMatch(/mail.example.com refused the connection/)
  })
})
