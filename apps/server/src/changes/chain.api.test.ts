import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { dropUntil, readHead, verifyChain } from './chain.ts'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())
const run = (statement: string) => sql.raw(statement).execute(server.context.db)
const verify = () => verifyChain(server.context.db)
const latest = async () => (await readHead(server.context.db)).revision

beforeEach(async () => {
  for (const name of ['a', 'b', 'c', 'd']) await client.createNode({ name })
})

it('is whole as it was written, also after a restart', async () => {
  const verdict = await verify()
  expect(verdict).toMatchObject({ isWhole: true, head: { revision: await latest() } })
  await server.restart()
  await (await server.signIn()).createNode({ name: 'e' })
  expect(await verify()).toMatchObject({ isWhole: true })
})

describe('finds', () => {
  test.each([
    ['a changed name', (r: number) => `UPDATE changes SET name = 'x' WHERE revision = ${r}`, 0],
    ['another actor', (r: number) => `UPDATE changes SET actor = 'mallory' WHERE revision = ${r}`, 0],
    ['another address', (r: number) => `UPDATE changes SET address = '192.0.2.1' WHERE revision = ${r}`, 0],
    ['a changed record', (r: number) => `UPDATE change_records SET after = '{}' WHERE revision = ${r}`, 0],
    ['a removed record', (r: number) => `DELETE FROM change_records WHERE revision = ${r}`, 0],
    ['a removed entry', (r: number) => `DELETE FROM changes WHERE revision = ${r}`, 1],
    [
      'two that changed places',
      (r: number) =>
        `UPDATE changes SET revision = -1 WHERE revision = ${r};
        UPDATE changes SET revision = ${r} WHERE revision = ${r + 1};
        UPDATE changes SET revision = ${r + 1} WHERE revision = -1`,
      0,
    ],
    ['a removed hash', (r: number) => `UPDATE changes SET hash = NULL WHERE revision = ${r}`, 0],
  ])('%s', async (_, statement, later) => {
    const revision = (await latest()) - 2
    for (const one of statement(revision).split(';')) await run(one)
    expect(await verify()).toMatchObject({ isWhole: false, brokenAt: revision + later })
  })

  it('that the newest are missing', async () => {
    const revision = await latest()
    await run(`DELETE FROM changes WHERE revision = ${revision}`)
    expect(await verify()).toMatchObject({
      isWhole: false,
      brokenAt: revision,
      why: 'the newest entries are missing',
    })
  })
})

it('begins after what was let go, and is whole', async () => {
  const { db } = server.context
  const revision = await latest()
  await db.transaction().execute((tx) => dropUntil(tx, revision - 2))
  expect(await db.selectFrom('changes').select('revision').execute()).toHaveLength(2)
  expect(
    await db
      .selectFrom('change_records')
      .select('revision')
      .where('revision', '<=', revision - 2)
      .execute(),
  ).toEqual([])
  expect(await verify()).toMatchObject({ isWhole: true, entries: 2 })
  await client.createNode({ name: 'later' })
  expect(await verify()).toMatchObject({ isWhole: true, entries: 3 })
})

it('lets the oldest go when all are too large', async () => {
  const { db } = server.context
  const before = await latest()
  await run('UPDATE changes SET bytes = 100000000')
  await run('UPDATE change_chain SET bytes = 400000000')
  await client.createNode({ name: 'large' })
  const kept = await db.selectFrom('changes').select('revision').execute()
  expect(kept.length).toBeLessThan(before)
  expect(kept.length).toBeGreaterThan(1)
  expect(await verify()).toMatchObject({ isWhole: true })
})
