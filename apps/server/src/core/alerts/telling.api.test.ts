import type { Delivery } from '@postern/contract/alerts/alerts'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, startAlertLab } from '../../../test/alert-lab.ts'

const lab = fresh(startAlertLab)
const DAY = 24 * HOUR

/** Lost nodes that are told at the end of six minutes. */
async function lose(count: number) {
  await lab.connectEdge()
  const ids: number[] = []
  for (let i = 1; i <= count; i++) {
    const { id } = await lab.client.createNode({ name: `node ${i}` })
    await lab.tell(id, false)
    ids.push(id)
  }
  return ids
}

test('what lasts is told again each day, and once more when it ends', async () => {
  await lab.addNtfy()
  const [node = 0] = await lose(1)
  await lab.pass(7 * MINUTE)
  lab.server.now += DAY - MINUTE
  await lab.pass(2 * MINUTE)
  expect(lab.titles()).toEqual(['node 1 is offline', 'Still: node 1 is offline'])
  expect(lab.receiver.received[1]?.body.message).toContain('another day')
  await lab.tell(node, true)
  await lab.pass(2 * MINUTE)
  await lab.pass(2 * MINUTE)
  expect(lab.titles().slice(2)).toEqual(['node 1 is online again'])
})

test('many at once become one message', async () => {
  await lab.addNtfy()
  await lose(12)
  await lab.pass(7 * MINUTE)
  expect(lab.titles()).toEqual(['Alerts: 12 new'])
  const text = String(lab.receiver.received[0]?.body.message)
  expect(text).toMatch(/^- node 1 is offline\n/)
  expect(text).toMatch(/\nand 2 more$/)
  expect(await lab.open()).toHaveLength(12)
})

test('a restart sends nothing twice and loses nothing', async () => {
  await lab.addNtfy()
  const [node = 0] = await lose(1)
  lab.receiver.feel({ status: 503 })
  await lab.pass(7 * MINUTE)
  expect(lab.titles()).toEqual([])
  await lab.restart()
  lab.receiver.feel({ status: 200 })
  // Before any edge has said anything, nothing is over either.
  await lab.pass(MINUTE)
  expect(lab.titles()).toEqual(['node 1 is offline'])
  await lab.connectEdge()
  await lab.tell(node, false)
  await lab.pass(10 * MINUTE)
  await lab.restart()
  await lab.pass(10 * MINUTE)
  expect(lab.titles().filter((title) => title.startsWith('node'))).toEqual(['node 1 is offline'])
  await lab.connectEdge()
  await lab.tell(node, true)
  await lab.pass(3 * MINUTE)
  expect(lab.titles()).toContain('node 1 is online again')
})

test('a message that does not arrive is tried for a day, then has failed', async () => {
  await lab.addNtfy()
  await lose(1)
  lab.receiver.feel({ status: 500 })
  await lab.pass(7 * MINUTE)
  const first = lab.receiver.asked()
  expect(first).toBeGreaterThan(0)
  await lab.pass(HOUR)
  expect(lab.receiver.asked() - first).toBeLessThan(10)
  expect(await lab.history()).toMatchObject([
    {
      status: 'waiting',
      event: 'opened',
      channelName: 'Phone',
      problem: '127.0.0.1 answered 500.',
      sentAt: null,
    },
  ])
  lab.server.now += DAY
  await lab.pass(HOUR)
  const old = (await lab.history()).at(-1)
  expect(old).toMatchObject({ status: 'failed', title: 'node 1 is offline' })
  const [channel] = (await lab.client.get('/api/alerts/channels')).json()
  expect(channel.last.problem).toBe('127.0.0.1 answered 500.')
})

test('a channel that asks us to wait is left in peace for as long', async () => {
  await lab.addNtfy()
  await lose(1)
  lab.receiver.feel({ status: 429, headers: { 'retry-after': '1800.0005' } })
  await lab.pass(7 * MINUTE)
  lab.receiver.feel({ status: 200 })
  await lab.pass(25 * MINUTE)
  expect(lab.titles()).toEqual([])
  await lab.pass(10 * MINUTE)
  expect(lab.titles()).toEqual(['node 1 is offline'])
})

