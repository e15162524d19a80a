import { DatabaseSync } from 'node:sqlite'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { expect, test } from 'vitest'

const FULL = 'The disk of the server is full. Free space on it, then try again'
const LOCKED = 'Another program keeps the database from being changed'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

const signIn = () => server.call({ method: 'POST', url: '/api/auth/login', payload: TEST_ADMIN })

test('a full disk gives writers and sign-ins a clear message, and everything else goes on', async () => {
  const { db } = server.context
  const pages = (await sql<{ page_count: number }>`PRAGMA page_count`.execute(db)).rows[0]?.page_count ?? 0
  await sql`PRAGMA max_page_count = ${sql.lit(pages)}`.execute(db)
  const write = () => client.post('/api/nodes', { name: `n${Math.random()}` })
  let answer = await write()
  for (let tries = 0; answer.statusCode === 201 && tries < 200; tries++) answer = await write()
  expect([answer.statusCode, answer.json().message]).toEqual([507, FULL])
  // The rest of the last page may have room for a session.
  let entry = await signIn()
  for (let tries = 0; entry.statusCode === 200 && tries < 50; tries++) entry = await signIn()
  expect([entry.statusCode, entry.json().message]).toEqual([507, FULL])
  expect((await client.get('/api/nodes')).statusCode).toBe(200)
  await sql`PRAGMA max_page_count = 1000000`.execute(db)
  expect((await write()).statusCode).toBe(201)
  expect((await signIn()).statusCode).toBe(200)
})

test('a database that another program locks can be read, and gives writers and sign-ins a clear message', async () => {
  const other = new DatabaseSync(server.context.config.paths.database)
  other.exec('BEGIN EXCLUSIVE')
  const began = performance.now()
  const answer = await client.post('/api/nodes', { name: 'attic' })
  // Nobody else is answered while it waits for the lock, so this should be at most a second.
  expect(performance.now() - began).toBeLessThan(5000)
  expect([answer.statusCode, answer.json().message]).toEqual([503, expect.stringContaining(LOCKED)])
  const entry = await signIn()
  expect([entry.statusCode, entry.json().message]).toEqual([503, expect.stringContaining(LOCKED)])
  expect((await client.get('/api/nodes')).statusCode).toBe(200)
  other.exec('ROLLBACK')
  other.close()
  expect((await client.post('/api/nodes', { name: 'attic' })).statusCode).toBe(201)
  expect((await signIn()).statusCode).toBe(200)
})
