import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { finished } from 'node:stream/promises'
import { findFreePort } from '@postern/testkit/port'
import { baseEnvironment } from '@postern/testkit/processes/exec'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { migrate } from './db/migrate.ts'
import { MIGRATIONS } from './db/migrations/index.ts'
import { openDatabase } from './db/open.ts'

// Every test starts programs, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 60_000 })

let dataDir: string
const running: ChildProcess[] = []

beforeEach(() => {
  dataDir = tempDir()
  mkdirSync(join(dataDir, 'run'))
})
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

interface Program {
  child: ChildProcess
  stdout: string
  stderr: string
  messages: unknown[]
  code: Promise<number | null>
}

function start(settings: Record<string, string>, { ipc = false, args = [] as string[] } = {}): Program {
  const child = spawn(process.execPath, [new URL('main.ts', import.meta.url).pathname, ...args], {
    env: { ...baseEnvironment(), POSTERN_DATA_DIR: dataDir, POSTERN_PUBLIC_HOST: '203.0.113.1', ...settings },
    stdio: ipc ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  const program: Program = {
    child,
    stdout: '',
    stderr: '',
    messages: [],
    code: ended(child),
  }
  child.stdout?.on('data', (chunk) => {
    program.stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    program.stderr += chunk
  })
  child.on('message', (message) => program.messages.push(message))
  return program
}

/** The exit code, after all output; `close` is not emitted once the channel was ended from here. */
async function ended(child: ChildProcess): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', resolve)
  await Promise.all([child.stdout, child.stderr].map((stream) => stream && finished(stream)))
  return await promise
}

/** A reader that would keep the server from stopping. */
async function openStream(base: string, ready: unknown): Promise<Response> {
  const { generatedAdmin } = ready as { generatedAdmin: object }
  const body = JSON.stringify(generatedAdmin)
  const headers = { 'content-type': 'application/json' }
  const login = await fetch(`${base}/api/auth/login`, { method: 'POST', headers, body })
  const { token } = (await login.json()) as { token: string }
  return await fetch(`${base}/api/nodes/stream?token=${token}`)
}

/** Through the socket, like HAProxy and the edge. */
const isAtSocket = (path: string) => () =>
  new Promise<boolean>((resolve) => {
    const request = get({ socketPath: path, path: '/api/health', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    request.once('error', () => resolve(false))
  })

const isUp = (port: number) => async () => (await fetch(`http://127.0.0.1:${port}/api/health`)).ok

test('its socket comes back after somebody has removed it, or its directory, and the log says so', async () => {
  const server = start({ POSTERN_CONSOLE_PORT: String(await findFreePort()) }, { ipc: true })
  await until('ready', () => server.messages.length > 0)
  const path = join(dataDir, 'run/server.sock')
  for (const removed of [path, join(dataDir, 'run'), path]) {
    rmSync(removed, { recursive: true })
    await until('an answer', isAtSocket(path))
    expect(statSync(path).mode & 0o777).toBe(0o660)
  }
  expect(server.stderr.match(/was removed, and the server listens there again/g)).toHaveLength(3)
  server.child.kill('SIGTERM')
  expect(await server.code).toBe(0)
})

test('without the right to make that directory it ends, so that its starter can make it', async () => {
  const server = start({ POSTERN_CONSOLE_PORT: String(await findFreePort()) }, { ipc: true })
  await until('ready', () => server.messages.length > 0)
  rmSync(join(dataDir, 'run'), { recursive: true })
  writeFileSync(join(dataDir, 'run'), '')
  expect(await server.code).toBe(1)
  expect(server.stderr).toMatch(/cannot listen on .*server\.sock again/)
})

test('it sends the starter the generated password once, listens on both, and stops within ten seconds', async () => {
  const port = await findFreePort()
  const settings = { POSTERN_CONSOLE_PORT: String(port) }
  const first = start(settings, { ipc: true })
  await until('ready', () => first.messages.length > 0)
  expect(first.messages[0]).toEqual({
    type: 'ready',
    publicUrl: expect.stringMatching(/^https:/),
    generatedAdmin: { username: 'admin', password: expect.stringMatching(/^[\w-]{20}$/) },
  })
  expect(await isUp(port)()).toBe(true)
  expect(statSync(join(dataDir, 'run/server.sock')).mode & 0o777).toBe(0o660)
  expect(statSync(join(dataDir, 'server/postern.db')).mode & 0o777).toBe(0o600)
  const stream = await openStream(`http://127.0.0.1:${port}`, first.messages[0])
  expect(stream.status).toBe(200)
  const asked = performance.now()
  first.child.kill('SIGTERM')
  expect(await first.code).toBe(0)
  expect(performance.now() - asked).toBeLessThan(10_000)
  expect(first.stdout).toBe('')

  const second = start(settings, { ipc: true })
  await until('ready again', () => second.messages.length > 0)
  expect(second.messages[0]).toEqual({ type: 'ready', publicUrl: expect.stringMatching(/^https:/) })
  await until('a sign that it does not hang', () => second.messages.length > 1)
  expect(second.messages[1]).toEqual({ type: 'beat' })
  second.child.disconnect()
  expect(await second.code).toBe(0)
})

test('without a starter the password is on the screen once', async () => {
  const settings = { POSTERN_CONSOLE_PORT: String(await findFreePort()) }
  const program = start(settings)
  await until('the password', () => /^Sign in as admin with the password \S{20}\n$/.test(program.stdout))
  program.child.kill('SIGINT')
  expect(await program.code).toBe(0)
})

test('an unknown option is one clear line, before anything is made', async () => {
  const program = start({}, { args: ['--port=80'] })
  expect(await program.code).toBe(2)
  expect(program.stderr).toBe('postern: --port=80 is not an option of this program, which has none\n')
  expect(existsSync(join(dataDir, 'server'))).toBe(false)
})

test('a taken port is reported; the console is at its socket, and at the port once that is free', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => holder.once('listening', resolve))
  const address = holder.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const program = start({ POSTERN_CONSOLE_PORT: String(port), POSTERN_LOG_LEVEL: 'error' })
  const socketPath = join(dataDir, 'server/console.sock')
  await until('the console’s socket', isAtSocket(socketPath))
  expect(statSync(socketPath).mode & 0o777).toBe(0o600)
  expect(program.stderr).toContain(
    `port ${port} of 127.0.0.1 is taken: end what uses it, or set POSTERN_CONSOLE_PORT to a free one`,
  )
  holder.close()
  await until('the port', isUp(port))
  program.child.kill('SIGTERM')
  expect(await program.code).toBe(0)
  expect(existsSync(socketPath)).toBe(false)
})

test('a bad setting, a missing directory and a newer database are one clear line each', async () => {
  const bad = start({ POSTERN_HTTP_PORT: 'eighty' })
  expect(await bad.code).toBe(1)
  expect(bad.stderr).toBe('postern: POSTERN_HTTP_PORT must be a port from 1 to 65535\n')

  rmSync(join(dataDir, 'run'), { recursive: true })
  const missing = start({ POSTERN_CONSOLE_PORT: String(await findFreePort()), POSTERN_LOG_LEVEL: 'error' })
  expect(await missing.code).toBe(1)
  expect(missing.stderr).toBe(`postern: ${dataDir}/run does not exist: start with npm start\n`)

  const db = openDatabase(join(dataDir, 'server/postern.db'))
  await sql`PRAGMA user_version = 99`.execute(db)
  await db.destroy()
  const newer = start({})
  expect(await newer.code).toBe(1)
  expect(newer.stderr).toMatch(/^postern: \S+\/postern\.db has version 99, this program knows \d+: .*\n$/)
})

test('an older database is brought up to date, and the log names the copy that is kept', async () => {
  mkdirSync(join(dataDir, 'server'))
  const file = join(dataDir, 'server/postern.db')
  const older = new DatabaseSync(file)
  migrate(older, MIGRATIONS.slice(0, -1))
  older.close()
  const port = await findFreePort()
  const program = start({ POSTERN_CONSOLE_PORT: String(port) })
  await until('the server', isUp(port))
  const copy = `${file}.version-${MIGRATIONS.length - 1}`
  await until('the log', () => program.stderr.includes(copy))
  expect(existsSync(copy)).toBe(true)
})

test('a dead socket is replaced, one that answers is not', async () => {
  const port = await findFreePort()
  writeFileSync(join(dataDir, 'run/server.sock'), '')
  const first = start({ POSTERN_CONSOLE_PORT: String(port) })
  await until('the server', isUp(port))
  const second = start({ POSTERN_CONSOLE_PORT: String(await findFreePort()), POSTERN_LOG_LEVEL: 'error' })
  expect(await second.code).toBe(1)
  expect(second.stderr).toContain('another server answers on')
  expect(existsSync(join(dataDir, 'run/server.sock'))).toBe(true)
  first.child.kill('SIGKILL')
  await first.code
  const third = start({ POSTERN_CONSOLE_PORT: String(port) })
  await until('the server again', isUp(port))
  third.child.kill('SIGTERM')
  expect(await third.code).toBe(0)
})
