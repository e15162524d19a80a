import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DesiredState } from '@postern/contract/edge/desired-state'
import type { EdgeReport } from '@postern/contract/edge/edge-messages'
import { installationPaths } from '@postern/contract/installation'
import { tableOf } from '@postern/render/nftables/plan'
import {
  type EdgesAuthority,
  edgeLeaf,
  makeEdgesAuthority,
  SERVER_LEAF,
} from '@postern/testkit/authority/edges-authority'
import { type FakeServer, startFarFakeServer } from '@postern/testkit/fakes/fake-server'
import { baseEnvironment } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeRealCertificate } from '../test/certificate.ts'
import { makePeer, makeRoute, makeState } from '../test/factories.ts'
import { startLab } from '../test/lab.ts'
import { openIdentity, writeIdentity } from './identity/identity.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const RELAY = fileURLToPath(new URL('../../../packages/testkit/src/programs/relay.ts', import.meta.url))
const PORT = 8443

let authority: EdgesAuthority
let server: FakeServer | undefined
let edge: ChildProcess
let good: DesiredState
let revision = 7
let stderr = ''

const lab = shared(startLab)
const paths = () => installationPaths(lab.dir)
const door = () => `${lab.dir}/door.sock`

beforeAll(async () => {
  authority = await makeEdgesAuthority()
  const certificates = [await makeRealCertificate(0, ['edge.example.com'])]
  good = makeState({ peers: [makePeer(1)], routes: [makeRoute(1)], certificates })
  const { publicHost, tunnelNetwork4, tunnelNetwork6 } = good.settings
  const servers = [{ name: 'Server', url: `https://127.0.0.1:${PORT}` }]
  mkdirSync(paths().edgeDir, { mode: 0o700 })
  await writeIdentity(paths().identityDir, {
    ...(await authority.issue(edgeLeaf(2))),
    root: authority.root,
    known: { edgeId: 2, publicHost, tunnelNetwork4, tunnelNetwork6, servers },
  })
  lab.start([process.execPath, RELAY, '127.0.0.1', String(PORT), door()], { logFile: `${lab.dir}/relay.log` })
  await serve()
  startMain()
  await until('the good state', () => lastReport()?.applied === revision)
})
afterAll(async () => {
  edge?.kill('SIGKILL')
  await server?.close()
})
beforeEach(() => {
  stderr = ''
})

async function serve(by: EdgesAuthority = authority): Promise<void> {
  rmSync(door(), { force: true })
  const proof = await by.issue(SERVER_LEAF)
  server = await startFarFakeServer({ ...proof, root: authority.root }, { ...good, revision }, door())
}

function startMain(...args: string[]): Promise<number | null> {
  const child = spawn('ip', ['netns', 'exec', lab.name, process.execPath, MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...baseEnvironment(), POSTERN_DATA_DIR: lab.dir, POSTERN_TUNNEL_INTERFACE: lab.interface },
  })
  edge = child
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + String(chunk)).slice(-4000)
  })
  return new Promise((resolve) => child.once('close', resolve))
}

const lastReport = (): EdgeReport | undefined =>
  server?.messages.flatMap((message) => (message.type === 'report' ? message.report : [])).at(-1)
const known = async () => (await openIdentity(paths().identityDir))?.current().known

/** @returns the edge's report of the server's next answer */
function answer(settings: Partial<DesiredState['settings']>) {
  if (!server) throw new Error('no server runs')
  revision++
  const hashes = { ...good.hashes, settings: `s${revision}` }
  server.state = { ...good, revision, hashes, settings: { ...good.settings, ...settings } }
  server.hint({ type: 'changed', revision })
  return until('the report', () => {
    const report = lastReport()
    return report?.wanted === revision && (report.applied === revision || report.isStuck) && report
  })
}

