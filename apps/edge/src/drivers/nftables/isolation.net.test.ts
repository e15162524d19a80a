import { connect } from '@postern/testkit/lab/namespace'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePeer, makeSettings } from '../../../test/factories.ts'
import { type Lab, startLab } from '../../../test/lab.ts'
import { makeUdpRoute } from '../../../test/udp-lab.ts'
import { createNftables } from './driver.ts'

/**
 * The packets themselves: a bridge that bears the tunnel's name stands for the tunnel, `nodes` and `other` are
 * behind it and know only the edge, and `world` is the internet.
 */
let edge: Lab
let nodes: Lab
let other: Lab
let world: Lab
const settings = makeSettings()
const plain = makePeer(1)
const guest = makePeer(2, { allowInternet: true })
const third = makePeer(3)
const INTERNET = '198.51.100.9'
const PRIVATE = '192.168.50.9'
/** The address where Azure answers its machines. */
const CLOUD = '168.63.129.16'

beforeAll(async () => {
  ;[edge, nodes, other, world] = await Promise.all([startLab(), startLab(), startLab(), startLab()])
  await edge.must('ip', 'link', 'add', edge.interface, 'type', 'bridge')
  await edge.must('ip', 'link', 'set', edge.interface, 'up')
  await plugIn(nodes, 'port0', edge.interface)
  await plugIn(other, 'port1', edge.interface)
  await plugIn(world, 'eth0')
  await edge.must('ip', 'addr', 'add', '10.64.0.1/24', 'dev', edge.interface)
  await edge.must('ip', 'addr', 'add', '198.51.100.1/24', 'dev', 'eth0')
  await edge.must('ip', 'addr', 'add', '192.168.50.1/24', 'dev', 'eth0')
  await edge.must('ip', 'addr', 'add', '168.63.129.1/24', 'dev', 'eth0')
  await addNodes(nodes, plain, guest)
  await addNodes(other, third)
  for (const address of [INTERNET, PRIVATE, CLOUD])
    await world.must('ip', 'addr', 'add', `${address}/24`, 'dev', 'up0')
  await world.must('ip', 'route', 'add', '10.64.0.0/16', 'via', '198.51.100.1')
  await Promise.all([edge, nodes, other, world].map((lab) => listen(lab)))
})
afterAll(() => Promise.all([edge, nodes, other, world].map((lab) => lab.close())))

async function plugIn(lab: Lab, port: string, bridge?: string): Promise<void> {
  await connect(edge, port, lab, 'up0')
  if (bridge) await edge.must('ip', 'link', 'set', port, 'master', bridge)
}

async function addNodes(lab: Lab, ...peers: (typeof plain)[]): Promise<void> {
  for (const peer of peers) await lab.must('ip', 'addr', 'add', `${peer.address4}/32`, 'dev', 'up0')
  await lab.must('ip', 'route', 'add', '10.64.0.1', 'dev', 'up0')
  await lab.must('ip', 'route', 'add', 'default', 'via', '10.64.0.1')
}

/** Answers on TCP 22 and 443 with the address of the caller, and on UDP 53 and 67 with what it got. */
async function listen(lab: Lab): Promise<void> {
  const script = `
    const { createServer } = require('node:net'), { createSocket } = require('node:dgram')
    for (const port of [22, 443]) createServer((s) => s.on('error', () => 0).end(s.remoteAddress)).listen(port, '0.0.0.0')
    for (const port of [53, 67]) {
      const udp = createSocket('udp4').on('message', (m, from) => udp.send(m, from.port, from.address)).bind(port)
    }
    setTimeout(() => console.log('ready'), 100)`
  await new Promise<void>((resolve) => {
    lab.exec.stream(process.execPath, ['-e', script], { onLine: () => resolve(), onExit: () => undefined })
  })
}

/** @returns what the server saw as the caller's address, or 'nothing' when no answer came soon. */
async function tcp(from: Lab, source: string, host: string, port: number, uid = 0): Promise<string> {
  const script = `
    const s = require('node:net').connect({ host: '${host}', port: ${port}, localAddress: '${source}' })
    s.setTimeout(700, () => s.destroy()).on('error', () => 0).on('data', (d) => process.stdout.write(d))`
  return await runAs(uid, from, script)
}

/** @param own the port to ask from; 0: any */
async function udp(from: Lab, source: string, host: string, port: number, uid = 0, own = 0): Promise<string> {
  const script = `
    const s = require('node:dgram').createSocket('udp4')
    s.on('message', () => (process.stdout.write('answer'), s.close())).bind(${own}, '${source}')
    s.send('x', ${port}, '${host}')
    setTimeout(() => process.exit(), 700)`
  return await runAs(uid, from, script)
}

async function runAs(uid: number, { exec }: Lab, script: string): Promise<string> {
  const args = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', process.execPath, '-e', script]
  const { stdout } = await exec.run('setpriv', args, { timeoutMs: 60_000 })
  return stdout || 'nothing'
}

/** Waits for an answer: on a busy machine the first may come too late. */
async function reaches(ask: () => Promise<string>, as?: string): Promise<void> {
  const seen = await until('an answer', async () => (await ask()).replace('nothing', '') || undefined)
  if (as) expect(seen).toBe(as)
}

const portRange = { from: 32_660, to: 32_760 }
const PROXY_UID = 61_801
const USER_UID = 61_802
const driver = () =>
  createNftables({
    exec: edge.exec,
    interface: edge.interface,
    httpsPort: 443,
    proxyUid: PROXY_UID,
    portRange,
  })
