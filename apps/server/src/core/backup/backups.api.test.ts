import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.parse('2026-03-02T12:00:00Z')

let above: string
let directory: string
let server: TestServer
let onDisk: () => Promise<void>
const disk = { free: 1e12, total: 1e12 }

beforeEach(async () => {
  disk.free = 1e12
  onDisk = async () => undefined
  above = tempDir()
  directory = join(above, 'copies')
  server = await begin()
})
afterEach(() => server?.close())

const begin = (settings: Record<string, string> = {}) =>
  startTestServer({
    now: START,
    settings: { POSTERN_BACKUP_DIR: directory, POSTERN_BACKUP_KEEP: '3', ...settings },
    world: {
      async disk() {
        await onDisk()
        return disk
      },
    },
  })

const names = () => readdirSync(directory).sort()
const state = () => server.context.backups.state()
/** Lets time pass as the server's own clock looks. */
async function pass(ms: number, step = HOUR / 2) {
  const end = server.now + ms
  while (server.now < end) {
    server.now = Math.min(end, server.now + step)
    await server.context.backups.upkeep()
  }
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a copy is made at the first upkeep, and then once a day, and so many are kept', async () => {
  await server.context.backups.upkeep()
  expect(names()).toEqual(['postern-2026-03-02T120000Z'])
  await pass(DAY - HOUR)
  expect(names()).toHaveLength(1)
  await pass(2 * HOUR)
  expect(names()).toEqual(['postern-2026-03-02T120000Z', 'postern-2026-03-03T120000Z'])
  await pass(3 * DAY)
  expect(names()).toEqual([
    'postern-2026-03-04T120000Z',
    'postern-2026-03-05T120000Z',
    'postern-2026-03-06T120000Z',
  ])
  expect(state()).toMatchObject({ copies: 3, isRunning: false, failure: null })
  expect(state().last).toMatchObject({ name: 'postern-2026-03-06T120000Z', at: '2026-03-06T12:00:00.000Z' })
})

test('without a directory nothing is made, and that is no problem', async () => {
  await server.close()
  server = await begin({ POSTERN_BACKUP_DIR: '' })
  await pass(3 * DAY)
  expect(existsSync(directory)).toBe(false)
  expect(server.context.backups.isMissed()).toBe(false)
  const client = await server.signIn()
  const answer = await client.post('/api/settings/backups')
  expect(answer.statusCode).toBe(409)
  expect(answer.json().message).toContain('Set POSTERN_BACKUP_DIR')
})

test('nobody but the server’s user can read a copy, whatever the mask and the directory', async () => {
  const mask = process.umask(0)
  try {
    mkdirSync(directory, { mode: 0o755 })
    await server.context.backups.upkeep()
  } finally {
    process.umask(mask)
  }
  const [name = ''] = names()
  const copy = join(directory, name)
  expect(readdirSync(copy).sort()).toEqual(['postern.db', 'secret.key'])
  expect([copy, join(copy, 'postern.db'), join(copy, 'secret.key')].map(modeOf)).toEqual([
    '700',
    '600',
    '600',
  ])
  const { secretKey } = installationPaths(server.dataDir)
  expect(readFileSync(join(copy, 'secret.key'))).toEqual(readFileSync(secretKey))
})

test('the directory itself is made for the server’s user alone', async () => {
  await server.context.backups.upkeep()
  expect(modeOf(directory)).toBe('700')
})

test('a directory in which everybody may write is refused', async () => {
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  await server.context.backups.upkeep()
  expect(names()).toEqual([])
  expect(state().failure?.problem).toContain('Everybody on this machine may write')
})

test('a restart makes no copy while the last one is younger than a day, and a late one at once', async () => {
  await server.context.backups.upkeep()
  for (let each = 0; each < 5; each++) {
    server.now += 60_000
    await server.restart()
    await server.context.backups.upkeep()
  }
  expect(names()).toHaveLength(1)
  server.now = START + 5 * DAY
  await server.restart()
  await server.context.backups.upkeep()
  expect(names()).toHaveLength(2)
})

test('without room nothing is written, earlier copies stay, and it is tried again after an hour', async () => {
  await server.context.backups.upkeep()
  disk.free = 10_000
  await pass(DAY)
  expect(names()).toEqual(['postern-2026-03-02T120000Z'])
  expect(state().failure?.problem).toMatch(
    /^The copy needs \d\.\d MB, and the disk of the directory has 0\.0 MB left/,
  )
  disk.free = 1e12
  await pass(HOUR - 60_000, 60_000)
  expect(names()).toHaveLength(1)
  await pass(60_000)
  expect(names()).toHaveLength(2)
  expect(state().failure).toBeNull()
})

test('a failure is remembered over restarts, which do not try again before an hour', async () => {
  writeFileSync(directory, 'a file')
  await server.context.backups.upkeep()
  expect(state().failure).toEqual({
    at: '2026-03-02T12:00:00.000Z',
    problem: 'It is not a directory. Choose another.',
  })
  await server.restart()
  expect(state().failure?.problem).toBe('It is not a directory. Choose another.')
  server.now += HOUR / 2
  await server.context.backups.upkeep()
  expect(state().failure?.at).toBe('2026-03-02T12:00:00.000Z')
  await pass(HOUR / 2)
  expect(state().failure?.at).toBe('2026-03-02T13:00:00.000Z')
  // What was said of another directory says nothing of this one.
  await server.restart({ settings: { POSTERN_BACKUP_DIR: above } })
  expect(state().failure).toBeNull()
})

