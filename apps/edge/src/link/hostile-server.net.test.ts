import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { DesiredState, Peer, Route, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { EdgeReport } from '@postern/contract/edge/edge-messages'
import { overlaps, parseCidr } from '@postern/net/cidr'
import { tableOf } from '@postern/render/nftables/plan'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import { baseEnvironment } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRealCertificate } from '../../test/certificate.ts'
import { makeKeys, makePeer, makeRoute, makeState } from '../../test/factories.ts'
import { startLab } from '../../test/lab.ts'
import { pathsIn } from '../../test/start-edge.ts'

const MAIN = new URL('../main.ts', import.meta.url).pathname
/** The machine's own networks: one of each family, and a router outside them. */
const LAN = ['192.168.50.7/24', 'fd99:1:2:3::7/64']
const ROUTER = '172.31.1.1'
/** Reached through a router of its own. */
const OFFICE = '10.20.0.0/16'
const OWN = [...LAN, ROUTER, OFFICE].map(parseCidr)

let server: FakeServer
let edge: ChildProcess
let good: DesiredState
let stderr = ''

const lab = shared(startLab)
beforeAll(async () => {
  await lab.must('ip', 'link', 'add', 'lan0', 'type', 'veth', 'peer', 'name', 'lan1')
  // Without the kernel's own addresses, which come a while later.
  for (const end of ['lan0', 'lan1']) await lab.must('ip', 'link', 'set', end, 'addrgenmode', 'none', 'up')
  for (const address of LAN) await lab.must('ip', 'addr', 'add', address, 'dev', 'lan0', 'nodad')
  await lab.must('ip', 'route', 'add', ROUTER, 'dev', 'lan0')
  await lab.must('ip', 'route', 'add', 'default', 'via', ROUTER, 'dev', 'lan0')
  await lab.must('ip', 'route', 'add', OFFICE, 'via', '192.168.50.254')
  await lab.must('nft', 'add', 'table', 'inet', 'theirs')
  const certificates = [await makeRealCertificate(0, ['edge.example.com'])]
  good = makeState({ peers: [makePeer(1)], routes: [makeRoute(1)], certificates })
  server = await startFakeServer(pathsIn(lab), good)
  startMain()
  await until('the good state', () => lastReport()?.applied === good.revision)
})
afterAll(async () => {
  edge?.kill('SIGKILL')
  await server?.close()
})

function startMain(): void {
  edge = spawn('ip', ['netns', 'exec', lab.name, process.execPath, MAIN], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...baseEnvironment(), POSTERN_DATA_DIR: lab.dir, POSTERN_TUNNEL_INTERFACE: lab.interface },
  })
  edge.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + String(chunk)).slice(-4000)
  })
}

const lastReport = (): EdgeReport | undefined =>
  server.messages.flatMap((message) => (message.type === 'report' ? message.report : [])).at(-1)
const lastGood = () => readFileSync(pathsIn(lab).lastGood, 'utf8')

/** Everything on the machine that is not ours, as its programs print it. */
async function foreignWorld() {
  const lines = (text: string) => text.split('\n').filter(Boolean).sort()
  const notOurs = (text: string) => lines(text).filter((line) => !line.includes(lab.interface))
  const ruleset = await lab.must('nft', 'list', 'ruleset')
  const tables = ruleset.split(/^(?=table )/m)
  const ours = `table inet ${tableOf(lab.interface)} {`
  const sockets = lines(await lab.must('ss', '-Hlntu'))
  return {
    addresses: notOurs(await lab.must('ip', '-o', 'addr')).map((line) => line.replace(/\d+: /, '')),
    routes: notOurs(await lab.must('ip', 'route', 'show', 'table', 'main')),
    routes6: notOurs(await lab.must('ip', '-6', 'route', 'show', 'table', 'main')),
    rules: lines(await lab.must('ip', 'rule')),
    tables: tables.filter((table) => !table.startsWith(ours)),
    sockets: sockets
      .map((line) => line.split(/\s+/).slice(0, 5).join(' '))
      .map(withoutQueues)
      .sort(),
  }
}

const withoutQueues = (line: string) => line.replace(/ \d+ \d+ /, ' ')

