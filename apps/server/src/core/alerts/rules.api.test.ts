import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'
import { MINUTE, startAlertLab } from '../../../test/alert-lab.ts'

const lab = fresh(startAlertLab)

async function publish(nodeId: number, name: string) {
  const form = { name, domain: `${name}.example.com`, backendPort: 80, skipValidation: true }
  const answer = await lab.client.post(`/api/services/${nodeId}/http`, form)
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json<{ id: number }>().id
}

/** A settled edge, and a node that is online. */
async function startSite() {
  await lab.connectEdge()
  await lab.addNtfy()
  const { id } = await lab.client.createNode({ name: 'office' })
  await lab.tell(id, true)
  await lab.pass(2 * MINUTE)
  expect(lab.titles()).toEqual([])
  return id
}

test('a node that is lost for five minutes is told once, with its services in the one message, and told again when it is back', async () => {
  const node = await startSite()
  const service = await publish(node, 'wiki')
  await lab.tell(node, false)
  await lab.trouble(service, 'unreachable')
  await lab.pass(4 * MINUTE)
  expect(lab.titles()).toEqual([])
  await lab.pass(2 * MINUTE)
  expect(lab.titles()).toEqual(['office is offline'])
  expect(await lab.open()).toMatchObject([{ kind: 'node-lost', name: 'office', nodeId: node }])
  await lab.pass(60 * MINUTE)
  expect(lab.titles()).toHaveLength(1)
  await lab.tell(node, true)
  await lab.trouble(service, null)
  await lab.pass(2 * MINUTE)
  expect(lab.titles()).toEqual(['office is offline', 'office is online again'])
  expect(await lab.open()).toEqual([])
})

test('a node that a person disconnected, or that was never there, is no alert', async () => {
  const node = await startSite()
  await lab.client.createNode({ name: 'new' })
  await lab.tell(node, false)
  await lab.client.patch(`/api/nodes/${node}/disable`)
  await lab.pass(10 * MINUTE)
  expect(lab.titles()).toEqual([])
})

test('a service that does not answer is told with its node, its address and a link to Why?', async () => {
  const node = await startSite()
  const service = await publish(node, 'wiki')
  await lab.trouble(service, 'refused')
  await lab.pass(6 * MINUTE)
  expect(lab.titles()).toEqual(['wiki on office does not answer'])
  const [{ body } = { body: {} }] = lab.receiver.received
  expect(body).toMatchObject({ topic: 'my-alerts', priority: 4, tags: ['rotating_light'] })
  expect(body).toMatchObject({
    click: 'https://203.0.113.1/why?url=https%3A%2F%2Fwiki.example.com%2F',
    message: expect.stringMatching(
      /^The service refused the connection.*\nNode: office\nAddress: https:\/\/wiki\.example\.com\/\nSince: 2 Mar 2026, 12:02 UTC$/s,
    ),
  })
  await lab.trouble(service, null)
  await lab.pass(2 * MINUTE)
  expect(lab.titles()[1]).toBe('wiki on office answers again')
})

test('a service that answers in between, or that is disabled, is no alert', async () => {
  const node = await startSite()
  const service = await publish(node, 'wiki')
  await lab.trouble(service, 'refused')
  await lab.pass(4 * MINUTE)
  await lab.trouble(service, null)
  await lab.pass(MINUTE)
  await lab.trouble(service, 'refused')
  await lab.pass(4 * MINUTE)
  await lab.client.patch(`/api/services/${node}/http/${service}/disable`)
  await lab.pass(4 * MINUTE)
  expect(lab.titles()).toEqual([])
})

