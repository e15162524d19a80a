import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { installationPaths } from '@postern/contract/installation'
import { startTestServer } from '@postern/testkit/server'
import { afterEach, expect, test } from 'vitest'

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

/** As docs/backup-and-restore.md promises. */
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
