import { writeFileSync } from 'node:fs'
import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import type { Exec } from '@postern/host/processes/exec'
import { isAnswered } from '@postern/host/socket'
import { connect } from '@postern/testkit/lab/namespace'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeKeys, makePeer, makeSettings } from '../../test/factories.ts'
import { type Lab, startLab } from '../../test/lab.ts'
import { createWireGuard } from '../drivers/tunnel/driver.ts'
import { hostOf } from './endpoint-watch.ts'
import { createPeerObserver, type PeerObserver } from './peers.ts'

const PORT = 51997
const keys = makeKeys()
const edgeKeys = makeKeys()
const settings = { ...makeSettings(), tunnelPrivateKey: edgeKeys.privateKey }
const peer = makePeer(1, { publicKey: keys.publicKey })
const stranger = makePeer(2)
let edge: Lab
let node: Lab
let observer: PeerObserver
let figures: PeerFigures[][] = []
let states: ReadonlyMap<number, string> = new Map()
/** Added to the clock, as if somebody set it. */
let set = 0
/** Added to the monotonic clock, to let a tunnel grow old. */
let later = 0

beforeAll(async () => {
  ;[edge, node] = await Promise.all([startLab(), startLab()])
  await connect(edge, 'eth0', node, 'eth0')
  await edge.must('ip', 'addr', 'add', '203.0.113.1/24', 'dev', 'eth0')
  await node.must('ip', 'addr', 'add', '203.0.113.7/24', 'dev', 'eth0')
  const place = {
    interface: edge.interface,
    dataDir: edge.dir,
    dir: edge.dir,
    listenPort: PORT,
    resolvConfs: [],
  }
  await createWireGuard({ exec: edge.exec, ...place }).apply({ settings, peers: [peer, stranger] })
  await connectNode()
})
afterEach(() => observer.close())
afterAll(() => Promise.all([edge.close(), node.close()]))

async function connectNode(): Promise<void> {
  const logs = { stdoutFile: `${node.dir}/log`, stderrFile: `${node.dir}/log`, unit: 'postern-test' }
  await node.exec.startDetached('wireguard-go', ['-f', node.interface], logs)
  await until('the interface', () => isAnswered(`/var/run/wireguard/${node.interface}.sock`))
  const file = `${node.dir}/node.conf`
  writeFileSync(
    file,
    `[Interface]\nPrivateKey = ${keys.privateKey}\n[Peer]\nPublicKey = ${edgeKeys.publicKey}\nPresharedKey = ${peer.presharedKey}\nEndpoint = 203.0.113.1:${PORT}\nAllowedIPs = 10.64.0.0/16\nPersistentKeepalive = 1\n`,
  )
  await node.must('wg', 'setconf', node.interface, file)
  await node.must('ip', 'addr', 'add', `${peer.address4}/16`, 'dev', node.interface)
  await node.must('ip', 'link', 'set', node.interface, 'up')
}

function observe(peers = [peer, stranger], exec = edge.exec, name = edge.interface): void {
  figures = []
  observer = createPeerObserver({
    exec,
    interface: name,
    now: () => Date.now() + later + set,
    elapsed: () => performance.now() + later,
    send: (all) => figures.push(all),
    setNodeStates: (next) => {
      states = next
    },
    log: pino({ level: 'silent' }),
  })
  observer.setPeers(peers)
  observer.start()
}

const latest = (id: number) => figures.at(-1)?.find((each) => each.nodeId === id)

test('a node in the tunnel is seen with its address, its bytes and its answers', async () => {
  observe()
  const seen = await until('the node', () => latest(1)?.reachable && latest(1))
  expect(seen.clientIp).toBe('203.0.113.7')
  expect(Math.abs(Date.now() - (seen.latestHandshake ?? 0))).toBeLessThan(60_000)
  expect(seen.rx).toBeGreaterThan(0)
  expect(latest(2)).toEqual({
    nodeId: 2,
    latestHandshake: null,
    rx: 0,
    tx: 0,
    clientIp: null,
    reachable: false,
  })
  expect([...states]).toEqual([
    [1, 'up'],
    [2, 'down'],
  ])
  await until('the figures again', () => figures.length > 2)
})

