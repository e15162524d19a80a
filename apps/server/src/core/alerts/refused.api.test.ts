import { publishAs } from '@postern/testkit/agent-calls'
import { TEST_ADMIN } from '@postern/testkit/server'
import { duringTest, fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, startAlertLab } from '../../../test/alert-lab.ts'
import { startMailServer } from '../../../test/mail-server.ts'

const lab = fresh(startAlertLab)
/** What filters of mail refuse by agreement, so that people can try them. */
const REFUSED = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

async function addMail() {
  const mail = await duringTest(() => startMailServer({ security: 'none', refuses: REFUSED }))
  const form = {
    ...{ kind: 'email', name: 'Mail', host: 'mail.example.com', port: mail.port, security: 'none' },
    ...{ inPrivateNetwork: true, sender: 'postern@example.com', recipients: ['ann@example.com'] },
  }
  const answer = await lab.client.post('/api/alerts/channels', form)
  expect(answer.statusCode, answer.body).toBe(201)
  return () => mail.mails.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim())
}

/** An agent publishes a service with a name of its choice, which then does not answer. */
async function publishUnanswered(name: string) {
  const node = await lab.client.createNode({ name: 'edge node', agentMayPublish: true })
  await lab.tell(node.id, true)
  const [made] = await publishAs(lab.server, node.token, [{ key: 'x', type: 'tcp', name, backendPort: 9 }])
  await lab.trouble((made as { id: number }).id, 'refused')
}

async function loseNode(name: string) {
  const { id } = await lab.client.createNode({ name })
  await lab.tell(id, true)
  await lab.pass(2 * MINUTE)
  await lab.tell(id, false)
}

async function signInFromElsewhere() {
  const from = { method: 'POST', url: '/api/auth/login', remoteAddress: '198.51.100.66' } as const
  expect((await lab.server.call({ ...from, payload: TEST_ADMIN })).statusCode).toBe(200)
}

test('a name that a mail server refuses holds up nothing: its message goes without names', async () => {
  const subjects = await addMail()
  await lab.connectEdge()
  await publishUnanswered(REFUSED)
  await lab.pass(7 * MINUTE)
  expect(subjects()).toEqual(['An alert has begun'])
  await loseNode('good')
  await lab.pass(10 * MINUTE)
  expect(subjects()).toEqual(['An alert has begun', 'good is offline'])
  expect((await lab.history()).at(-1)).toMatchObject({
    status: 'sent',
    problem:
      'mail.example.com refused the message (554). So it went without names, which some filters do not like.',
  })
})

test('so does an HTTP channel’s', async () => {
  await lab.addNtfy()
  await lab.connectEdge()
  lab.receiver.feel({ status: 200, refuses: 'casino' })
  await publishUnanswered('casino')
  await lab.pass(7 * MINUTE)
  expect(lab.titles()).toEqual(['An alert has begun'])
  expect(lab.receiver.received[0]?.text).not.toContain('casino')
})

test('a channel that refuses everything for good loses nothing, and gets the messages in order', async () => {
  await lab.addNtfy()
  await lab.connectEdge()
  lab.receiver.feel({ status: 400 })
  await loseNode('first')
  await lab.pass(7 * MINUTE)
  await loseNode('second')
  await lab.pass(7 * MINUTE)
  lab.receiver.feel({ status: 200 })
  await lab.pass(2 * HOUR)
  expect(lab.titles()).toEqual(['first is offline', 'second is offline'])
})

test('what is urgent overtakes what a channel does not take now', async () => {
  await lab.addNtfy()
  await lab.connectEdge()
  lab.receiver.feel({ status: 500, refuses: 'casino' })
  await publishUnanswered('casino')
  await lab.pass(HOUR)
  lab.receiver.feel({ status: 200 })
  await signInFromElsewhere()
  await lab.pass(20_000)
  expect(lab.titles()).toEqual(['admin signed in from a new network'])
  await lab.pass(2 * HOUR)
  expect(lab.titles()[1]).toBe('casino on edge node does not answer')
})
