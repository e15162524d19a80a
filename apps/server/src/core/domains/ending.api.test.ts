import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { renewCertificates } from '../../certificates/renewal.ts'
import { updateStated } from '../../changes/change.ts'

const DAY = 86_400_000

const resolver = { resolve: async () => ['203.0.113.1'] }
const server = fresh(() => startTestServer({ now: Date.now(), world: { resolver } }))

const list = async () => (await (await server.signIn()).get('/api/domains/ending')).json()

async function create(domain: string, ssl: string): Promise<number> {
  const answer = await (await server.signIn()).post('/api/domains', { domain, ssl })
  return answer.json().id
}

/** A public certificate that expires in so many days, and the order for the next one, failed or not. */
async function hold(id: number, days: number, error: string | null): Promise<void> {
  const at = new Date(server.now).toISOString()
  const problem = error && JSON.stringify({ code: 'caa', detail: error, found: [], expected: [], at })
  await writeRows(server.context.db, async (tx, revision) => {
    const life = {
      not_before: new Date(server.now - 76 * DAY).toISOString(),
      not_after: new Date(server.now + days * DAY).toISOString(),
    }
    const held = await tx
      .selectFrom('certificates')
      .select('id')
      .where('domain_id', '=', id)
      .executeTakeFirstOrThrow()
    await updateStated(tx, 'certificates', held.id, revision, { kind: 'certbot', ...life })
    await tx.updateTable('orders').set({ step: null, problem }).where('domain_id', '=', id).execute()
  })
}

test('lists the certificates whose renewal fails, those that expire first at the top', async () => {
  const days = { a: 13, b: 5, c: 20, d: 5 }
  for (const [name, left] of Object.entries(days)) {
    const id = await create(`${name}.example.com`, 'certbot')
    await hold(id, left, name === 'd' ? null : `no luck with ${name}`)
  }
  expect((await list()).data).toEqual([
    expect.objectContaining({ domain: 'b.example.com', error: 'no luck with b' }),
    expect.objectContaining({ domain: 'a.example.com', error: 'no luck with a' }),
  ])
})

test('says when another one joins them by time alone', async () => {
  expect(await list()).toEqual({ data: [], nextInMs: DAY })
  await hold(await create('a.example.com', 'certbot'), 40, 'no luck')
  expect(await list()).toEqual({ data: [], nextInMs: DAY })
  await hold(await create('b.example.com', 'certbot'), 14 + 1 / 24, 'no luck')
  expect(await list()).toEqual({ data: [], nextInMs: DAY / 24 })
  server.now += DAY / 24 - 1
  expect(await list()).toEqual({ data: [], nextInMs: 1 })
  server.now += 1
  expect(await list()).toEqual({
    data: [expect.objectContaining({ domain: 'b.example.com' })],
    nextInMs: DAY,
  })
})

test("includes the installation's own, and none that works again", async () => {
  await create('own.example.com', 'self-signed')
  expect((await list()).data).toEqual([])
  server.now += 390 * DAY
  const { authority } = server.context
  const issue = (names: readonly string[]) =>
    names.includes('own.example.com') ? Promise.reject(new Error('no luck')) : authority.issue(names)
  await renewCertificates({ ...server.context, authority: { ...authority, issue } })
  expect((await list()).data).toEqual([
    expect.objectContaining({ domain: 'own.example.com', error: 'no luck' }),
  ])
  await renewCertificates(server.context)
  expect((await list()).data).toEqual([])
})
