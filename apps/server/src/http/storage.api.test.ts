import { DatabaseSync } from 'node:sqlite'
import { type Client, startTestServer, type TestServer } from '@postern/testkit/server'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'

let server: TestServer
let client: Client
beforeEach(async () => {
  server = await startTestServer()
  client = await server.signIn()
})
afterEach(async () => {
  await server.close()
})

test('a full disk is said in words to who writes or signs in, and all else goes on', async () => {
  const { db } = server.context
  const pages = (await sql<{ page_count: number }>`PRAGMA page_count`.execute(db)).rows[0]?.page_count ?? 0
  await sql`PRAGMA max_page_count = ${sql.lit(pages)}`.execute(db)
  const write = () => client.post('/api/nodes', { name: `n${Math.random()}` })
  let answer = await write()
  for (let tries = 0; answer.statusCode === 201 && tries < 200; tries++) answer = await write()
  expect(answer.statusCode).toBe(507)
  expect(answer.json().message).toBe('The disk of the server is full. Free space on it, then try again')
  expect((await client.get('/api/nodes')).statusCode).toBe(200)
  await sql`PRAGMA max_page_count = 1000000`.execute(db)
  expect((await write()).statusCode).toBe(201)
})

test('a database that another program locks is read from, and says so to who writes', async () => {
  const other = new DatabaseSync(server.context.config.paths.database)
  other.exec('BEGIN EXCLUSIVE')
  const answer = await client.post('/api/nodes', { name: 'attic' })
  expect(answer.statusCode).toBe(503)
  expect(answer.json().message).toContain('Another program keeps the database from being changed')
  expect((await client.get('/api/nodes')).statusCode).toBe(200)
  other.exec('ROLLBACK')
  other.close()
  expect((await client.post('/api/nodes', { name: 'attic' })).statusCode).toBe(201)
})