test('one that no longer answers is not reachable, and is again when it answers', async () => {
  observe()
  await until('the node', () => latest(1)?.reachable)
  await node.must('ip', 'addr', 'del', `${peer.address4}/16`, 'dev', node.interface)
  await until('the silence', () => latest(1)?.reachable === false)
  expect(latest(1)?.latestHandshake).not.toBeNull()
  await until('it to be down', () => states.get(1) === 'down')
  await node.must('ip', 'addr', 'add', `${peer.address4}/16`, 'dev', node.interface)
  await until('the answer', () => latest(1)?.reachable && states.get(1) === 'up')
})

test('one that accepts no probes at all does not count as silent', async () => {
  const silent = { ...peer, address4: '10.64.0.77' }
  await node.must('ip', 'addr', 'del', `${peer.address4}/16`, 'dev', node.interface)
  observe([silent])
  const since = performance.now()
  await until('longer than silence takes', () => performance.now() - since > 13_000)
  expect([...states]).toEqual([[1, 'up']])
  expect(latest(1)?.reachable).toBe(false)
  await node.must('ip', 'addr', 'add', `${peer.address4}/16`, 'dev', node.interface)
})

test('one whose handshake is older than three minutes, or that is no longer a peer, is down', async () => {
  observe()
  await until('the node', () => states.get(1) === 'up' && latest(1)?.reachable)
  later = 200_000
  await until('its age', () => states.get(1) === 'down' && latest(1)?.reachable === false)
  later = 0
  await until('the node', () => states.get(1) === 'up')
  observer.setPeers([stranger])
  expect([...states]).toEqual([[2, 'down']])
})

test('setting the clock takes none down, and the probes go on', async () => {
  let starts = 0
  const stream: Exec['stream'] = (program, ...rest) => {
    if (program === 'fping') starts++
    return edge.exec.stream(program, ...rest)
  }
  observe([peer], { ...edge.exec, stream })
  const isUp = () => states.get(1) === 'up' && latest(1)?.reachable
  await until('the node', isUp)
  for (const by of [3_600_000, -3_600_000]) {
    const before = starts
    set = by
    await until('the probes to begin again', () => starts > before)
    const since = performance.now()
    await until('some looks', () => performance.now() - since > 5000 || !isUp())
    expect(isUp()).toBe(true)
  }
  set = 0
})

test('on a line that loses a third of all packets it stays reachable', async () => {
  observe([peer])
  await until('the node', () => latest(1)?.reachable)
  const rules = [
    'add table inet lossy',
    'add chain inet lossy in { type filter hook input priority -300; }',
    'add rule inet lossy in icmp type echo-request numgen random mod 10 < 3 drop',
  ]
  await node.must('nft', rules.join('; '))
  const since = performance.now()
  await until('a while', () => performance.now() - since > 12_000 || latest(1)?.reachable === false)
  expect([latest(1)?.reachable, states.get(1)]).toEqual([true, 'up'])
  await node.must('nft', 'delete table inet lossy')
})

test('one that is about to connect is observed more often', async () => {
  let looks = 0
  const run: Exec['run'] = (...call) => {
    if (call[0] === 'ip') looks++
    return edge.exec.run(...call)
  }
  // Where no wireguard-go answers, each observation runs ip to learn the kind of the interface.
  observe([peer], { ...edge.exec, run }, 'none0')
  const since = performance.now()
  // Usually there is a first observation, and then one every two seconds.
  await until('more looks', () => looks > 2 + (performance.now() - since) / 2000)
})

test('one fping for all, ended with the observer', async () => {
  const count = async () => {
    const { stdout } = await edge.exec.run('ps', ['-eo', 'args'], { timeoutMs: 60_000 })
    return stdout.split('\n').filter((line) => line.startsWith('fping') && line.includes(edge.interface))
      .length
  }
  observe()
  await until('the probe', async () => (await count()) === 1)
  observer.setPeers([peer])
  await until('still one', async () => (await count()) === 1)
  observer.close()
  await until('none', async () => (await count()) === 0)
})

test('the address of an endpoint is read from both families', () => {
  expect(hostOf('203.0.113.7:51820')).toBe('203.0.113.7')
  expect(hostOf('[2001:db8::7]:51820')).toBe('2001:db8::7')
  expect(hostOf('[fe80::1%eth0]:1')).toBe('fe80::1')
})
