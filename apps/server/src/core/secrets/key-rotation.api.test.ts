import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { run } from '@postern/testkit/exec'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Context } from '../../context.ts'
import { putSettings } from '../../db/settings.ts'
import { isSealed } from './secrets.ts'

const MAIN = new URL('../../rotate-key.ts', import.meta.url).pathname
const DIE_AT = new URL('../../../test/die-at.ts', import.meta.url).href

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
  const client = await server.signIn()
  for (const name of ['a', 'b']) await client.post('/api/nodes', { name })
  await client.get('/api/nodes/2/download')
  await client.post('/api/domains', { domain: 'app.example.com', skipValidation: true })
})
afterEach(() => server.close())

/** Every sealed text of the whole database, opened: of all tables, also of those that are still to be made. */
function openAll({ config, secrets }: Context): Map<string, string> {
  const db = new DatabaseSync(config.paths.database, { readOnly: true })
  const opened = new Map<string, string>()
  for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
    for (const row of db.prepare(`SELECT * FROM "${name}"`).all())
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && isSealed(value))
          // The first column of each table is its key.
          opened.set(`${name} ${Object.values(row)[0]} ${column}`, secrets.open(value))
  db.close()
  return opened
}

/** Rotates in a program of its own. @param dieAt it is killed in front of that step */
function rotate(dieAt = Number.POSITIVE_INFINITY, ...flags: string[]) {
  const env = [`POSTERN_DATA_DIR=${server.dataDir}`, 'POSTERN_PUBLIC_HOST=192.0.2.1']
  return run(['env', ...env, process.execPath, `--import=${DIE_AT}?${dieAt}`, MAIN, ...flags])
}

async function restart(): Promise<void> {
  server = await startTestServer({ dataDir: server.dataDir })
}

test('everything is the same under another key, and the old one opens nothing', async () => {
  const before = openAll(server.context)
  expect(before.size).toBeGreaterThanOrEqual(7)
  const { paths } = server.context.config
  const [oldKey, oldSecrets] = [readFileSync(paths.secretKey, 'utf8'), server.context.secrets]
  await server.close({ keepData: true })
  expect(await rotate()).toMatchObject({
    code: 0,
    stdout: `${before.size} secrets are sealed with a new key.\n`,
  })
  await restart()
  expect(openAll(server.context)).toEqual(before)
  expect(readFileSync(paths.secretKey, 'utf8')).not.toBe(oldKey)
  expect(() => openAll({ ...server.context, secrets: oldSecrets })).toThrow('cannot be opened with this key')
  expect(readdirSync(paths.serverDir).filter((name) => name.startsWith('secret'))).toEqual(['secret.key'])
})

test('with --all none of the secrets of before is left, nor a copy of an upgrade', async () => {
  const { paths, settings } = server.context.config
  await putSettings(server.context.db, {
    [`acme.key ${settings.POSTERN_ACME_DIRECTORY}`]: server.context.secrets.seal('the key of our account'),
  })
  const { certificate, fingerprint } = server.context.authority
  const before = new Set(openAll(server.context).values())
  const [tunnel, network6] = [server.context.tunnel.publicKey, server.context.tunnel.network6]
  for (const version of [3, 12])
    writeFileSync(`${paths.database}.version-${version}`, 'sealed with the old key')
  await server.close({ keepData: true })
  const { code, stdout } = await rotate(Number.POSITIVE_INFINITY, '--all')
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('2 copies of the database from upgrades are removed.'),
  ])
  expect(readdirSync(paths.serverDir).filter((name) => name.includes('version'))).toEqual([])
  await restart()
  await until('the certificates to be renewed', () =>
    [...openAll(server.context).values()].every((secret) => !before.has(secret)),
  )
  const { context } = server
  expect(context.tunnel.publicKey).not.toBe(tunnel)
  expect(context.tunnel.network6).toBe(network6)
  // Crossed: agents that know the old root find it, and what leads from it to the next one.
  expect(context.authority.fingerprint).not.toBe(fingerprint)
  expect(context.authority.certificates.startsWith(certificate)).toBe(true)
  const client = await server.signIn()
  expect((await client.get('/api/nodes/2')).json()).toMatchObject({ usesFile: false })
  expect((await client.get('/api/nodes/2/download')).statusCode).toBe(200)
})

test('killed at any point, the next start finds the key that fits', async () => {
  const before = openAll(server.context)
  const { serverDir } = server.context.config.paths
  let steps = 0
  for (let isKilled = true; isKilled; steps++) {
    await server.close({ keepData: true })
    isKilled = (await rotate(steps)).code === null
    await restart()
    expect(openAll(server.context)).toEqual(before)
    expect(readdirSync(serverDir).filter((name) => name.startsWith('secret'))).toEqual(['secret.key'])
  }
  expect(steps).toBeGreaterThan(9)
}, 120_000)
