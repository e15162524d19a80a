import { X509Certificate } from 'node:crypto'
import { msOf, NOWHERE, useOrderDesk, VALID } from '@postern/testkit/authority/order-desk'
import { ALL_OK, fetchState } from '@postern/testkit/edge-client'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const desk = useOrderDesk()

test("a domain gets a certificate that the authority's root verifies, and nothing is left over", async () => {
  const id = await desk.create('app.example.com')
  const certificate = await desk.whenIs(id, VALID)
  expect(certificate.issuer).toMatch(/^Pebble/)
  const leaf = await desk.shown('app.example.com')
  expect(leaf.checkHost('app.example.com')).toBe('app.example.com')
  expect(leaf.validTo).toBe(new X509Certificate(leaf.raw).validTo)
  const { sections } = await fetchState(desk.server)
  expect(sections.challenges).toEqual([])
  expect(await desk.orders()).toMatchObject([{ step: null, url: null, private_key: null, failures: 0 }])
  expect(desk.edge.looked).toEqual(expect.arrayContaining(['app.example.com answered']))
  const renewal = (await desk.orders())[0]?.due_at ?? 0
  const life = msOf(certificate.notAfter) - msOf(certificate.notBefore)
  expect((renewal - msOf(certificate.notBefore)) / life).toBeGreaterThan(0.6)
  expect((renewal - msOf(certificate.notBefore)) / life).toBeLessThanOrEqual(2 / 3)
})

test('no key of the account or of a certificate is in an answer, a log, or readable in the database', async () => {
  const id = await desk.create('app.example.com')
  await desk.whenIs(id, VALID)
  const { sections } = await fetchState(desk.server)
  const key =
    sections.certificates.find(({ domains }) => domains.includes('app.example.com'))?.privateKey ?? ''
  const secret = key.split('\n')[1] ?? 'missing'
  const answers = await Promise.all([desk.client.get('/api/domains'), desk.client.get(`/api/domains/${id}`)])
  for (const text of [...answers.map(({ body }) => body), desk.server.logged()]) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain('PRIVATE KEY')
  }
  const settings = await desk.server.context.db.selectFrom('settings').selectAll().execute()
  const certificates = await desk.server.context.db.selectFrom('certificates').selectAll().execute()
  for (const text of [JSON.stringify(settings), JSON.stringify(certificates)]) {
    expect(text).not.toContain('PRIVATE KEY')
    expect(text).not.toContain(secret)
  }
})

test('the authority is asked to check only when the edge has the answer', async () => {
  await desk.edge.pause(true)
  const id = await desk.create('slow.example.com')
  await desk.whenIs(id, { step: 'preparing' })
  expect(desk.front.asked.filter((asked) => asked.includes('/chalZ/'))).toEqual([])
  await desk.edge.pause(false)
  await desk.whenIs(id, VALID)
  expect(desk.edge.looked).not.toContain('slow.example.com unknown')
})

test('a failing tunnel and firewall do not delay an order', async () => {
  const failed = { state: 'failed', detail: 'broken' } as const
  desk.edge.over = (revision) => ({
    applied: 0,
    inForce: { haproxy: revision, wireguard: 0, nftables: 0 },
    dataPlane: { ...ALL_OK, wireguard: failed, nftables: failed },
  })
  await desk.whenIs(await desk.create('app.example.com'), VALID)
})

test('a restart goes on with the order that was under way', async () => {
  await desk.edge.pause(true)
  const id = await desk.create('again.example.com')
  await desk.whenIs(id, { step: 'preparing' })
  expect(desk.placed().taken).toBe(1)
  await desk.restart()
  await desk.whenIs(id, VALID)
  expect(desk.placed().taken).toBe(1)
})

test('a domain that is renamed meanwhile gets a new order, and a self-signed certificate until then', async () => {
  await desk.edge.pause(true)
  const id = await desk.create('before.example.com')
  await desk.whenIs(id, { step: 'preparing' })
  desk.names.answers.set('after.example.com', ['127.0.0.1'])
  const renamed = await desk.client.patch(`/api/domains/${id}`, { domain: 'after.example.com' })
  expect(renamed.json()).toMatchObject({ ssl: 'certbot', certificate: { kind: 'self-signed' } })
  expect((await desk.shown('after.example.com')).issuer).toContain('Postern Root')
  await desk.edge.pause(false)
  const certificate = await desk.whenIs(id, VALID)
  expect(certificate.issuer).toMatch(/^Pebble/)
  const leaf = await desk.shown('after.example.com')
  expect(leaf.checkHost('after.example.com')).toBe('after.example.com')
  expect(leaf.checkHost('before.example.com')).toBeUndefined()
})