test('an edge that is gone is told, and nothing of nodes and services that nobody sees then', async () => {
  const node = await startSite()
  const service = await publish(node, 'wiki')
  await lab.trouble(service, 'refused')
  await lab.pass(6 * MINUTE)
  await lab.disconnectEdge()
  await lab.pass(3 * MINUTE)
  expect(lab.titles()).toEqual(['wiki on office does not answer', 'The edge Local is gone'])
  await lab.pass(20 * MINUTE)
  expect(lab.titles()).toHaveLength(2)
  expect((await lab.open()).map(({ kind }) => kind).sort()).toEqual(['edge-gone', 'service-unanswered'])
  await lab.connectEdge()
  await lab.pass(2 * MINUTE)
  expect(lab.titles()[2]).toBe('The edge Local is back')
})

test('a problem of the edge, and changes that wait for a person', async () => {
  await startSite()
  const message = 'The state cannot be saved: the disk is full.'
  await lab.report(1_000_001, { problems: [{ scope: { kind: 'edge' }, message }], isStuck: true })
  await lab.pass(12 * MINUTE)
  expect(lab.titles()).toEqual(['The edge Local has a problem', 'The edge Local needs a person'])
  expect(lab.receiver.received[0]?.body.message).toContain(message)
  await lab.report(1_000_002)
  await lab.pass(2 * MINUTE)
  expect(lab.titles().slice(2)).toEqual([
    'The edge Local works again',
    'The edge Local needs nobody any more',
  ])
})

test('a disk that is nearly full', async () => {
  await startSite()
  lab.disk.free = 9
  await lab.pass(6 * MINUTE)
  expect(lab.titles()).toEqual(['The disk of the server is nearly full'])
  lab.disk.free = 20
  await lab.pass(2 * MINUTE)
  expect(lab.titles()[1]).toBe('The disk of the server has room again')
})

test('the disk of an edge that is nearly full, where it is not the server’s', async () => {
  await startSite()
  lab.disk.free = 5
  await lab.lookAt({ disk: { free: 5, total: 100 } })
  await lab.pass(6 * MINUTE)
  expect(lab.titles()).toEqual(['The disk of the server is nearly full'])
  await lab.lookAt({ disk: { free: 9e9, total: 1e11 } })
  await lab.pass(6 * MINUTE)
  expect(lab.titles().slice(1)).toEqual(['The disk of the edge Local is nearly full'])
  expect(lab.receiver.received[1]?.body.message).toContain('Only 9 % (8583 MB) of the disk')
  await lab.disconnectEdge()
  await lab.pass(MINUTE)
  await lab.connectEdge()
  await lab.pass(2 * MINUTE)
  expect((await lab.open()).map(({ kind }) => kind)).toEqual(['disk-full', 'disk-full'])
  await lab.lookAt({ disk: { free: 5e10, total: 1e11 } })
  await lab.pass(2 * MINUTE)
  expect(lab.titles().at(-1)).toBe('The disk of the edge Local has room again')
})

test('security updates that wait on the edge’s machine, until they are installed', async () => {
  await startSite()
  const updates = [
    { name: 'haproxy', installed: '3.0.11-1+deb13u1', candidate: '3.0.11-1+deb13u2' },
    { name: 'nftables', installed: '1.1.3-1', candidate: '1.1.3-1+deb13u1' },
  ]
  await lab.lookAt({ updates })
  await lab.pass(9 * MINUTE)
  expect(lab.titles()).toEqual([])
  await lab.pass(2 * MINUTE)
  expect(lab.titles()).toEqual(['Security updates wait on the edge Local'])
  const text = String(lab.receiver.received[0]?.body.message)
  expect(text).toContain(
    'haproxy (3.0.11-1+deb13u1 → 3.0.11-1+deb13u2), nftables (1.1.3-1 → 1.1.3-1+deb13u1)',
  )
  expect(text).toContain('apt-get install --only-upgrade haproxy nftables')
  // The machine starts anew, and nobody has looked yet; then an edge that says nothing of updates.
  await lab.lookAt({ updates: null })
  await lab.pass(5 * MINUTE)
  await lab.lookAt({})
  await lab.pass(5 * MINUTE)
  // Changes that wait beside them are another alert.
  await lab.report(1_000_001, { isStuck: true })
  await lab.pass(11 * MINUTE)
  expect(lab.titles().slice(1)).toEqual(['The edge Local needs a person'])
  expect(await lab.open()).toHaveLength(2)
  lab.server.now += 24 * 60 * MINUTE
  await lab.pass(MINUTE)
  expect(lab.titles()).toContain('Still: Security updates wait on the edge Local')
  await lab.lookAt({ updates: [] })
  await lab.pass(2 * MINUTE)
  expect(lab.titles().at(-1)).toBe('The edge Local has its security updates')
})

