import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { DesiredState } from '@postern/contract/edge/desired-state'
import { DataPlane } from '@postern/contract/edge/edge'
import { haproxyPaths } from '@postern/render/haproxy/options'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import { baseEnvironment } from '@postern/testkit/processes/exec'
import { readProcessFile } from '@postern/testkit/processes/process-file'
import { suspend } from '@postern/testkit/processes/suspend'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeRealCertificate } from '../test/certificate.ts'
import { makePeer, makeRoute, makeState } from '../test/factories.ts'
import { startLab } from '../test/lab.ts'
import { pathsIn } from '../test/start-edge.ts'
import { makeUdpRoute } from '../test/udp-lab.ts'
import { openHaproxySocket } from './drivers/haproxy/runtime/socket.ts'

const MAIN = new URL('./main.ts', import.meta.url).pathname
const DIE_AT = new URL('../test/die-at.ts', import.meta.url).href
let server: FakeServer
const children: ChildProcess[] = []

const lab = fresh(startLab)
beforeEach(async () => {
  const certificates = [await makeRealCertificate(0, ['edge.example.com'])]
  const state = makeState({ peers: [makePeer(1)], routes: [makeRoute(1)], certificates })
  server = await startFakeServer(pathsIn(lab), state)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await server.close()
})

interface Program {
  child: ChildProcess
  ready: Promise<DataPlane | null>
  ended: Promise<{ code: number | null; stderr: string }>
}

function startMain(args: string[] = [], env: Record<string, string> = {}): Program {
  const child = spawn('ip', ['netns', 'exec', lab.name, process.execPath, MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      ...baseEnvironment(),
      POSTERN_DATA_DIR: lab.dir,
      POSTERN_TUNNEL_INTERFACE: lab.interface,
      ...env,
    },
  })
  children.push(child)
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += String(chunk)
  })
  const ready = new Promise<DataPlane | null>((resolve, reject) => {
    child.once('message', ({ dataPlane }: { dataPlane: unknown }) =>
      resolve(dataPlane === null ? null : DataPlane.parse(dataPlane)),
    )
    child.once('exit', () => reject(new Error(stderr)))
  })
  ready.catch(() => undefined)
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stderr })),
  )
  return { child, ready, ended }
}

const programs = async () =>
  (await lab.listPids())
    .map((pid) => ({ pid, name: readProcessFile(pid, 'comm').trim() }))
    .filter(({ name }) => ['haproxy', 'wireguard-go'].includes(name))
    .sort((a, b) => a.pid - b.pid)
const lastReport = () =>
  server.messages.flatMap((message) => (message.type === 'report' ? message.report : [])).at(-1)

test('everything works when it is ready, and outlives it, however it ends', async () => {
  const first = startMain()
  const dataPlane = await first.ready
  expect(dataPlane).toMatchObject({
    haproxy: { state: 'ok' },
    wireguard: { state: 'ok' },
    nftables: { state: 'ok' },
  })
  await until('the report', () => lastReport()?.applied === 7)
  const before = await programs()
  expect(before.map(({ name }) => name).sort()).toEqual(['haproxy', 'wireguard-go'])

  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
  expect(await programs()).toEqual(before)

  const second = startMain()
  await second.ready
  expect(await programs()).toEqual(before)
  second.child.kill('SIGKILL')
  await second.ended
  expect(await programs()).toEqual(before)
  const third = startMain()
  await third.ready
  expect(await programs()).toEqual(before)
})

test('at whatever step of a change it is killed, the next one reaches the same state', async () => {
  const from = server.state
  const to = await makeAnother(from)
  let worlds: unknown[] | undefined
  let running: unknown
  let wasKilled = true
  let steps = 0
  for (; wasKilled; steps++) {
    const { child, ready, ended } = startMain([], { NODE_OPTIONS: `--import=${DIE_AT}` })
    await ready
    await untilApplied(to)
    const seen = [await world()]
    await untilApplied(from)
    seen.push(await world())
    worlds ??= seen
    expect(seen).toEqual(worlds)
    // One that checks a configuration, or serves its last connections, is there for a moment.
    await until('no others', async () => (await programs()).length === 2)
    running ??= await programs()
    expect(await programs()).toEqual(running)
    child.send(steps)
    await once(child, 'message')
    const isDone = untilApplied(to).then(untilSaved)
    wasKilled = await Promise.race([ended.then(() => true), isDone.then(() => false)])
    child.kill('SIGKILL')
    await ended
  }
  expect(worlds?.[0]).not.toEqual(worlds?.[1])
  expect(steps).toBeGreaterThan(20)
}, 600_000)

