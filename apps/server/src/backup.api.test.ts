import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { installationPaths } from '@postern/contract/installation'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterEach, expect, test } from 'vitest'

const dirs: string[] = []
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

/** A copy of the running database by SQLite itself, and the key beside it. */
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
test('a copy made while the server ran restores everything elsewhere', async () => {
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
  // Previous sessions and nodes' tokens are valid, and sealed values open.
  const headers = { authorization: `Bearer ${client.token}` }
  expect((await restored.call({ method: 'GET', url: '/api/nodes', headers })).statusCode).toBe(200)
  const config = { authorization: `Bearer ${node.token}` }
  const asked = await restored.call({ method: 'GET', url: '/api/agent/config', headers: config })
  expect(asked.statusCode).toBe(200)
  await restored.close({ keepData: true })
})

/** What edges get of the sealed texts. */
async function readSecrets({ context }: TestServer): Promise<string[]> {
  const state = (await context.desiredState.read(1, {})).join('')
  return [...state.matchAll(/"(?:tunnelPrivateKey|privateKey)":"[^"]{40,}"/g)].map(([text]) => text)
}

/** As the first lines of *Restore* there do it. */
test('a copy that the server made by itself restores everything elsewhere', async () => {
  const directory = join(tempDir(), 'copies')
  const server = await startTestServer({ settings: { POSTERN_BACKUP_DIR: directory } })
  const client = await server.signIn()
  const node = await client.createNode({ name: 'attic' })
  const form = { name: 'web', pathLocation: '/web', backendPort: 80 }
  expect((await client.post(`/api/services/${node.id}/http`, form)).statusCode).toBe(201)
  expect((await client.post('/api/settings/backups')).json().failure).toBeNull()
  const sealed = await readSecrets(server)
  expect(sealed).toHaveLength(2)
  await client.createNode({ name: 'too late' })
  await server.close()

  const other = await startTestServer()
  const [name = ''] = readdirSync(directory)
  const { database, secretKey } = installationPaths(other.dataDir)
  await other.restart({}, () => {
    for (const ending of ['-wal', '-shm']) rmSync(`${database}${ending}`, { force: true })
    copyFileSync(join(directory, name, 'postern.db'), database)
    copyFileSync(join(directory, name, 'secret.key'), secretKey)
  })
  const again = await other.signIn()
  const names = (await again.get('/api/nodes')).json().map(({ name }: { name: string }) => name)
  expect(names).toEqual(['Local', 'attic'])
  expect((await again.get(`/api/services/${node.id}/http`)).body).toContain('"web"')
  // The keys of nodes and certificates open, and tokens are valid.
  expect(await readSecrets(other)).toEqual(sealed)
  const config = { authorization: `Bearer ${node.token}` }
  const asked = await other.call({ method: 'GET', url: '/api/agent/config', headers: config })
  expect(asked.statusCode).toBe(200)
  await other.close()
})

/** As in docs/upgrade.md, *Go back*: the previous copy replaces what the newer server left. */
test('after an upgrade, the previous version starts again with the copy that the upgrade made', async () => {
  const server = await startTestServer()
  const client = await server.signIn()
  await client.post('/api/nodes', { name: 'attic' })
  await server.close({ keepData: true })
  dirs.push(server.dataDir)
  const { database, liveDatabase } = installationPaths(server.dataDir)
  const before = `${database}.version-${versionOf(database)}`
  copyFileSync(database, before)
  for (const file of [database, liveDatabase]) raiseVersion(file)
  const refused = startTestServer({ dataDir: server.dataDir })
  await expect(refused).rejects.toThrow(`${database} has version`)
  for (const ending of ['-wal', '-shm']) rmSync(`${database}${ending}`, { force: true })
  renameSync(before, database)
  const again = await startTestServer({ dataDir: server.dataDir })
  expect((await (await again.signIn()).get('/api/nodes')).body).toContain('attic')
  await again.close({ keepData: true })
  expect(existsSync(`${liveDatabase}.version-${versionOf(liveDatabase) + 1}`)).toBe(true)
})

function versionOf(file: string): number {
  const database = new DatabaseSync(file)
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  database.close()
  return version
}

/** As a newer server with one more migration leaves it. */
function raiseVersion(file: string): void {
  const version = versionOf(file)
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA user_version = ${version + 1}`)
  database.close()
}
