import { statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createExec, type Exec } from '@postern/host/processes/exec'
import { type FakeAgentServer, serveAgents } from '@postern/testkit/fakes/fake-agent-server'
import { findFreePort } from '@postern/testkit/port'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentPaths, readEnvironment } from '../config.ts'
import { findCredentials, findDaemonStatus } from '../store.ts'
import { config } from '../wanted.fixture.ts'
import type { Context } from './command.ts'
import { enrol } from './enrol.ts'

const TOKEN = 'ptn_secret'

let directory: string
let port: number
let server: Server
let fake: FakeAgentServer
let calls: string[]
let logged: string[]
let stop: AbortController
/** Without routes and name servers: what runs on this one may have a tunnel with the same network. */
let machine: Pick<Exec, 'run' | 'readFile'>

beforeEach(async () => {
  directory = tempDir()
  port = await findFreePort()
  calls = []
  logged = []
  stop = new AbortController()
  machine = { run: async () => printed(''), readFile: async () => undefined }
  server = createServer()
  fake = serveAgents(server, { onCall: (method, path) => calls.push(`${method} ${path}`) })
  fake.node = { token: TOKEN, config, isRevoked: false }
})
afterEach(() => {
  stop.abort()
  server.close()
})

const printed = (stdout: string) => ({ code: 0, stdout, stderr: '' })
const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
const paths = () => agentPaths(directory)

function run(variables: Record<string, string>) {
  const context: Context = {
    io: { out: () => undefined, err: () => undefined, colour: false, readInput: async () => '' },
    environment: readEnvironment({ POSTERN_AGENT_DIR: directory, ...variables }),
    exec: { ...createExec(), ...machine },
    version: '1.2.3',
    self: { program: 'node', args: [] },
    isPrivileged: true,
    now: Date.now,
    random: () => 0.99,
    signal: stop.signal,
  }
  return enrol({ context, paths: paths(), json: false }, (line) => logged.push(line))
}

const url = () => ({ POSTERN_URL: `http://127.0.0.1:${port}` })

test("the environment's server is registered once, and stored for this user alone", async () => {
  await listen()
  const first = await run({ ...url(), POSTERN_TOKEN: TOKEN })
  expect(first).toMatchObject({ url: url().POSTERN_URL, token: TOKEN, publicKey: fake.publicKey })
  expect(statSync(paths().credentials).mode & 0o777).toBe(0o600)
  expect(calls).toEqual(['GET /api/agent/config', 'PUT /api/agent/key'])
  expect(await run({ ...url(), POSTERN_TOKEN: TOKEN })).toEqual(first)
  expect(calls).toHaveLength(2)
})

test('a second start needs no server, and a new token means a new key', async () => {
  await listen()
  const first = await run({ ...url(), POSTERN_TOKEN: TOKEN })
  await new Promise((resolve) => server.close(resolve))
  expect(await run({ ...url(), POSTERN_TOKEN: TOKEN })).toEqual(first)
  expect(await run({})).toEqual(first)
  await listen()
  fake.node = { token: 'ptn_next', config, isRevoked: false }
  const next = await run({ ...url(), POSTERN_TOKEN: 'ptn_next' })
  expect(next?.privateKey).not.toBe(first?.privateKey)
})

test('the token may be in a file', async () => {
  await listen()
  writeFileSync(`${directory}/token`, `${TOKEN}\n`)
  expect(await run({ ...url(), POSTERN_TOKEN_FILE: `${directory}/token` })).toMatchObject({ token: TOKEN })
})

test('while the server is down it says so, tries again, and succeeds when the server is up', async () => {
  const running = run({ ...url(), POSTERN_TOKEN: TOKEN })
  const status = await until('the status', () => findDaemonStatus(paths()))
  expect(status).toMatchObject({ state: 'failed', outcome: 'server-unreachable', serverReachable: false })
  await listen()
  expect(await running).toMatchObject({ token: TOKEN })
  expect(logged).toEqual(['cannot connect: Cannot reach the server: 127.0.0.1 refused the connection'])
})

test('a rejected token is no reason to end: the status says it until the program is stopped', async () => {
  await listen()
  const running = run({ ...url(), POSTERN_TOKEN: 'ptn_wrong' })
  const status = await until('the status', () => findDaemonStatus(paths()))
  expect(status).toMatchObject({ state: 'refused', outcome: 'token-refused' })
  stop.abort()
  expect(await running).toBeUndefined()
  expect(await findCredentials(paths())).toBeUndefined()
  expect(logged.join()).not.toContain('ptn_wrong')
})

test.each<[string, Partial<Exec>, RegExp]>([
  [
    'a route',
    { run: async () => printed('[{"dst":"10.64.0.0/16","dev":"postern0"}]') },
    /wants 10.64.0.0\/16 for its tunnel, which this machine reaches by postern0$/,
  ],
  [
    'a name server',
    { readFile: async () => 'nameserver 10.64.0.9\n' },
    /wants 10.64.0.0\/16 for its tunnel, which has this machine's name server 10.64.0.9 in it$/,
  ],
])("%s of this machine in the tunnel's network is told in the status", async (_, over, problem) => {
  await listen()
  Object.assign(machine, over)
  const running = run({ ...url(), POSTERN_TOKEN: TOKEN })
  const status = await until('the status', () => findDaemonStatus(paths()))
  expect(status).toMatchObject({ outcome: 'server-answer', problem: expect.stringMatching(problem) })
  stop.abort()
  expect(await running).toBeUndefined()
})

test('a failure that does not go away by waiting ends the program with the reason', async () => {
  await expect(run({})).rejects.toThrow('set POSTERN_URL and POSTERN_TOKEN')
  await expect(run(url())).rejects.toThrow('A token is required')
  await expect(run({ POSTERN_URL: 'http://postern.example.com', POSTERN_TOKEN: TOKEN })).rejects.toThrow(
    'must begin with https://',
  )
  const both = { POSTERN_TOKEN: TOKEN, POSTERN_TOKEN_FILE: '/x' }
  await expect(run({ ...url(), ...both })).rejects.toThrow('either POSTERN_TOKEN or POSTERN_TOKEN_FILE')
})
