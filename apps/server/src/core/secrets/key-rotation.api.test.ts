import { createCipheriv, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { run } from '@postern/testkit/processes/exec'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, expect, test } from 'vitest'
import { updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { putSettings } from '../../db/settings.ts'
import { isSealed, isUnbound, PLACES } from './secrets.ts'

const MAIN = new URL('../../rotate-key.ts', import.meta.url).pathname
const DIE_AT = new URL('../../../test/die-at.ts', import.meta.url).href

const server = fresh(startTestServer)
beforeEach(async () => {
  const client = await server.signIn()
  for (const name of ['a', 'b']) await client.post('/api/nodes', { name })
  await client.get('/api/nodes/2/download')
  await client.post('/api/domains', { domain: 'app.example.com', skipValidation: true })
  const { db, secrets, edgesAuthority } = server.context
  const now = new Date().toISOString()
  await edgesAuthority.root()
  await db
    .insertInto('edges')
    .values({
      ...{ name: 'Frankfurt', number: 2, token_hash: 'none', certificate_key: 'a key', created_at: now },
      ...{ private_key: secrets.seal("an edge's key", PLACES.edge(2)), joined_at: now },
    })
    .execute()
  const provider = {
    name: 'p',
    issuer: 'google',
    client_id: 'c',
    is_making_accounts: 0,
    rules: '[]',
  } as const
  const client_secret = secrets.seal('the secret of a provider', PLACES.provider(1))
  await db
    .insertInto('console_providers')
    .values({ ...provider, client_secret, created_at: now, updated_at: now })
    .execute()
})

/** The first column of each table is its key, but a certificate is identified by its domain. */
function placeOf(table: unknown, row: Record<string, unknown>, column: string): string {
  const key = table === 'certificates' ? (row.domain_id ?? 'installation') : Object.values(row)[0]
  return `${table} ${key} ${column}`
}

/** Every sealed text of the whole database, opened; finds those of future tables too. */
function openAll({ config, secrets }: Context): Map<string, string> {
  const db = new DatabaseSync(config.paths.database, { readOnly: true })
  const opened = new Map<string, string>()
  for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
    for (const row of db.prepare(`SELECT * FROM "${name}"`).all())
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && isSealed(value))
          opened.set(placeOf(name, row, column), secrets.open(value, placeOf(name, row, column)))
  db.close()
  return opened
}

/**
 * Rotates in a separate program.
 * @param dieAt it is killed before that step
 */
function rotate(dieAt = Number.POSITIVE_INFINITY, ...flags: string[]) {
  const env = [`POSTERN_DATA_DIR=${server.dataDir}`, 'POSTERN_PUBLIC_HOST=192.0.2.1']
  return run(['env', ...env, process.execPath, `--import=${DIE_AT}?${dieAt}`, MAIN, ...flags])
}

/** As upgrades make it. */
function leaveCopies(database: string): void {
  for (const version of [3, 12]) writeFileSync(`${database}.version-${version}`, 'sealed with the old key')
}
const COPIES = '2 copies of the database from upgrades are removed.'

test('everything is the same under a new key, and the old one opens nothing', async () => {
  const before = openAll(server.context)
  expect(before.size).toBeGreaterThanOrEqual(7)
  const { paths } = server.context.config
  const [oldKey, oldSecrets] = [readFileSync(paths.secretKey, 'utf8'), server.context.secrets]
  leaveCopies(paths.database)
  await server.close({ keepData: true })
  const [first, second] = [`${before.size} secrets are sealed with a new key.`, COPIES]
  expect(await rotate()).toMatchObject({ code: 0, stdout: `${first}\n${second}\n` })
  expect(readdirSync(paths.serverDir).filter((name) => name.includes('version'))).toEqual([])
  await server.restart()
  expect(openAll(server.context)).toEqual(before)
  expect(readFileSync(paths.secretKey, 'utf8')).not.toBe(oldKey)
  expect(() => openAll({ ...server.context, secrets: oldSecrets })).toThrow('cannot be opened with this key')
  expect(readdirSync(paths.serverDir).filter((name) => name.startsWith('secret'))).toEqual(['secret.key'])
})