test('an edge elsewhere needs no socket of a server, and has HAProxy ask the server over TLS', async () => {
  expect(existsSync(paths().runDir)).toBe(false)
  expect(existsSync(paths().edgeToken)).toBe(false)
  const config = readFileSync(`${paths().haproxyDir}/haproxy.cfg`, 'utf8')
  expect(config).toMatch(/server target 127\.0\.0\.1:8443 ssl ssl-min-ver TLSv1\.3 verify required/)
  expect(config).not.toContain('server.sock')
})

test.each<[string, Partial<DesiredState['settings']>, string]>([
  ['another network', { tunnelNetwork4: '10.65.0.0/16' }, 'but this edge has joined one with 10.64.0.0/16'],
  ['another network of IPv6', { tunnelNetwork6: 'fd00:1:3::/64' }, 'has joined one with fd00:1:2::/64'],
  ['another host', { publicHost: 'other.example.com' }, 'but this edge has joined edge.example.com'],
])('a state with %s is refused as a whole', async (_, settings, words) => {
  await answer({})
  const [before, applied] = [await lab.must('wg', 'show', lab.interface, 'dump'), revision]
  expect(await answer(settings)).toMatchObject({
    applied,
    problems: [{ scope: { kind: 'edge' }, message: expect.stringContaining(words) }],
  })
  expect(await lab.must('wg', 'show', lab.interface, 'dump')).toBe(before)
  expect(await known()).toMatchObject({ publicHost: 'edge.example.com', tunnelNetwork4: '10.64.0.0/16' })
})

test('another server at the same address is told nothing, and the edge serves on', async () => {
  await answer({})
  await server?.close()
  await serve(await makeEdgesAuthority())
  await until('the words', () => stderr.includes('not the one that this edge joined'))
  expect([server?.messages, server?.fetches]).toEqual([[], []])
  expect(await lab.must('wg', 'show', lab.interface, 'peers')).toContain(good.peers[0]?.publicKey ?? '-')
  await server?.close()
  await serve()
  await until('the right one', () => lastReport()?.applied === revision)
})

test('an edge that starts while no server answers begins with its last state, and catches up', async () => {
  await answer({})
  await until('it to be kept', () =>
    readFileSync(paths().lastGood, 'utf8').includes(`"revision":${revision},`),
  )
  await server?.close()
  edge.kill('SIGKILL')
  await lab.must('nft', 'flush', 'ruleset')
  void startMain()
  const tables = () => lab.must('nft', 'list', 'tables')
  await until('the table', async () => (await tables()).includes(tableOf(lab.interface)))
  revision++
  await serve()
  const began = Date.now()
  await until('the newer state', () => lastReport()?.applied === revision)
  // Five times what is promised, since tests share their machine.
  expect(Date.now() - began).toBeLessThan(25_000)
})

test('where the servers are, and a host that the installation has moved to, is kept', async () => {
  const servers = [{ name: 'Server', url: `https://localhost:${PORT}` }]
  await answer({ publicHost: 'new.example.com', formerHosts: ['edge.example.com'], servers })
  await until('it to be kept', async () => (await known())?.publicHost === 'new.example.com')
  expect((await known())?.servers).toEqual(servers)
  const config = () => readFileSync(`${paths().haproxyDir}/haproxy.cfg`, 'utf8')
  await until('HAProxy to know it', () => config().includes('server target 127.0.0.1:8443'))
})

test('an edge that leaves ends its traffic, and keeps nothing of the installation', async () => {
  expect(await startMainAgain('leave')).toBe(1)
  expect(stderr).toContain('The edge is running. Stop it first')
  edge.kill('SIGKILL')
  expect(await startMain('leave')).toBe(0)
  expect(existsSync(paths().identityDir)).toBe(false)
  expect(existsSync(paths().lastGood)).toBe(false)
  expect(existsSync(paths().haproxyDir)).toBe(false)
  expect(await lab.must('nft', 'list', 'tables')).not.toContain(tableOf(lab.interface))
  expect(await startMain('leave')).toBe(1)
  expect(stderr).toContain('has not joined')
})

/** A second program, while the edge runs. */
async function startMainAgain(...args: string[]): Promise<number | null> {
  const running = edge
  const code = await startMain(...args)
  edge = running
  return code
}
