import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Domain } from '@postern/contract/domains'
import { installationPaths } from '@postern/contract/installation'
import type { CreatedNode, NodeFormInput } from '@postern/contract/nodes'
import { parseSettings } from '@postern/contract/settings/settings'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { buildApp } from '../../../apps/server/src/app.ts'
import { startOrders } from '../../../apps/server/src/certificates/orders/engine.ts'
import { startRenewal } from '../../../apps/server/src/certificates/renewal.ts'
import { publicHostOf, type ServerConfig } from '../../../apps/server/src/config.ts'
import {
  buildContext,
  type Context,
  createLog,
  realWorld,
  type World,
} from '../../../apps/server/src/context.ts'
import { prepareInstallation } from '../../../apps/server/src/core/first-start.ts'
import { takeBackDue } from '../../../apps/server/src/core/history/pending.ts'
import { startEnding } from '../../../apps/server/src/core/services/ending.ts'
import type { MachineNetwork } from '../../../apps/server/src/network.ts'
import { checkAnswer } from './contract-check.ts'
import { holdWholeNumbers } from './whole-numbers.ts'

export interface TestServerOptions {
  settings?: Record<string, string>
  world?: Partial<World>
  /** Behaves as behind HAProxy: forwarded headers count. */
  trustForwarded?: boolean
  /** Its fixed time until a test moves it; without this it follows the machine's clock. */
  now?: number
  /** Uses the data directory of an earlier server. */
  dataDir?: string
  rootDir?: string
  /** What tests check beside takes time: answers against the contract, numbers, the order of rows. */
  isMeasured?: boolean
}

/** A real server over a real database in a directory of its own. */
export interface TestServer {
  /** That of the running server: a new one after a restart, like its `app`. */
  readonly context: Context
  readonly app: FastifyInstance
  dataDir: string
  /** The time of its clock; setting it stops the clock there. */
  now: number
  /** Its log, as lines of JSON. */
  logged(): string
  /** A request without a credential. The answer is checked against the contract. */
  call(options: InjectOptions): Promise<LightMyRequestResponse>
  /** Sends requests with a token of any kind, even an invalid one. */
  as(token: string): Client
  signIn(): Promise<Client>
  /** Opens a real port of 127.0.0.1. @returns its `origin` */
  listen(): Promise<string>
  /** `http://127.0.0.1:<port>`, once it listens. */
  readonly origin: string
  /** Also opens the socket, for an edge. */
  listenOnSocket(): Promise<void>
  /** Ends it and starts it again from the same data, optionally with `other` options and after some work in between. */
  restart(other?: TestServerOptions, meanwhile?: () => unknown): Promise<void>
  /** Ends it; removes the data directory too, unless it is to be used again. */
  close(options?: { keepData?: boolean }): Promise<void>
}

/** Requests with one token, such as a signed-in user's. The named ones throw unless they succeed. */
export interface Client {
  token: string
  createNode(form: NodeFormInput): Promise<CreatedNode>
  createDomain(form: object): Promise<Domain>
  get(url: string): Promise<LightMyRequestResponse>
  post(url: string, body?: unknown): Promise<LightMyRequestResponse>
  put(url: string, body?: unknown): Promise<LightMyRequestResponse>
  patch(url: string, body?: unknown): Promise<LightMyRequestResponse>
  delete(url: string): Promise<LightMyRequestResponse>
}

export const TEST_ADMIN = { username: 'admin', password: 'correct horse battery' } as const

/** A machine with one public address, whatever the test runs on. */
export const TEST_NETWORK: MachineNetwork = {
  addresses: ['127.0.0.1', '203.0.113.1'],
  networks: ['127.0.0.0/8', '203.0.113.0/24'],
  dependsOn: ['203.0.113.254'],
  defaultAddress: '203.0.113.1',
}