const apply = (...peers: (typeof plain)[]) => driver().apply({ settings, peers, udp: [] })

test('a node reaches HTTPS and ping of the edge, and nothing else of it', async () => {
  await apply(plain, guest)
  await reaches(() => tcp(nodes, plain.address4, '10.64.0.1', 443), plain.address4)
  expect(await udp(nodes, plain.address4, '10.64.0.1', 53)).toBe('nothing')
  expect(await nodes.must('fping', '-c', '1', '10.64.0.1')).toContain('64 bytes')
  expect(await tcp(nodes, plain.address4, '10.64.0.1', 22)).toBe('nothing')
  expect(await tcp(nodes, plain.address4, '198.51.100.1', 22)).toBe('nothing')
  expect(await udp(nodes, plain.address4, '10.64.0.1', 67)).toBe('nothing')
})

test('the edge reaches everything of a node', async () => {
  await apply(plain, guest)
  await reaches(() => tcp(edge, '10.64.0.1', plain.address4, 22), '10.64.0.1')
})

test('of the users of this machine only root and HAProxy’s reach a node, others just its UDP services by their ports', async () => {
  await driver().apply({ settings, peers: [plain, guest], udp: [makeUdpRoute(10, 32_672)] })
  await reaches(() => tcp(edge, '10.64.0.1', plain.address4, 22, PROXY_UID))
  await reaches(() => udp(edge, '10.64.0.1', plain.address4, 67, PROXY_UID))
  await reaches(() => udp(edge, '198.51.100.1', '198.51.100.1', 32_672, USER_UID))
  await reaches(() => tcp(edge, '198.51.100.1', INTERNET, 22, USER_UID))
  expect(await tcp(edge, '10.64.0.1', plain.address4, 22, USER_UID)).toBe('nothing')
  expect(await udp(edge, '10.64.0.1', plain.address4, 53, USER_UID)).toBe('nothing')
  // Nor from a port from which root has just asked, and whose flow the kernel still remembers.
  await reaches(() => udp(edge, '10.64.0.1', plain.address4, 53, 0, 40_111))
  expect(await udp(edge, '10.64.0.1', plain.address4, 53, USER_UID, 40_111)).toBe('nothing')
})

test('only a node with internet access reaches the internet, as the edge, and no private network', async () => {
  await apply(plain, guest)
  expect(await tcp(nodes, plain.address4, INTERNET, 443)).toBe('nothing')
  await reaches(() => tcp(nodes, guest.address4, INTERNET, 443), '198.51.100.1')
  await reaches(() => tcp(edge, '168.63.129.1', CLOUD, 443), '168.63.129.1')
  for (const address of [PRIVATE, CLOUD])
    expect(await tcp(nodes, guest.address4, address, 443)).toBe('nothing')
})

test('nodes do not reach each other through the edge, nor does the outside reach a node', async () => {
  await apply(plain, guest, third)
  const ways = [
    () => tcp(nodes, plain.address4, third.address4, 443),
    () => tcp(nodes, guest.address4, third.address4, 443),
    () => tcp(world, INTERNET, plain.address4, 443),
    () => tcp(world, INTERNET, guest.address4, 443),
  ]
  for (const way of ways) expect(await way()).toBe('nothing')
  await edge.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  await driver().remove()
  // Without the table they all do, so it is the table that isolates them.
  for (const way of ways) await reaches(way)
})

test('a UDP service opens its port of its node to visitors, and nothing else either way', async () => {
  const service = makeUdpRoute(10, 32_670)
  await driver().apply({ settings, peers: [plain, third], udp: [service] })
  await reaches(() => udp(world, INTERNET, '198.51.100.1', 32_670))
  const ways = [
    () => udp(world, INTERNET, plain.address4, 53),
    () => udp(world, INTERNET, plain.address4, 67),
    () => udp(world, INTERNET, '198.51.100.1', 32_671),
    () => tcp(world, INTERNET, plain.address4, 22),
    () => udp(nodes, plain.address4, INTERNET, 53),
    () => udp(nodes, plain.address4, third.address4, 53),
    () => udp(other, third.address4, '198.51.100.1', 32_670),
    () => udp(other, third.address4, '10.64.0.1', 32_670),
  ]
  for (const way of ways) expect(await way()).toBe('nothing')
})

test('taking internet access away cuts running connections', async () => {
  await apply(plain, guest)
  const script = `
    const s = require('node:dgram').createSocket('udp4').bind(0, '${guest.address4}', () => {
      setInterval(() => s.send('x', 53, '${INTERNET}'), 50)
    })
    let last = 0
    s.on('message', () => { if (!last) console.log('flowing'); last = Date.now() })
    setInterval(() => { if (last && Date.now() - last > 500) { console.log('cut'); process.exit() } }, 50)`
  const lines: string[] = []
  const cut = Promise.withResolvers<void>()
  const flowing = Promise.withResolvers<void>()
  nodes.exec.stream(process.execPath, ['-e', script], {
    onLine: (line) => {
      lines.push(line)
      if (line === 'flowing') flowing.resolve()
    },
    onExit: () => cut.resolve(),
  })
  await flowing.promise
  await apply(plain, { ...guest, allowInternet: false })
  await cut.promise
  expect(lines).toEqual(['flowing', 'cut'])
})