test('quiet hours hold what can wait, and forget what is over by then', async () => {
  await lab.addNtfy()
  await lab.client.put('/api/alerts/quiet-hours', {
    enabled: true,
    from: '11:00',
    to: '13:00',
    timeZone: 'UTC',
  })
  const [first = 0, second = 0] = await lose(2)
  await lab.pass(10 * MINUTE)
  expect(await lab.open()).toMatchObject([{ firstTold: null }, { firstTold: null }])
  await lab.tell(second, true)
  await lab.pass(40 * MINUTE)
  expect(lab.titles()).toEqual([])
  await lab.pass(12 * MINUTE)
  expect(lab.titles()).toEqual(['node 1 is offline'])
  await lab.client.put('/api/alerts/quiet-hours', {
    enabled: true,
    from: '11:00',
    to: '14:00',
    timeZone: 'UTC',
  })
  await lab.tell(first, true)
  await lab.pass(40 * MINUTE)
  expect(lab.titles()).toHaveLength(1)
  await lab.pass(30 * MINUTE)
  expect(lab.titles()[1]).toBe('node 1 is online again')
})

test('an edge that is gone is told in quiet hours too', async () => {
  await lab.addNtfy()
  await lab.client.put('/api/alerts/quiet-hours', {
    enabled: true,
    from: '00:00',
    to: '23:59',
    timeZone: 'UTC',
  })
  await lab.pass(4 * MINUTE)
  expect(lab.titles()).toEqual(['The edge Local is gone'])
  expect(lab.receiver.received[0]?.body.priority).toBe(5)
})

test('a muted node or service is no alert until its time is over, and what was open is over without a word', async () => {
  await lab.addNtfy()
  const [node = 0] = await lose(1)
  await lab.pass(7 * MINUTE)
  const until = new Date(lab.server.now + HOUR).toISOString()
  const muted = await lab.client.patch(`/api/nodes/${node}/mute`, { until })
  expect(muted.json()).toMatchObject({ mute: { until } })
  await lab.pass(50 * MINUTE)
  expect(await lab.open()).toEqual([])
  expect(lab.titles()).toEqual(['node 1 is offline'])
  await lab.pass(20 * MINUTE)
  expect(lab.titles()).toEqual(['node 1 is offline', 'node 1 is offline'])
  expect((await lab.client.get(`/api/nodes/${node}`)).json().mute).toBeNull()

  await lab.tell(node, true)
  const form = { name: 'wiki', domain: 'wiki.example.com', backendPort: 80, skipValidation: true }
  const { id } = (await lab.client.post(`/api/services/${node}/http`, form)).json()
  const url = `/api/services/${node}/http/${id}`
  expect((await lab.client.patch(`${url}/mute`, {})).json()).toMatchObject({ mute: { until: null } })
  await lab.trouble(id, 'refused')
  await lab.pass(30 * MINUTE)
  expect(lab.titles()).toHaveLength(3)
  expect((await lab.client.patch(`${url}/unmute`)).json()).toMatchObject({ mute: null })
  await lab.pass(7 * MINUTE)
  expect(lab.titles()[3]).toBe('wiki on node 1 does not answer')
})

test('old history goes, and what is open or waits stays', async () => {
  await lab.addNtfy()
  await lose(1)
  await lab.pass(7 * MINUTE)
  lab.receiver.feel({ status: 500 })
  lab.server.now += 91 * DAY
  await lab.pass(MINUTE)
  const client = await lab.server.signIn()
  const history = (await client.get('/api/alerts/deliveries')).json<Delivery[]>()
  expect(history.map(({ event, status }) => [event, status])).toEqual([['repeated', 'waiting']])
  expect((await client.get('/api/alerts')).json()).toHaveLength(1)
})
