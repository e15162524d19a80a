import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { migrate } from '../db/migrate.ts'
import { sharesOfHistory } from '../db/migrations/0031-shares-of-history.ts'
import { MIGRATIONS } from '../db/migrations/index.ts'
import { openDatabase } from '../db/open.ts'
import { INSTALLATION } from './actor.ts'
import { change } from './change.ts'
import { createLiveBus } from './live.ts'
import { verifyChain } from './verify.ts'

test('entries of before there were shares are kept, are not found to be broken, and go first when they are most', async () => {
  const file = join(tempDir(), 'a.db')
  const old = new DatabaseSync(file)
  migrate(old, MIGRATIONS.slice(0, MIGRATIONS.indexOf(sharesOfHistory)))
  old.exec(`UPDATE revisions SET latest = 20;
    UPDATE change_chain SET head_revision = 20, head_hash = 'old', bytes = 20`)
  for (let revision = 1; revision <= 20; revision++) {
    old.exec(`INSERT INTO changes (revision, at, actor, actor_kind, actor_id, what, hash, bytes)
      VALUES (${revision}, '2026-01-01T00:00:00.000Z', 'ann', 'person', 1, 'node updated', 'h${revision}', 1)`)
    old.exec(
      `INSERT INTO change_records (revision, position, kind, name) VALUES (${revision}, 0, 'node', 'n')`,
    )
  }
  old.close()
  const db = openDatabase(file)
  const bounds = { entries: 15, bytes: 1_000_000, lookEvery: 1 }
  const context = { db, bus: createLiveBus(() => undefined), clock: Date.now, historyBounds: bounds }
  expect(await verifyChain(db)).toMatchObject({ isWhole: true, entries: 0, head: { revision: 20 } })
  const add = () =>
    change(context, { actor: INSTALLATION, what: 'x' }, async () => ({ value: 0, touched: {} }))
  for (let i = 0; i < 5; i++) await add()
  expect(await verifyChain(db)).toMatchObject({ isWhole: true, entries: 5, folded: 0 })
  const rows = await db.selectFrom('changes').select(['revision', 'what']).orderBy('revision').execute()
  expect(rows.map(({ revision }) => revision)).toEqual(Array.from({ length: 15 }, (_, index) => 11 + index))
  const records = await db.selectFrom('change_records').select('revision').execute()
  expect(records).toHaveLength(10)
  await db.destroy()
})