/** Differs from the given one in every section of services and nodes. */
async function makeAnother(state: DesiredState): Promise<DesiredState> {
  const moved = makeRoute(1, { backend: { proto: 'http', host: null, port: 9090 } })
  const { address: _, ...udp } = makeUdpRoute(3, 32_700, { blockedIps: ['192.0.2.7'] })
  return {
    ...state,
    peers: [{ ...makePeer(1), keepalive: 10 }, makePeer(2, { allowInternet: true })],
    routes: [moved, makeRoute(2, { allowedIps: ['192.0.2.0/24'] })],
    ports: [udp],
    certificates: [...state.certificates, await makeRealCertificate(5, ['s2.example.com'])],
    hashes: { ...state.hashes, 'peers:0': 'p2', 'routes:0': 'r2', 'ports:0': 't2', 'certificates:0': 'c2' },
  }
}

async function untilApplied(state: DesiredState): Promise<void> {
  const revision = server.state.revision + 1
  server.state = { ...state, revision }
  server.hint({ type: 'changed', revision })
  await until('the state', () => lastReport()?.applied === revision)
}

/** The state is saved once it is in force. */
async function untilSaved(): Promise<void> {
  const { revision } = server.state
  const manifest = () => readFileSync(pathsIn(lab).lastGood, 'utf8')
  await until('the state on disk', () => manifest().includes(`"revision":${revision},`))
}

/** What is in force, as the programs themselves print it. */
async function world() {
  const paths = haproxyPaths(pathsIn(lab).haproxyDir)
  const socket = openHaproxySocket(paths.socket)
  const lines = (text: string) =>
    text
      .replaceAll(/0x[0-9a-f]+ /g, '')
      .split('\n')
      .sort()
  const show = async (what: string) => lines(await socket.send(`show ${what}`))
  return {
    routes: await show(`map ${paths.routes}`),
    lists: await show(`map ${paths.lists}`),
    names: (await show(`ssl crt-list ${paths.certificateList}`)).map((line) => line.replace(/:\d+ /, ' ')),
    certificates: await show('ssl cert'),
    peers: lines(await lab.must('wg', 'showconf', lab.interface)),
    // The counters of a former service stay until somebody has read them.
    table: (await lab.must('nft', 'list', 'ruleset')).replace(/\tcounter s\d+_\w+ \{[^}]*\}\n\n/g, ''),
    files: lines(readFileSync(paths.certificateList, 'utf8')),
  }
}

test('a HAProxy that dies is back within ten seconds, with the latest change', async () => {
  const routes = Array.from({ length: 100 }, (_, index) => makeRoute(index + 1))
  server.state = { ...server.state, routes }
  await startMain().ready
  await untilApplied(await makeAnother(server.state))
  const { routes: changed, lists } = await world()
  const before = (await programs()).filter(({ name }) => name === 'haproxy')
  const killed = performance.now()
  for (const { pid } of before) process.kill(pid, 'SIGKILL')
  // During the start there may be one process more or less.
  await until('another HAProxy', async () => {
    const now = (await programs()).filter(({ name }) => name === 'haproxy')
    const isAnother = now.every(({ pid }) => !before.some((old) => old.pid === pid))
    return isAnother && now.length === before.length
  })
  // Two on an idle machine.
  expect(performance.now() - killed).toBeLessThan(10_000)
  const answering = await until('an answer of it', () => world().catch(() => false as const))
  expect(answering).toMatchObject({ routes: changed, lists })
})