/** What our own interface takes from the machine. */
async function ownRoutes() {
  const show = (family: string) => lab.must('ip', family, '-o', 'route', 'show', 'dev', lab.interface)
  const text = `${await show('-4')}\n${await show('-6')}`
  return [...text.matchAll(/^(?:[a-z]+ )?([0-9a-f.:/]+|default)/gm)].map(([, to = '']) => to)
}

const network = fc.constantFrom(
  ...[
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/1',
    '128.0.0.0/1',
    '2000::/3',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '10.0.0.0/8',
  ],
  ...[
    '192.168.50.0/24',
    '192.168.0.0/16',
    '192.168.50.7/32',
    `${ROUTER}/32`,
    '172.31.0.0/16',
    'fd99:1:2:3::/64',
  ],
  ...[
    'fd00::/8',
    'fd00:1:2::/64',
    'fe80::/10',
    '10.64.0.0/16',
    '10.65.0.0/16',
    '10.64.9.0/24',
    '192.168.77.0/24',
    OFFICE,
    '10.20.3.0/24',
  ],
)
const address = fc.constantFrom(
  ...[
    '10.64.0.2',
    '10.64.0.1',
    '10.64.255.3',
    '10.64.255.255',
    '192.168.50.7',
    ROUTER,
    '127.0.0.1',
    '0.0.0.0',
    '8.8.8.8',
    '1',
  ],
  ...['fd00:1:2::2', 'fd00:1:2::1', '::', '::1', 'fd99:1:2:3::7', 'fe80::1'],
)
const peer: fc.Arbitrary<Peer> = fc.record({
  nodeId: fc.integer({ min: -1, max: 5 }),
  publicKey: fc.constantFrom(...[1, 2, 3].map(() => makeKeys().publicKey), `${'A'.repeat(43)}=`),
  presharedKey: fc.constant(makeKeys().privateKey),
  address4: address,
  address6: address,
  subnets: fc.array(network, { maxLength: 3 }),
  keepalive: fc.constantFrom(-1, 0, 25, 1e9),
  allowInternet: fc.boolean(),
})
const route: fc.Arbitrary<Route> = fc
  .record({
    id: fc.integer({ min: 1, max: 150 }),
    address4: address,
    subnets: fc.array(network, { maxLength: 2 }),
    host: fc.option(address),
    port: fc.constantFrom(1, 22, 80, 443, 3000, 65_535),
    kind: fc.constantFrom('local', 'plain', 'gateway'),
    list: fc.array(fc.constantFrom('0.0.0.0/0', '10.0.0.1', 'a b;c', '\n', '"'), { maxLength: 2 }),
  })
  .map(({ id, address4, subnets, host, port, kind, list }) =>
    makeRoute(id, {
      node:
        kind === 'local'
          ? { kind }
          : kind === 'plain'
            ? { kind, id: 1, address4 }
            : { kind: 'gateway', id: 1, address4, subnets },
      backend: { proto: 'http', host, port },
      allowedIps: list,
    }),
  )
const ownSettings = fc.record({
  publicHost: fc.constantFrom('edge.example.com', '0.0.0.0', '-x', '127.0.0.1', 'localhost'),
  formerHosts: fc.subarray(['b.example.com', '127.0.0.1', '-y']),
  tunnelPrivateKey: fc.constantFrom(...[1, 2].map(() => makeKeys().privateKey), `${'z'.repeat(43)}=`),
  tunnelNetwork4: fc.oneof(fc.constant('10.64.0.0/16'), network),
  tunnelNetwork6: fc.oneof(fc.constant('fd00:1:2::/64'), network),
  signInKeys: fc.constant<TunnelSettings['signInKeys']>([]),
  identityKeys: fc.constant<TunnelSettings['identityKeys']>([]),
  edge: fc.record({
    number: fc.constantFrom(1, 3, 250, 0, 251, -1, 1.5),
    servesConsole: fc.boolean(),
    isDrained: fc.boolean(),
  }),
})

