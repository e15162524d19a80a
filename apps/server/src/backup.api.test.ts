import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { installationPaths } from '@postern/contract/installation'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { afterEach, expect, test } from 'vitest'

/** What docs/backup-and-restore.md promises. */
const PAGE = readFileSync(new URL('../../../docs/backup-and-restore.md', import.meta.url), 'utf8')
const dirs: string[] = []
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

/** What SQLite's own copy of a database in use gives, and the key beside it. */
function backUp(dataDir: string): ReturnType<typeof installationPaths> {
  const copy = mkdtempSync(join(tmpdir(), 'pt-backup-'))
  dirs.push(copy)
  const [from, to] = [installationPaths(dataDir), installationPaths(copy)]
  for (const dir of [to.serverDir, to.runDir]) mkdirSync(dir)
  const database = new DatabaseSync(from.database)
  database.prepare('VACUUM INTO ?').run(to.database)
  database.close()
  copyFileSync(from.secretKey, to.secretKey)
  copyFileSync(from.edgeToken, to.edgeToken)
  for (const file of [to.database, to.secretKey]) chmodSync(file, 0o600)
  return to
}

test('a copy that was made while the server ran brings everything back elsewhere', async () => {
  const server = await startTestServer()
  const client = await server.signIn()
  const node = (await client.post('/api/nodes', { name: 'attic' })).json()
  await client.post(`/api/services/${node.id}/http`, {
    name: 'web',
    pathLocation: '/web',
    backendPort: 80,
  })
  const copy = backUp(server.dataDir)
  await client.post('/api/nodes', { name: 'too late' })
  await server.close()

  const dataDir = copy.serverDir.replace(/\/server$/, '')
  const restored = await startTestServer({ dataDir })
  const again = await restored.signIn()
  const names = (await again.get('/api/nodes')).json().map(({ name }: { name: string }) => name)
  expect(names).toEqual(['Local', 'attic'])
  expect((await again.get(`/api/services/${node.id}/http`)).body).toContain('"web"')
  // A session and a node's token of before are good, and what is sealed opens.
  const headers = { authorization: `Bearer ${client.token}` }
  expect((await restored.call({ method: 'GET', url: '/api/nodes', headers })).statusCode).toBe(200)
  const config = { authorization: `Bearer ${node.token}` }
  const asked = await restored.call({ method: 'GET', url: '/api/agent/config', headers: config })
  expect(asked.statusCode).toBe(200)
  await restored.close({ keepData: true })
})

test('the line for a lost password makes the first account again, and ends all sessions', async () => {
  const sql = /"(DELETE FROM [^"]*)"/.exec(PAGE)?.[1]
  if (sql === undefined) throw new Error('the page has no such line')
  const server = await startTestServer()
  const client = await server.signIn()
  await client.post('/api/nodes', { name: 'attic' })
  await server.close({ keepData: true })
  const { dataDir } = server
  dirs.push(dataDir)
  // As the command `sqlite3` opens it.
  const database = new DatabaseSync(installationPaths(dataDir).database, {
    enableForeignKeyConstraints: false,
  })
  database.exec(sql)
  database.close()

  const settings = { POSTERN_ADMIN_PASSWORD: 'another battery staple' }
  const fresh = await startTestServer({ dataDir, settings })
  const signIn = (password: string) =>
    fresh.call({
      method: 'POST',
      url: '/api/auth/login',
      payload: { username: TEST_ADMIN.username, password },
    })
  expect((await signIn(TEST_ADMIN.password)).statusCode).toBe(401)
  const { token } = (await signIn(settings.POSTERN_ADMIN_PASSWORD)).json()
  const read = (bearer: string) =>
    fresh.call({ method: 'GET', url: '/api/nodes', headers: { authorization: `Bearer ${bearer}` } })
  expect((await read(token)).body).toContain('"attic"')
  expect((await read(client.token)).statusCode).toBe(401)
  await fresh.close({ keepData: true })
})
