import { MESSAGES } from '@postern/contract/messages'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const resolver = { resolve: async () => ['203.0.113.1'] }
const server = fresh(() => startTestServer({ world: { resolver } }))
const client = fresh(() => server.signIn())

const DAY = 86_400_000
const create = async (domain: string, over = {}) =>
  (await client.post('/api/domains', { domain, ssl: 'certbot', ...over })).json()
const orders = () => server.context.db.selectFrom('orders').selectAll().execute()

test('a domain that wants a certificate of an authority has a self-signed one until then', async () => {
  const domain = await create('app.example.com')
  expect(domain).toMatchObject({ ssl: 'certbot', skipValidation: false })
  expect(domain.certificate).toMatchObject({
    status: 'pending',
    kind: 'self-signed',
    step: 'queued',
    problem: null,
    nextTryAt: null,
    renewalFailing: false,
  })
  expect(domain.certificate.issuer).toMatch(/^Postern Root/)
})

test('a domain that skips validation gets only a self-signed certificate', async () => {
  const form = { domain: 'app.example.com', ssl: 'certbot', skipValidation: true }
  const refusal = { errors: [{ field: 'ssl', message: MESSAGES.selfSignedOnly }] }
  const refused = await client.post('/api/domains', form)
  expect(refused.statusCode).toBe(422)
  expect(refused.json()).toMatchObject(refusal)
  const { id } = await create('app.example.com', { ssl: 'self-signed', skipValidation: true })
  const patched = await client.patch(`/api/domains/${id}`, { ssl: 'certbot' })
  expect(patched.statusCode).toBe(422)
  expect(patched.json()).toMatchObject(refusal)
})

test('changing to an authority and back places and ends an order', async () => {
  const { id, certificate } = await create('app.example.com', { ssl: null })
  expect(certificate).toMatchObject({ status: 'valid', kind: 'self-signed', step: null })
  const patch = async (ssl: string) => (await client.patch(`/api/domains/${id}`, { ssl })).json().certificate
  expect(await patch('certbot')).toMatchObject({ status: 'pending', step: 'queued' })
  expect(await orders()).toHaveLength(1)
  expect(await patch('self-signed')).toMatchObject({ status: 'valid', step: null })
  expect(await orders()).toEqual([])
})

test('a deleted domain leaves no order behind', async () => {
  const { id } = await create('app.example.com')
  expect((await client.delete(`/api/domains/${id}`)).statusCode).toBe(200)
  expect(await orders()).toEqual([])
})

/** As after a failed order. */
async function fail(id: number, dueAt: number): Promise<void> {
  const at = new Date().toISOString()
  const problem = { code: 'caa', detail: 'CAA record prevents issuance', found: [], expected: [], at }
  await server.context.db
    .updateTable('orders')
    .set({ step: null, due_at: dueAt, failures: 5, problem: JSON.stringify(problem) })
    .where('domain_id', '=', id)
    .execute()
}

test.each(['retry', 'save'])('a failed order shows why, and is placed again at once by %s', async (how) => {
  const { id } = await create('app.example.com')
  const dueAt = Date.now() + DAY
  await fail(id, dueAt)
  const { certificate } = (await client.get(`/api/domains/${id}`)).json()
  expect(certificate).toMatchObject({
    status: 'failed',
    error: 'CAA record prevents issuance',
    problem: { code: 'caa' },
    nextTryAt: new Date(dueAt).toISOString(),
  })
  const answer =
    how === 'retry'
      ? await client.post(`/api/domains/${id}/certificate/retry`)
      : await client.patch(`/api/domains/${id}`, { ssl: 'certbot' })
  expect(answer.statusCode).toBe(200)
  expect(answer.json().certificate).toMatchObject({ step: 'queued', nextTryAt: null })
  expect(await orders()).toMatchObject([{ step: 'queued', failures: 0 }])
})

test('nothing can be ordered again for a self-signed certificate, or for no domain', async () => {
  const { id } = await create('app.example.com', { ssl: 'self-signed' })
  const refused = await client.post(`/api/domains/${id}/certificate/retry`)
  expect(refused.statusCode).toBe(409)
  expect(refused.json().message).toContain('self-signed')
  expect((await client.post('/api/domains/99/certificate/retry')).statusCode).toBe(404)
})
