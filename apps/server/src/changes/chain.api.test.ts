import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { readHead } from './chain.ts'
import { verifyChain } from './verify.ts'

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
  test.each<readonly [string, (revision: number) => string, number]>([
    ...Object.entries({
      at: "'2026-01-01T00:00:00.000Z'",
      actor: "'mallory'",
      actor_kind: "'node'",
      actor_id: '77',
      share: "'person 77'",
      address: "'192.0.2.1'",
      undoes: '1',
      what: "'x'",
      name: "'x'",
      node_id: '77',
      domain_id: '77',
      left_out: '7',
      record_count: '7',
      records_hash: `'${'0'.repeat(64)}'`,
      gone_hash: `'${'0'.repeat(64)}'`,
      hash: `'${'0'.repeat(64)}'`,
      is_stripped: '1',
      folded: '1',
      first_at: "'2026-01-01T00:00:00.000Z'",
      before_hash: "'x'",
    }).map(
      ([column, value]) =>
        [
          `another ${column}`,
          (r: number) => `UPDATE changes SET ${column} = ${value} WHERE revision = ${r}`,
          0,
        ] as const,
    ),
    ...Object.entries({
      position: 'position + 7',
      kind: "'x'",
      record_id: '77',
      node_id: '77',
      domain_id: '77',
      name: "'x'",
      before: "'{}'",
      after: "'{}'",
    }).map(
      ([column, value]) =>
        [
          `another ${column} of a record`,
          (r: number) =>
            `UPDATE change_records SET ${column} = ${value} WHERE revision = ${r} AND position = 0`,
          0,
        ] as const,
    ),
    [
      'a removed record',
      (r: number) => `DELETE FROM change_records WHERE revision = ${r} AND position = 0`,
      0,
    ],
    ['records that were all removed', (r: number) => `DELETE FROM change_records WHERE revision = ${r}`, 0],
    [
      'records that were removed as if to make room',
      (r: number) =>
        `DELETE FROM change_records WHERE revision = ${r};
        UPDATE changes SET is_stripped = 1, bytes = 0 WHERE revision = ${r}`,
      0,
    ],
    [
      'entries that were made one as if to make room',
      (r: number) =>
        `DELETE FROM change_records WHERE revision = ${r};
        UPDATE changes SET folded = 2, before_hash = (SELECT hash FROM changes WHERE revision = ${r} - 2),
          gone_hash = NULL WHERE revision = ${r};
        DELETE FROM changes WHERE revision = ${r} - 1`,
      0,
    ],
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
