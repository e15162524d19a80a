import { TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, startAlertLab } from '../../../test/alert-lab.ts'

const lab = fresh(startAlertLab)

/** @returns a client of whoever knows the password, from a network where the administrator never was */
async function intrude() {
  const answer = await lab.server.call({
    method: 'POST',
    url: '/api/auth/login',
    remoteAddress: '198.51.100.66',
    payload: TEST_ADMIN,
  })
  expect(answer.statusCode).toBe(200)
  return lab.server.as(answer.json<{ token: string }>().token)
}

const bodies = () => lab.receiver.received.map(({ body }) => JSON.stringify(body))

test('whoever knows the password cannot sign in and delete the channel before it is told', async () => {
  const { id } = await lab.addNtfy()
  const intruder = await intrude()
  expect((await intruder.delete(`/api/alerts/channels/${id}`)).statusCode).toBe(200)
  await lab.pass(2 * MINUTE)
  await until('the message', () => lab.titles().length > 0)
  expect(lab.titles()).toEqual(['admin signed in from a new network'])
  expect(bodies()[0]).toContain('198.51.100.66')
})

test('nor hide among many alerts, nor behind those that wait for the next message', async () => {
  await lab.addNtfy()
  await lab.connectEdge()
  for (let i = 1; i <= 12; i++) {
    const { id } = await lab.client.createNode({ name: `node ${i}` })
    await lab.tell(id, false)
  }
  const hours = { enabled: true, from: '11:00', to: '13:00', timeZone: 'UTC' }
  await lab.client.put('/api/alerts/quiet-hours', hours)
  await lab.pass(10 * MINUTE)
  expect(lab.titles()).toEqual([])
  // They are over, and nobody has looked since: what has waited goes out with the sign-in.
  lab.server.now += 2 * HOUR
  await intrude()
  await lab.pass(20_000)
  expect(lab.titles().slice(0, 2)).toEqual(['admin signed in from a new network', 'Alerts: 12 new'])
  expect(bodies()[0]).toContain('198.51.100.66')
})