/** A whole answer, in which these parts replace the good ones. */
function answerWith(revision: number, parts: Partial<DesiredState>): void {
  const { settings, peers, routes, certificates } = { ...good, ...parts }
  const names = [
    'settings',
    'certificates:0',
    ...(peers.length > 0 ? ['peers:0'] : []),
    ...(routes.length > 0 ? ['routes:0'] : []),
  ]
  server.answerWith = {
    revision,
    hashes: Object.fromEntries(names.map((name) => [name, `${revision}`])),
    sections: { settings, peers, routes, ports: [], signIns: [], challenges: [], certificates },
  }
  server.hint({ type: 'changed', revision })
}

/** Waits until the edge has reported on the answer. */
async function judged(revision: number): Promise<EdgeReport> {
  return await until('the report', () => {
    const report = lastReport()
    const isDone = report?.wanted === revision && (report.applied === revision || report.problems.length > 0)
    return isDone && report
  })
}

let revision = 100

test('whatever a server sends, nothing on the machine changes that is not ours', async () => {
  const before = await foreignWorld()
  const hostile = fc.record({
    settings: fc.oneof(fc.constant(good.settings), ownSettings),
    peers: fc.array(peer, { maxLength: 4 }),
    routes: fc.array(route, { maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(hostile, async (parts) => {
      answerWith(++revision, parts)
      await judged(revision)
      expect(await foreignWorld()).toEqual(before)
      for (const to of await ownRoutes()) {
        expect(to).not.toBe('default')
        expect(OWN.filter((own) => overlaps(own, parseCidr(to)))).toEqual([])
      }
      expect(edge.exitCode).toBeNull()
    }),
    { numRuns: 40, endOnFailure: true, interruptAfterTimeLimit: 45_000 },
  )
}, 120_000)

const refusals: [string, Partial<DesiredState['settings']>, string][] = [
  ['all of the internet', { tunnelNetwork4: '0.0.0.0/0' }, 'same POSTERN_TUNNEL_NETWORK'],
  ['another private network', { tunnelNetwork4: '10.65.0.0/16' }, 'same POSTERN_TUNNEL_NETWORK'],
  ['all of IPv6', { tunnelNetwork6: '::/0' }, 'not a /64 of unique local addresses'],
  [
    'half of the unique local addresses',
    { tunnelNetwork6: 'fd00::/9' },
    'not a /64 of unique local addresses',
  ],
  [
    "this machine's own network",
    { tunnelNetwork6: 'fd99:1:2:3::/64' },
    'this machine itself is in fd99:1:2:3::/64',
  ],
  ['a host that is none', { publicHost: '-x' }, 'which is not a valid host'],
  ['a former host that is none', { formerHosts: ['b.example.com', '-y'] }, 'which is not a valid host'],
  ['a key that is none', { tunnelPrivateKey: `${'z'.repeat(43)}=` }, 'not a WireGuard key'],
]
test.each(refusals)('%s is refused as a whole, and what runs keeps running', async (_, settings, words) => {
  server.answerWith = undefined
  server.state = { ...good, revision: ++revision }
  server.hint({ type: 'changed', revision })
  await until('the good state again', () => lastReport()?.applied === revision)
  await until('it to be kept', () => lastGood().includes(`"revision":${revision},`))
  const [kept, applied] = [lastGood(), revision]
  const before = await world()
  answerWith(++revision, { settings: { ...good.settings, ...settings }, peers: [], routes: [] })
  const report = await judged(revision)
  expect(report).toMatchObject({ wanted: revision, applied })
  expect(report.problems).toEqual([{ scope: { kind: 'edge' }, message: expect.stringContaining(words) }])
  expect(await world()).toEqual(before)
  expect(lastGood()).toBe(kept)
})

const world = async () => [
  await lab.must('wg', 'show', lab.interface, 'dump'),
  await lab.must('nft', 'list', 'ruleset'),
  await ownRoutes(),
]

test('an edge that is killed after a refusal begins with the good state', async () => {
  edge.kill('SIGKILL')
  await lab.must('nft', 'flush', 'ruleset')
  startMain()
  const tables = () => lab.must('nft', 'list', 'tables')
  await until('the table', async () => (await tables()).includes(tableOf(lab.interface)))
  expect(await lab.must('wg', 'show', lab.interface, 'peers')).toBe(`${good.peers[0]?.publicKey}\n`)
  expect(stderr).toContain('not a WireGuard key')
})
