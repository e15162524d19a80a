import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, it } from 'vitest'
import { takeBackDue } from '../../core/history/pending.ts'

const NOW = Date.UTC(2026, 10, 27, 12)
const server = fresh(() => startTestServer({ now: NOW }))
const client = fresh(() => server.signIn())
/** Saves with the wish that it is taken back. */
const save = (url: string, payload: object, seconds: string | number = 120) =>
  server.call({
    ...{ method: 'PATCH', url, payload },
    headers: { authorization: `Bearer ${client.token}`, [TAKE_BACK_HEADER]: String(seconds) },
  })
const pending = async () => (await client.get('/api/history/pending')).json().data
const consoleUrl = async () => {
  const { data } = (await client.get('/api/services/http?limit=50')).json()
  const own = data.find(({ system }: { system: boolean }) => system)
  return `/api/services/${own.nodeId}/http/${own.id}`
}
const listOf = async (url: string) => (await client.get(url)).json().allowedIps

it('lets an administrator who locks himself out by his own IP rule in again after the time', async () => {
  const url = await consoleUrl()
  expect((await save(url, { allowedIps: ['192.0.2.1'] })).statusCode).toBe(200)
  expect(await pending()).toMatchObject([
    { what: 'service updated', actor: 'admin', leftMs: 120_000, problem: null },
  ])
  server.now = NOW + 119_000
  await takeBackDue(server.context)
  expect(await listOf(url)).toEqual(['192.0.2.1'])
  server.now = NOW + 120_000
  await takeBackDue(server.context)
  expect(await listOf(url)).toEqual([])
  expect(await pending()).toEqual([])
  const [entry] = (await client.get('/api/history?limit=1')).json().data
  expect(entry).toMatchObject({
    actor: { kind: 'installation' },
    what: expect.stringMatching(/^undid revision \d+: service updated$/),
  })
})

it('takes it back when the server was away at its time', async () => {
  const url = await consoleUrl()
  await save(url, { allowedIps: ['192.0.2.1'] })
  await server.restart(undefined, () => {
    server.now = NOW + 600_000
  })
  const again = await server.signIn()
  expect((await again.get(url)).json().allowedIps).toEqual([])
  expect((await again.get('/api/history/pending')).json().data).toEqual([])
})

it('stays when a person keeps it, and goes at once when one takes it back', async () => {
  const url = await consoleUrl()
  await save(url, { allowedIps: ['203.0.113.0/24'] })
  const [{ revision }] = await pending()
  expect((await client.post(`/api/history/${revision}/keep`)).statusCode).toBe(200)
  expect((await client.post(`/api/history/${revision}/keep`)).statusCode).toBe(404)
  server.now = NOW + 600_000
  await takeBackDue(server.context)
  expect(await listOf(url)).toEqual(['203.0.113.0/24'])
  await save(url, { allowedIps: [] })
  const [next] = await pending()
  expect((await client.post(`/api/history/${next.revision}/undo`)).statusCode).toBe(200)
  expect(await pending()).toEqual([])
  expect(await listOf(url)).toEqual(['203.0.113.0/24'])
})

it('says why it could not be taken back, and does not do what could not be', async () => {
  const node = await client.createNode({ name: 'n' })
  await save(`/api/nodes/${node.id}`, { keepalive: 9 })
  await client.patch(`/api/nodes/${node.id}`, { keepalive: 10 })
  server.now = NOW + 120_000
  await takeBackDue(server.context)
  await takeBackDue(server.context)
  expect(await pending()).toMatchObject([
    { leftMs: 0, problem: expect.stringContaining('has changed “n” since') },
  ])
  const [pat] = (await client.get(`/api/nodes/${node.id}/pats`)).json()
  const refused = await save(`/api/nodes/${node.id}/pats/${pat.id}/revoke`, {})
  expect([refused.statusCode, refused.json().message]).toEqual([409, expect.stringContaining('stays so')])
  expect((await client.get(`/api/nodes/${node.id}/pats`)).json()[0].revoked).toBe(false)
  const wrong = await save(`/api/nodes/${node.id}`, { keepalive: 11 }, 'soon')
  expect(wrong.statusCode).toBe(422)
})