test('with --all no previous secret is left, nor a copy from an upgrade', async () => {
  const { paths, settings } = server.context.config
  const account = `acme.key ${settings.POSTERN_ACME_DIRECTORY}`
  await putSettings(server.context.db, {
    [account]: server.context.secrets.seal('the key of our account', PLACES.setting(account)),
  })
  const { certificate, fingerprint } = server.context.authority
  const before = new Set(openAll(server.context).values())
  // Only the provider itself can give another one.
  before.delete('the secret of a provider')
  const [tunnel, network6] = [server.context.tunnel.publicKey, server.context.tunnel.network6]
  leaveCopies(paths.database)
  await server.close({ keepData: true })
  const { code, stdout } = await rotate(Number.POSITIVE_INFINITY, '--all')
  expect([code, stdout]).toEqual([0, expect.stringContaining(COPIES)])
  expect(readdirSync(paths.serverDir).filter((name) => name.includes('version'))).toEqual([])
  await server.restart()
  await until('the certificates to be renewed', () =>
    [...openAll(server.context).values()].every((secret) => !before.has(secret)),
  )
  const { context } = server
  expect(context.tunnel.publicKey).not.toBe(tunnel)
  expect(context.tunnel.network6).toBe(network6)
  // Cross-signed: agents with the old root find it, and the chain from it to the next one.
  expect(context.authority.fingerprint).not.toBe(fingerprint)
  expect(context.authority.certificates.startsWith(certificate)).toBe(true)
  const client = await server.signIn()
  expect((await client.get('/api/nodes/2')).json()).toMatchObject({ usesFile: false })
  expect((await client.get('/api/nodes/2/download')).statusCode).toBe(200)
  const row = context.db.selectFrom('edges').selectAll().where('number', '=', 2)
  expect(await row.executeTakeFirst()).toMatchObject({ name: 'Frankfurt', certificate_key: null })
})

test('killed at any point, the next start finds the key that fits', async () => {
  const before = openAll(server.context)
  const { serverDir } = server.context.config.paths
  let steps = 0
  for (let isKilled = true; isKilled; steps++) {
    await server.close({ keepData: true })
    isKilled = (await rotate(steps)).code === null
    await server.restart()
    expect(openAll(server.context)).toEqual(before)
    expect(readdirSync(serverDir).filter((name) => name.startsWith('secret'))).toEqual(['secret.key'])
  }
  expect(steps).toBeGreaterThan(9)
}, 120_000)

/** Seals everything as earlier versions did, without places. */
function unbind(): void {
  const { config, secrets } = server.context
  const key = Buffer.from(readFileSync(config.paths.secretKey, 'utf8'), 'base64')
  const db = new DatabaseSync(config.paths.database)
  for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
    for (const row of db.prepare(`SELECT * FROM "${name}"`).all())
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== 'string' || !isSealed(value)) continue
        const [id, own = null] = Object.entries(row)[0] ?? []
        const old = sealUnbound(key, secrets.open(value, placeOf(name, row, column)))
        db.prepare(`UPDATE "${name}" SET ${column} = ? WHERE ${id} = ?`).run(old, own)
      }
  db.close()
}

function sealUnbound(key: Buffer, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return ['v1', ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join('.')
}

test.each([
  ['a start', async () => undefined],
  ['a rotation', async () => void expect(await rotate()).toMatchObject({ code: 0 })],
  [
    'a rotation of all',
    async () => void expect(await rotate(Number.POSITIVE_INFINITY, '--all')).toMatchObject({ code: 0 }),
  ],
])('texts that an earlier version sealed are bound to their place by %s, and open', async (by, act) => {
  const before = openAll(server.context)
  await server.close({ keepData: true })
  unbind()
  await act()
  await server.restart()
  const after = openAll(server.context)
  if (by !== 'a rotation of all') expect(after).toEqual(before)
  const settings = await server.context.db.selectFrom('settings').selectAll().execute()
  expect(settings.filter(({ value }) => isUnbound(value))).toEqual([])
  expect((await (await server.signIn()).get('/api/nodes/2/download')).statusCode).toBe(200)
})

test('a secret that was moved, or restored from an earlier copy, is refused with a message', async () => {
  const { db, secrets, config } = server.context
  const client = await server.signIn()
  const key = Buffer.from(readFileSync(config.paths.secretKey, 'utf8'), 'base64')
  const put = (text: string | null | undefined) =>
    writeRows(db, (tx, revision) => updateStated(tx, 'nodes', 3, revision, { private_key: text ?? null }))
  const other = await db.selectFrom('nodes').select('private_key').where('id', '=', 2).executeTakeFirst()
  await put(other?.private_key)
  expect((await client.get('/api/nodes/3/download')).statusCode).toBe(500)
  expect(server.logged()).toContain('cannot be opened with this key, or not in this row')
  await put(sealUnbound(key, 'an older key'))
  expect((await client.get('/api/nodes/3/download')).statusCode).toBe(500)
  expect(server.logged()).toContain('not a sealed secret')
  expect(secrets.open(other?.private_key ?? '', PLACES.node(2, 'private_key'))).toHaveLength(44)
})