test('a disk that is not mounted is missed: nothing above the directory is made', async () => {
  await server.close()
  server = await begin({ POSTERN_BACKUP_DIR: join(above, 'mnt', 'copies') })
  await server.context.backups.upkeep()
  expect(readdirSync(above)).toEqual([])
  expect(state().failure?.problem).toBe('The directory above it does not exist. Make it, or mount its disk.')
})

test('what a killed server left half made goes, and what is not ours stays', async () => {
  mkdirSync(join(directory, '.postern-2026-03-01T120000Z.partial'), { recursive: true })
  writeFileSync(join(directory, '.postern-2026-03-01T120000Z.partial', 'postern.db'), 'half')
  writeFileSync(join(directory, '.postern-2026-03-01T120000Z.partial', 'postern.db-journal'), 'half')
  mkdirSync(join(directory, 'postern-2026-02-01T120000Z'))
  writeFileSync(join(directory, 'postern-2026-02-01T120000Z', 'secret.key'), 'left of a removal')
  for (const own of ['photos', 'postern-2026-99-99T999999Z', 'postern-before-upgrade'])
    mkdirSync(join(directory, own))
  writeFileSync(join(directory, 'postern-2020-01-01T000000Z'), 'a file of this name')
  const elsewhere = join(above, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'postern.db'), 'not a copy of this directory')
  symlinkSync(elsewhere, join(directory, 'postern-2020-01-02T000000Z'))
  await pass(5 * DAY)
  expect(names().filter((name) => !name.startsWith('postern-2026-03'))).toEqual([
    'photos',
    'postern-2020-01-01T000000Z',
    'postern-2020-01-02T000000Z',
    'postern-2026-99-99T999999Z',
    'postern-before-upgrade',
  ])
  expect(readdirSync(elsewhere)).toEqual(['postern.db'])
  expect(names().filter((name) => name.startsWith('postern-2026-03'))).toHaveLength(3)
})

test('a link in the way is not followed', async () => {
  mkdirSync(directory)
  const elsewhere = join(above, 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, join(directory, '.postern-2026-03-02T120000Z.partial'))
  await server.context.backups.upkeep()
  expect(readdirSync(elsewhere)).toEqual([])
  expect(state().failure?.problem).toContain('EEXIST')
  expect(lstatSync(join(directory, '.postern-2026-03-02T120000Z.partial')).isSymbolicLink()).toBe(true)
})

test('a copy of a time that is still to come neither stops the next ones nor drives them out', async () => {
  mkdirSync(join(directory, 'postern-2031-01-01T000000Z'), { recursive: true })
  writeFileSync(join(directory, 'postern-2031-01-01T000000Z', 'postern.db'), 'by a wrong clock')
  await pass(4 * DAY)
  expect(names()).toEqual([
    'postern-2026-03-03T123000Z',
    'postern-2026-03-04T123000Z',
    'postern-2026-03-05T123000Z',
  ])
})

test('a key that is not that of the database is not copied', async () => {
  const { secretKey } = installationPaths(server.dataDir)
  const real = readFileSync(secretKey)
  writeFileSync(secretKey, `${Buffer.alloc(32, 1).toString('base64')}\n`)
  await server.context.backups.upkeep()
  expect(names()).toEqual([])
  expect(state().failure?.problem).toContain('is not the key that the server runs with')
  writeFileSync(secretKey, real)
})

test('a person makes one now, one at a time, and not for ever', async () => {
  const client = await server.signIn()
  const both = await Promise.all([client.post('/api/settings/backups'), client.post('/api/settings/backups')])
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409])
  expect(both.find(({ statusCode }) => statusCode === 409)?.json().message).toContain(
    'A backup is being made',
  )
  expect(names()).toHaveLength(1)
  await until('it is done', () => !state().isRunning)
  const codes: number[] = []
  for (let each = 0; each < 10; each++) {
    server.now += 1000
    codes.push((await client.post('/api/settings/backups')).statusCode)
  }
  expect(codes).toEqual([...Array(9).fill(200), 429])
  expect(names()).toHaveLength(3)
  expect((await client.get('/api/settings/backups')).json()).toMatchObject({
    directory,
    keep: 3,
    copies: 3,
    isRunning: false,
    failure: null,
    last: { bytes: expect.any(Number) },
  })
})

test('copies that a person asks for drive out none of an earlier day', async () => {
  await pass(2 * DAY)
  const before = names()
  const client = await server.signIn()
  for (let each = 0; each < 5; each++) {
    server.now += 60_000
    expect((await client.post('/api/settings/backups')).json().failure).toBeNull()
  }
  expect(names()).toHaveLength(3)
  expect(names().slice(0, 2)).toEqual(before.slice(0, 2))
  expect(state().last?.at).toBe(new Date(server.now).toISOString())
})

test('a server that ends stops a copy, leaves no half of it, and says nothing of a failure', async () => {
  const { backups } = server.context
  const closing = Promise.withResolvers<void>()
  onDisk = async () => closing.resolve(backups.close())
  await backups.upkeep()
  await closing.promise
  await server.restart()
  expect(names()).toEqual([])
  expect(state().failure).toBeNull()
  onDisk = async () => undefined
  await server.context.backups.upkeep()
  expect(names()).toHaveLength(1)
})
