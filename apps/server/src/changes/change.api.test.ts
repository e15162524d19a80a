import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { expect, it } from 'vitest'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

const createNode = () => client.post('/api/nodes', { name: 'office' })
const named = async (name: string) => (await client.get(`/api/nodes?search=${name}`)).json()
const countChanges = async () => (await server.context.db.selectFrom('changes').selectAll().execute()).length
/** Makes the database refuse new rows of a table. */
const refuse = (table: string) =>
  sql
    .raw(`CREATE TRIGGER no_more BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no more'); END`)
    .execute(server.context.db)

it('is recorded together with its rows', async () => {
  const before = await countChanges()
  expect((await createNode()).statusCode).toBe(201)
  expect(await named('office')).toHaveLength(1)
  expect(await countChanges()).toBe(before + 1)
})

it('is not recorded when its rows cannot be written', async () => {
  const before = await countChanges()
  await refuse('nodes')
  expect((await createNode()).statusCode).toBe(500)
  expect(await countChanges()).toBe(before)
})

it('writes no row when it cannot be recorded', async () => {
  await refuse('changes')
  expect((await createNode()).statusCode).toBe(500)
  expect(await named('office')).toEqual([])
})