test('a wireguard-go that hangs is replaced within seconds, and the report says so meanwhile', async () => {
  await startMain().ready
  await until('the report', () => lastReport()?.applied === 7)
  const tunnels = async () => (await programs()).filter(({ name }) => name === 'wireguard-go')
  const [before] = await tunnels()
  const hung = performance.now()
  await suspend(before?.pid ?? 0)
  await until('the report', () =>
    lastReport()?.problems[0]?.message.startsWith('wireguard-go is not responding'),
  )
  await until('another one', async () => {
    const now = await tunnels()
    return now.length === 1 && now[0]?.pid !== before?.pid
  })
  // The aim is ten; an idle machine takes six.
  expect(performance.now() - hung).toBeLessThan(20_000)
  await until('the tunnel as wanted', async () => {
    const { stdout } = await lab.run('wg', 'show', lab.interface, 'peers')
    return stdout.trim() !== '' && lastReport()?.problems.length === 0
  })
})

test('only one edge runs on a data directory', async () => {
  const first = startMain()
  await first.ready
  const second = await startMain().ended
  expect(second).toEqual({ code: 1, stderr: 'edge: Another edge is running on this data directory.\n' })
  expect(first.child.exitCode).toBeNull()
})

test('a bad setting is one clear line', async () => {
  const { code, stderr } = await startMain([], { POSTERN_TUNNEL_NETWORK: '8.8.0.0/16' }).ended
  expect(code).toBe(1)
  expect(stderr).toBe(
    'edge: POSTERN_TUNNEL_NETWORK must be a private IPv4 network of the form 10.64.0.0/16\n',
  )
})

test('an unknown option is one clear line, and changes nothing', async () => {
  const first = startMain()
  await first.ready
  const stderr = 'edge: --dwon is not an option of this program, which has only --down\n'
  expect(await startMain(['--dwon']).ended).toEqual({ code: 2, stderr })
  expect((await programs()).length).toBeGreaterThan(0)
})

test('--down ends the traffic and leaves nothing, and a second one finds nothing to do', async () => {
  const first = startMain()
  await first.ready
  first.child.kill('SIGTERM')
  await first.ended
  expect(await startMain(['--down']).ended).toEqual({ code: 0, stderr: '' })
  await until('the programs to end', async () => (await programs()).length === 0)
  expect(await lab.must('nft', 'list', 'tables')).toBe('')
  expect(await lab.must('ip', '-o', 'link')).not.toContain(lab.interface)
  expect(await startMain(['--down']).ended).toEqual({ code: 0, stderr: '' })
})

test('no secret is in its output, nor in what others see of its programs', async () => {
  const { settings, peers, certificates } = server.state
  const inPem = certificates[0]?.privateKey.split('\n')[1] ?? ''
  const secrets = [settings.tunnelPrivateKey, peers[0]?.presharedKey ?? '', inPem, 'token-of-the-edge']
  const { lastGood, edgeToken, edgeDir } = pathsIn(lab)
  mkdirSync(`${edgeDir}/state`)
  writeFileSync(`${edgeDir}/state/settings-s1.json`, JSON.stringify(settings))
  const key = `"${settings.tunnelPrivateKey}"`
  writeFileSync(lastGood, JSON.stringify(server.state).replace(key, `${key}x`))
  server.answerWith = { ...server.state, sections: { settings: { ...settings, tunnelNetwork4: 'x' } } }
  const main = startMain([], { POSTERN_LOG_LEVEL: 'debug' })
  await main.ready
  writeFileSync(edgeToken, 'a-wrong-token-of-the-edge\n')
  server.dropConnections()
  await until('the refusal', () => !server.isConnected())
  server.answerWith = undefined
  writeFileSync(edgeToken, 'token-of-the-edge\n')
  await until('the state', () => lastReport()?.applied === 7)
  for (const { pid } of await programs()) {
    const seen = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1')).join()
    for (const secret of secrets) expect(seen).not.toContain(secret.slice(0, 8))
  }
  // As an older edge stored them.
  expect(existsSync(`${edgeDir}/state`)).toBe(false)
  main.child.kill('SIGTERM')
  const { stderr } = await main.ended
  expect(stderr).toContain('the state of the last run cannot be used')
  for (const secret of secrets)
    for (const part of [secret.slice(0, 8), secret.slice(-8)]) expect(stderr).not.toContain(part)
})
