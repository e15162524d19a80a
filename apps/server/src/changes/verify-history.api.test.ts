import { addPerson } from '@postern/testkit/people'
import { run } from '@postern/testkit/processes/exec'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { expect, it } from 'vitest'

/** Ten entries, and few enough bytes that each node costs an older one its fields. */
const BOUNDS = { entries: 10, bytes: 2500, lookEvery: 1 }
const MAIN = new URL('../verify-history.ts', import.meta.url).pathname
const server = fresh(() => startTestServer({ world: { historyBounds: BOUNDS } }))
const client = fresh(() => server.signIn())

/** Beside the running server, in a separate program. */
function verify(...args: string[]) {
  const env = [`POSTERN_DATA_DIR=${server.dataDir}`, 'POSTERN_PUBLIC_HOST=192.0.2.1']
  return run(['env', ...env, process.execPath, MAIN, ...args])
}

it('says that the history is whole, that it has the head of an export, or where it is broken', async () => {
  for (const name of ['a', 'b', 'c']) await client.createNode({ name })
  const lines = (await client.get('/api/history/export?format=jsonl')).body.trim().split('\n')
  const { head } = JSON.parse(lines.at(-1) ?? '')
  await client.createNode({ name: 'd' })
  const whole = await verify(head.hash)
  expect([whole.code, whole.stdout]).toEqual([
    0,
    expect.stringMatching(/^The history is whole: \d+ entries up to revision \d+, head [0-9a-f]{64}\./),
  ])
  expect(whole.stdout).toContain(`It has the entry of the export, revision ${head.revision}.`)
  const other = await verify('0'.repeat(64))
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining('the history has no entry with the hash 0000'),
  ])
  expect((await verify('--all')).code).toBe(2)
  await sql`UPDATE changes SET actor = 'mallory' WHERE revision = ${head.revision}`.execute(server.context.db)
  const broken = await verify()
  expect([broken.code, broken.stdout]).toEqual([1, ''])
  expect(broken.stderr).toContain(
    `the history is broken at revision ${head.revision}: it, or the one before it`,
  )
})

it('says how much was let go', async () => {
  const bob = await addPerson(server, 'bob', 'editor')
  await bob.createNode({ name: 'first' })
  await client.createNode({ name: 'between' })
  for (let i = 0; i < 12; i++) await bob.createNode({ name: `n${i}` })
  const { code, stdout } = await verify()
  expect(code).toBe(0)
  expect(stdout).toMatch(
    / \d of these have lost their fields, to make room\. Of \d more only the number is kept\.\n$/,
  )
})
