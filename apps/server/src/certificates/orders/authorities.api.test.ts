import type { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { FrontAnswer } from '@postern/testkit/authority/front'
import { problemOf, useOrderDesk, VALID } from '@postern/testkit/authority/order-desk'
import { startPebble } from '@postern/testkit/authority/pebble'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const [HOUR, DAY] = [3_600_000, 86_400_000]

const desk = useOrderDesk()

/** 32 bytes, as authorities give them out. */
const EAB_SECRET = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG'

/**
 * Pebble with renewal information that asks for each certificate to be renewed at once.
 * @returns the ids asked about
 */
function offerRenewalInfo(
  refuse: (order: Record<string, unknown>) => FrontAnswer = () => undefined,
): string[] {
  const ids: string[] = []
  const window = { start: Date.now() - 2000, end: Date.now() - 1000 }
  desk.front.change = ({ url }, body) =>
    url === '/dir'
      ? JSON.stringify({ ...JSON.parse(body), renewalInfo: desk.front.directory.replace('dir', 'info') })
      : body
  desk.front.intercept = ({ url }, payload) => {
    if (url === '/order-plz') return refuse(payload)
    if (!url?.startsWith('/info/')) return undefined
    ids.push(url.slice(6))
    const suggestedWindow = {
      start: new Date(window.start).toISOString(),
      end: new Date(window.end).toISOString(),
    }
    return { status: 200, headers: { 'retry-after': '21600' }, body: { suggestedWindow } }
  }
  return ids
}

/** The first certificate of this domain, and then the renewal that the authority asked for. */
async function renew(domain: string, ids: readonly string[]): Promise<X509Certificate> {
  await desk.whenIs(await desk.create(domain), VALID)
  const first = await desk.shown(domain)
  await until('the authority to be asked', () => ids.length > 0)
  const planned = await until('a plan', async () => {
    const [order] = await desk.orders()
    return order && order.due_at < Date.now() + 2 * HOUR && order.due_at
  })
  expect(planned).toBeGreaterThan(Date.now())
  await desk.setAhead(2 * HOUR)
  await until('the renewal', async () => (await desk.shown(domain)).serialNumber !== first.serialNumber)
  return first
}

test('with renewal information is asked, obeyed, and told which certificate is replaced', async () => {
  const ids = offerRenewalInfo()
  const first = await renew('ari.example.com', ids)
  const [keyId = '', serial = ''] = ids[0]?.split('.') ?? []
  expect(Buffer.from(serial, 'base64url').toString('hex').replace(/^00/, '').toUpperCase()).toBe(
    first.serialNumber,
  )
  expect(Buffer.from(keyId, 'base64url').length).toBe(20)
  expect(desk.front.orders[0]).not.toHaveProperty('replaces')
  expect(desk.front.orders.at(-1)?.replaces).toBe(ids[0])
})

test.each([
  ['alreadyReplaced', 409],
  ['malformed', 400],
])('that refuses the id of the replaced certificate (%s) gets an order without it', async (type, status) => {
  const refused: unknown[] = []
  const ids = offerRenewalInfo(({ replaces }) => {
    if (replaces === undefined) return undefined
    refused.push(replaces)
    return { status, body: problemOf(type, 'not this one') }
  })
  await renew('ari.example.com', ids)
  expect(refused).toEqual([ids[0]])
  expect(desk.front.orders.at(-1)).not.toHaveProperty('replaces')
  expect((await desk.orders())[0]?.failures).toBe(0)
})

test('without renewal information is not told which certificate is replaced', async () => {
  await desk.whenIs(await desk.create('plain.example.com'), VALID)
  await desk.setAhead(61 * DAY)
  await until('the renewal', () => desk.placed().taken === 2)
  for (const order of desk.front.orders) expect(order).not.toHaveProperty('replaces')
})

test('with short lifetimes is asked for the next certificate in time', async () => {
  const short = await startPebble({
    httpPort: desk.httpPort,
    nameServer: desk.names.address,
    life: 6 * 86_400,
  })
  try {
    await desk.restart({ POSTERN_ACME_DIRECTORY: short.directory, POSTERN_ACME_CA_FILE: short.caFile })
    await desk.whenIs(await desk.create('short.example.com'), VALID)
    const [order] = await desk.orders()
    expect((order?.due_at ?? 0) / DAY - Date.now() / DAY).toBeCloseTo(3.85, 0)
  } finally {
    await short.close()
  }
})

test('with a new address gets a new account, and signs all certificates again; meanwhile the old ones stay', async () => {
  const id = await desk.create('move.example.com')
  const { issuer } = await desk.whenIs(id, VALID)
  const first = await desk.shown('move.example.com')
  const other = await startPebble({
    httpPort: desk.httpPort,
    nameServer: desk.names.address,
    bindings: { 'kid-1': EAB_SECRET },
  })
  const settings = { POSTERN_ACME_DIRECTORY: other.directory, POSTERN_ACME_CA_FILE: other.caFile }
  try {
    await desk.restart(settings)
    const failed = await desk.whenIs(id, { step: null, problem: { code: 'account' } })
    expect(failed).toMatchObject({ status: 'valid', issuer })
    expect((await desk.shown('move.example.com')).serialNumber).toBe(first.serialNumber)
    const file = `${desk.server.dataDir}/hmac`
    writeFileSync(file, `${EAB_SECRET}\n`)
    const binding = { POSTERN_ACME_EAB_KID: 'kid-1', POSTERN_ACME_EAB_HMAC_FILE: file }
    await desk.restart({ ...settings, ...binding, POSTERN_ACME_EMAIL: 'ops@example.com' })
    await desk.client.post(`/api/domains/${id}/certificate/retry`)
    await until(
      'the other to have signed',
      async () => (await desk.shown('move.example.com')).serialNumber !== first.serialNumber,
    )
    expect(desk.server.logged()).not.toContain(EAB_SECRET)
    const rows = await desk.server.context.db
      .selectFrom('settings')
      .select('key')
      .where('key', 'like', 'acme.key %')
      .execute()
    expect(rows).toHaveLength(2)
  } finally {
    await other.close()
  }
})

test('without the requested profile lists those it has', async () => {
  await desk.restart({ POSTERN_ACME_PROFILE: 'shortlived' })
  const certificate = await desk.whenIs(await desk.create('profile.example.com'), { status: 'failed' })
  expect(certificate.problem).toMatchObject({ code: 'rejected' })
  expect(certificate.error).toContain('no profile shortlived')
})