test('an edge of another version than the server', async () => {
  await startSite()
  lab.edge.send({ type: 'hello', version: '0.0.9', epoch: 'e1' })
  await until('it to be known', async () => (await lab.server.context.edges.list())[0]?.version === '0.0.9')
  await lab.pass(11 * MINUTE)
  expect(lab.titles()).toEqual(['The edge Local needs a person'])
  expect(lab.receiver.received[0]?.body.message).toContain('It runs version 0.0.9')
})

test('a certificate that ends in fourteen days and whose renewal fails', async () => {
  await startSite()
  const { id } = await lab.client.createDomain({ domain: 'app.example.com', skipValidation: true })
  const { db } = lab.server.context
  const ends = (days: number) => new Date(lab.server.now + days * 24 * 60 * MINUTE).toISOString()
  const fail = (not_after: string, error: string | null) =>
    db
      .updateTable('certificates' as never)
      .set({ not_before: ends(-76), not_after, error } as never)
      .where('domain_id' as never, '=', id as never)
      .execute()
  await fail(ends(20), 'The authority was not reached.')
  await lab.pass(3 * MINUTE)
  expect(lab.titles()).toEqual([])
  await fail(ends(13), 'The authority was not reached.')
  await lab.pass(3 * MINUTE)
  expect(lab.titles()).toEqual(['The certificate of app.example.com ends soon'])
  expect(lab.receiver.received[0]?.body.message).toContain('The authority was not reached.')
  await fail(ends(90), null)
  await lab.pass(2 * MINUTE)
  expect(lab.titles()[1]).toBe('The certificate of app.example.com is fine again')
})

test('a sign-in from a new network is told once, even in quiet hours, and not from a known one', async () => {
  await startSite()
  const signIn = (remoteAddress: string) =>
    lab.server.call({
      method: 'POST',
      url: '/api/auth/login',
      remoteAddress,
      payload: { username: 'admin', password: 'correct horse battery' },
    })
  await lab.client.put('/api/alerts/quiet-hours', { enabled: true, from: '00:00', to: '23:59' })
  expect((await signIn('198.51.100.7')).statusCode).toBe(200)
  await lab.pass(MINUTE)
  expect(lab.titles()).toEqual(['admin signed in from a new network'])
  expect(lab.receiver.received[0]?.body).toMatchObject({
    priority: 5,
    message: expect.stringContaining('198.51.100.7'),
  })
  expect((await signIn('198.51.100.7')).statusCode).toBe(200)
  expect((await signIn('127.0.0.1')).statusCode).toBe(200)
  await lab.pass(30 * MINUTE)
  expect(lab.titles()).toHaveLength(1)
  expect(await lab.open()).toEqual([])
})

test('a rule that is turned off finds nothing, and what it had found is over without a word', async () => {
  const node = await startSite()
  await lab.tell(node, false)
  await lab.pass(6 * MINUTE)
  const { id } = await lab.rule('node-lost')
  const off = await lab.client.patch(`/api/alerts/built-in-rules/${id}`, { enabled: false })
  expect(off.json()).toMatchObject({ enabled: false, minutes: 5 })
  await lab.pass(MINUTE)
  expect(await lab.open()).toEqual([])
  expect(lab.titles()).toEqual(['office is offline'])
})