test('an order that the authority has forgotten is placed again', async () => {
  await desk.edge.pause(true)
  const id = await desk.create('lost.example.com')
  await desk.whenIs(id, { step: 'preparing' })
  await desk.server.context.db
    .updateTable('orders')
    .set(({ eb }) => ({ url: eb('url', '||', 'x') }))
    .execute()
  await desk.restart()
  await desk.whenIs(id, VALID)
  expect(desk.placed().taken).toBe(2)
})

test('changing to self-signed in the middle ends the order, and so does deleting the domain', async () => {
  await desk.edge.pause(true)
  const [one, two] = [await desk.create('one.example.com'), await desk.create('two.example.com')]
  await desk.whenIs(one, { step: 'preparing' })
  await desk.whenIs(two, { step: 'preparing' })
  await desk.client.patch(`/api/domains/${one}`, { ssl: 'self-signed' })
  await desk.client.delete(`/api/domains/${two}`)
  expect((await fetchState(desk.server)).sections.challenges).toEqual([])
  expect(await desk.orders()).toEqual([])
  await until(
    'the authority to be told',
    () => desk.front.asked.filter((asked) => asked.includes('/authZ/')).length >= 4,
  )
  await desk.edge.pause(false)
  expect(await desk.read(one)).toMatchObject({ status: 'valid', kind: 'self-signed', step: null })
  const { sections } = await fetchState(desk.server)
  expect(sections.certificates.flatMap(({ domains }) => domains)).toEqual(['one.example.com'])
})

/** On a busy machine one may fail, and is placed again within a minute. */
const PLACED_AGAIN = { timeoutMs: 150_000 }

test('sixty at once never block the server for long, and at most 20 are open', async () => {
  let [longest, most, last] = [0, 0, process.threadCpuUsage()]
  // Only this thread's time, so that other load on the machine does not count.
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    longest = Math.max(longest, (user + system) / 1000)
  }, 1)
  // Each waits after it was opened, until all are open.
  await desk.edge.pause(true)
  const ids: number[] = []
  for (let n = 0; n < 60; n++) ids.push(await desk.create(`many${n}.example.com`))
  const isOpen = ({ step }: { step: string | null }) => step !== null && step !== 'queued'
  await until(
    'twenty to wait',
    async () => (await desk.orders()).filter((row) => row.step === 'preparing').length === 20,
  )
  await desk.edge.pause(false)
  await until(
    'all to be valid',
    async () => {
      const rows = await desk.orders()
      most = Math.max(most, rows.filter(isOpen).length)
      return rows.every(
        ({ step, problem, directory }) => step === null && problem === null && directory !== null,
      )
    },
    PLACED_AGAIN,
  )
  clearInterval(timer)
  process.stdout.write(`60 certificates: at most ${most} open, ${longest.toFixed(1)} ms at a stretch\n`)
  for (const id of ids) expect(await desk.read(id)).toMatchObject(VALID)
  expect(most).toBeLessThanOrEqual(20)
  // 50 ms, five times.
  expect(longest).toBeLessThan(250)
})

const DAY = 86_400_000

test('comes after two thirds of the lifetime, and a failed one leaves the present certificate', async () => {
  const id = await desk.create('app.example.com')
  await desk.whenIs(id, VALID)
  const first = await desk.shown('app.example.com')
  desk.names.answers.set('app.example.com', [NOWHERE])
  await desk.setAhead(61 * DAY)
  const failed = await desk.whenIs(id, {
    status: 'valid',
    kind: 'certbot',
    step: null,
    problem: { code: 'unreachable' },
  })
  expect(failed.renewalFailing).toBe(false)
  expect((await desk.shown('app.example.com')).serialNumber).toBe(first.serialNumber)
  expect(msOf(failed.nextTryAt) - Date.now() - desk.ahead).toBeLessThanOrEqual(60_000)
  await desk.setAhead(77 * DAY)
  expect(await desk.read(id)).toMatchObject({ status: 'valid', renewalFailing: true })
  desk.names.answers.set('app.example.com', ['127.0.0.1'])
  await desk.setAhead(61 * DAY)
  await desk.client.post(`/api/domains/${id}/certificate/retry`)
  await desk.whenIs(id, VALID)
  expect((await desk.shown('app.example.com')).serialNumber).not.toBe(first.serialNumber)
})