const TEST_WORLD: World = {
  ...realWorld,
  network: () => TEST_NETWORK,
  // No request of a test leaves the machine.
  visit: async () => ({ kind: 'silent' }),
  passwordCost: { memory: 8, passes: 1 },
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  if (!options.isMeasured) holdWholeNumbers()
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'pt-server-'))
  const lines: string[] = []
  let { now } = options
  const clock = () => now ?? Date.now()
  const begin = (wanted: TestServerOptions) =>
    run(dataDir, { ...wanted, world: { clock, ...wanted.world } }, lines)
  let running = await begin(options)
  const call = async (request: InjectOptions) => {
    const answer = await running.app.inject(request)
    if (!options.isMeasured) holdAgainstContract(request, answer)
    return answer
  }
  return {
    get context() {
      return running.context
    },
    get app() {
      return running.app
    },
    get now() {
      return clock()
    },
    set now(time) {
      now = time
    },
    dataDir,
    logged: () => lines.join(''),
    call,
    as: (token) => speakAs(call, token),
    signIn: async () => speakAs(call, await signIn(call)),
    get origin() {
      // A TCP listener has this kind of address.
      return `http://127.0.0.1:${(running.app.server.address() as AddressInfo).port}`
    },
    listen: () => running.app.listen({ host: '127.0.0.1', port: 0 }),
    listenOnSocket: () => running.listenOnSocket(),
    async restart(other, meanwhile) {
      await running.close()
      await meanwhile?.()
      running = await begin({ ...options, ...other })
    },
    async close({ keepData = false } = {}) {
      await running.close()
      if (!keepData) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function run(dataDir: string, options: TestServerOptions, lines: string[]) {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const context = await buildContext(testConfig(dataDir, options), createLog('debug', destination), {
    ...TEST_WORLD,
    ...options.world,
  })
  // Rows come in another order than they usually do, unless a statement says which.
  if (!options.isMeasured)
    for (const db of [context.db, context.liveDb])
      await sql`PRAGMA reverse_unordered_selects = ON`.execute(db)
  await prepareInstallation(context)
  await startRenewal(context)
  await takeBackDue(context)
  await startEnding(context)
  const { POSTERN_ACME_DIRECTORY, POSTERN_ACME_CA_FILE } = options.settings ?? {}
  if (POSTERN_ACME_DIRECTORY || POSTERN_ACME_CA_FILE) await startOrders(context)
  const app = await buildApp(context, { trustForwarded: options.trustForwarded ?? false })
  const open = [app]
  let ending: Promise<void> | undefined
  const end = async () => {
    await Promise.all(open.map((each) => each.close()))
    await context.dispose()
  }
  return {
    context,
    app,
    async listenOnSocket() {
      mkdirSync(context.config.paths.runDir, { recursive: true })
      const behindProxy = await buildApp(context, { trustForwarded: true })
      open.push(behindProxy)
      await behindProxy.listen({ path: context.config.paths.serverSocket })
    },
    async close() {
      ending ??= end()
      await ending
    },
  }
}

function holdAgainstContract({ method = 'GET', url }: InjectOptions, answer: LightMyRequestResponse): void {
  const type = answer.headers['content-type']?.toString()
  // The library takes an address in several forms; tests use text.
  checkAnswer({ method, url: String(url), status: answer.statusCode, type, text: answer.body })
}

function testConfig(dataDir: string, { settings, rootDir }: TestServerOptions): ServerConfig {
  const given = {
    POSTERN_DATA_DIR: dataDir,
    POSTERN_ADMIN_USERNAME: TEST_ADMIN.username,
    POSTERN_ADMIN_PASSWORD: TEST_ADMIN.password,
    ...settings,
  }
  const parsed = parseSettings(given)
  const defaultHost = TEST_NETWORK.defaultAddress ?? undefined
  const publicHost = publicHostOf(parsed, defaultHost)
  return {
    ...{ settings: parsed, given, defaultHost, publicHost, ownHosts: [publicHost] },
    paths: installationPaths(parsed.POSTERN_DATA_DIR),
    version: '0.1.0',
    rootDir: rootDir ?? new URL('../../..', import.meta.url).pathname.replace(/\/$/, ''),
  }
}

async function signIn(call: TestServer['call']): Promise<string> {
  const login = await call({ method: 'POST', url: '/api/auth/login', payload: TEST_ADMIN })
  return login.json<{ token: string }>().token
}

function speakAs(call: TestServer['call'], token: string): Client {
  const headers = { authorization: `Bearer ${token}` }
  // A test may send anything: the server parses it.
  const send = (method: 'POST' | 'PUT' | 'PATCH', url: string, body: unknown = {}) =>
    call({ method, url, headers, payload: body as InjectOptions['payload'] })
  const create = async (url: string, form: object) => {
    const answer = await send('POST', url, form)
    if (answer.statusCode === 201) return answer.json()
    throw new Error(`${url} answered ${answer.statusCode}: ${answer.body}`)
  }
  return {
    token,
    createNode: (form) => create('/api/nodes', form),
    createDomain: (form) => create('/api/domains', form),
    get: (url) => call({ method: 'GET', url, headers }),
    post: (url, body) => send('POST', url, body),
    put: (url, body) => send('PUT', url, body),
    patch: (url, body) => send('PATCH', url, body),
    delete: (url) => call({ method: 'DELETE', url, headers }),
  }
}
