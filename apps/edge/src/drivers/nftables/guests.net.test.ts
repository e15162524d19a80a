import { GUEST_FLOWS } from '@postern/render/nftables/guests'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makePeer, makeSettings } from '../../../test/factories.ts'
import type { Lab } from '../../../test/lab.ts'
import {
  flood,
  makeUdpRoute,
  PORT_RANGE,
  PUBLIC4,
  plain,
  startUdpEcho,
  startUdpLab,
} from '../../../test/udp-lab.ts'
import { createNftables } from './driver.ts'

/** A node with internet access shares this machine's address with its services. */
const SERVICE_PORT = 32_671
const HTTPS_PORT = 443
const VISITOR = '198.51.100.9'
const NO_IP = { code: 1, stdout: '', stderr: 'ip: something failed' }
const guest = makePeer(2, { allowInternet: true })
const service = makeUdpRoute(11, SERVICE_PORT)

const lab = shared(startUdpLab)
beforeAll(async () => {
  await lab.gateway.must('ip', 'route', 'add', 'default', 'via', '10.64.0.1')
  await startUdpEcho(lab.node, 'service', 53)
  await say(lab.edge, 'https', PUBLIC4, HTTPS_PORT)
  // As a visitor's router, which answers nobody who has not been asked.
  const input = `table inet visitor {
    chain arriving {
      type filter hook input priority 0; policy accept;
      tcp dport 5001 tcp flags & (syn | ack) == syn drop
    }
  }\n`
  expect(await lab.world.exec.run('nft', ['-f', '-'], { input, timeoutMs: 60_000 })).toMatchObject({
    code: 0,
  })
})
beforeEach(async () => {
  await lab.edge.must('conntrack', '-F')
  const { exec, interface: name } = lab.edge
  const driver = createNftables({ exec, interface: name, httpsPort: HTTPS_PORT, portRange: PORT_RANGE })
  await driver.apply({ settings: makeSettings(), peers: [plain, guest], udp: [service] })
})

/** Runs a script until the test ends. */
function start(at: Lab, script: string): void {
  const { stop } = at.exec.stream(process.execPath, ['-e', script], {
    onLine: () => undefined,
    onExit: () => undefined,
  })
  onTestFinished(stop)
}

/** A TCP server that says who it is. */
async function say(at: Lab, word: string, address: string, port: number): Promise<void> {
  const script = `require('node:net').createServer((s) => s.on('error', () => 0).end('${word}'))
    .listen(${port}, '${address}', () => console.log('ready'))`
  await new Promise<void>((resolve) => {
    at.exec.stream(process.execPath, ['-e', script], { onLine: () => resolve(), onExit: () => undefined })
  })
}

/** Until the guest's packets to the visitor have passed. */
const untilPassed = (proto: string, port: number) =>
  until('the packets of the guest', async () =>
    (await lab.edge.must('conntrack', '-L', '-p', proto, '--orig-src', guest.address4)).includes(
      `dport=${port} `,
    ),
  )

/** @returns whose answer a visitor gets who comes from a port to one of this machine */
async function visit(proto: 'udp' | 'tcp', from: number, to: number): Promise<string> {
  const scripts = {
    udp: `const s = require('node:dgram').createSocket('udp4').bind(${from}, '${VISITOR}', () => s.send('x', ${to}, '${PUBLIC4}'))
      s.on('message', (m, at) => at.port === ${to} && (process.stdout.write(String(m).split(' ')[0]), process.exit()))`,
    tcp: `require('node:net').connect({ host: '${PUBLIC4}', port: ${to}, localAddress: '${VISITOR}', localPort: ${from} })
      .on('error', () => 0).on('data', (d) => process.stdout.write(d))`,
  }
  const script = `${scripts[proto]}; setTimeout(() => process.exit(), 2000)`
  const { stdout } = await lab.world.exec.run(process.execPath, ['-e', script], { timeoutMs: 60_000 })
  return stdout || 'nothing'
}

test('a node with internet access gets no packet of a visitor to another node’s UDP service', async () => {
  start(
    lab.gateway,
    `const s = require('node:dgram').createSocket('udp4').bind(${SERVICE_PORT}, '${guest.address4}', () =>
      setInterval(() => s.send('x', 5000, '${VISITOR}'), 50))
    s.on('message', (m, at) => s.send('guest', at.port, at.address))`,
  )
  await untilPassed('udp', 5000)
  expect(await visit('udp', 5000, SERVICE_PORT)).toBe('service')
})

test('nor a connection of a visitor to a port of this machine', async () => {
  start(
    lab.gateway,
    `const connect = () => require('node:net').connect({ host: '${VISITOR}', port: 5001, localAddress: '${guest.address4}', localPort: ${HTTPS_PORT} })
      .on('connect', function () { this.end('guest') }).on('error', () => 0).on('close', () => setTimeout(connect, 100))
    connect()`,
  )
  await untilPassed('tcp', 5001)
  expect(await visit('tcp', 5001, HTTPS_PORT)).toBe('https')
})

test('what it begins itself is answered, whatever port it comes from', async () => {
  await startUdpEcho(lab.world, 'world', 7000)
  const ask = `const s = require('node:dgram').createSocket('udp4').bind(${SERVICE_PORT + 1}, '${guest.address4}', () => s.send('x', 7000, '${VISITOR}'))
    s.on('message', (m) => (process.stdout.write(String(m)), process.exit()))
    setTimeout(() => process.exit(), 2000)`
  const { stdout } = await lab.gateway.exec.run(process.execPath, ['-e', ask], { timeoutMs: 60_000 })
  expect(stdout).toMatch(new RegExp(`^world ${PUBLIC4} \\d+$`))
})

test('it reaches the internet over IPv6, but no neighbour of this machine, whose address is of the internet, too', async () => {
  const [beside, beyond, port] = ['2001:db8::9', '2001:db8:9::9', 5002]
  await lab.world.must('ip', 'addr', 'add', `${beyond}/128`, 'dev', 'lo')
  await lab.edge.must('ip', 'route', 'add', 'default', 'via', beside)
  await lab.node.must('ip', 'route', 'add', 'default', 'via', 'fd00:1:2::1', 'dev', 'up0')
  const { exec, interface: name } = lab.edge
  const peers = [makePeer(1, { allowInternet: true })]
  const apply = async (tool = exec) =>
    await createNftables({ exec: tool, interface: name, httpsPort: HTTPS_PORT, portRange: PORT_RANGE }).apply(
      { settings: makeSettings(), peers, udp: [] },
    )
  await apply()
  await say(lab.world, 'world', '::', port)
  const ask = async (address: string) => {
    const script = `require('node:net').connect({ host: '${address}', port: ${port}, localAddress: '${plain.address6}' })
      .on('error', () => 0).on('data', (d) => process.stdout.write(d))
      setTimeout(() => process.exit(), 2000)`
    return (await lab.node.exec.run(process.execPath, ['-e', script], { timeoutMs: 60_000 })).stdout
  }
  await until('an answer', async () => (await ask(beyond)) === 'world')
  expect(await ask(beside)).toBe('')
  // An edge that does not know its neighbours lets nobody out rather than to them.
  await apply({
    ...exec,
    run: async (program, ...rest) => (program === 'ip' ? NO_IP : await exec.run(program, ...rest)),
  })
  expect([await ask(beyond), await ask(beside)]).toEqual(['', ''])
})

test('at the addresses of the installation that another machine has, it finds HTTPS of the edge, as itself, and nothing else', async () => {
  const front = '198.51.100.10'
  const { exec, interface: name } = lab.edge
  const driver = createNftables({ exec, interface: name, httpsPort: HTTPS_PORT, portRange: PORT_RANGE })
  await driver.apply({ settings: makeSettings(), peers: [plain, guest], udp: [], fronts: [front] })
  // A router would lead it back here, as its own address: one that an IP list for the local network lets in.
  for (const port of [HTTPS_PORT, PORT_RANGE.to, 22]) await say(lab.world, 'world', front, port)
  await startUdpEcho(lab.world, 'front', 53, front)
  await new Promise<void>((resolve) => {
    const script = `require('node:net').createServer((s) => s.on('error', () => 0).end(s.remoteAddress))
      .listen(${HTTPS_PORT}, '10.64.0.1', () => console.log('ready'))`
    const { stop } = exec.stream(process.execPath, ['-e', script], {
      onLine: () => resolve(),
      onExit: () => undefined,
    })
    onTestFinished(stop)
  })
  const ask = async (port: number) => {
    const script = `require('node:net').connect({ host: '${front}', port: ${port}, localAddress: '${guest.address4}' })
      .on('error', () => 0).on('data', (d) => process.stdout.write(d))
      setTimeout(() => process.exit(), 2000)`
    return (await lab.gateway.exec.run(process.execPath, ['-e', script], { timeoutMs: 60_000 })).stdout
  }
  expect(await until('an answer', async () => (await ask(HTTPS_PORT)) || undefined)).toBe(guest.address4)
  for (const port of [PORT_RANGE.to, 22]) expect(await ask(port)).toBe('')
  await until('a name server that the world finds', async () => (await askDnsOf(lab.world, front)) !== '')
  expect(await askDnsOf(lab.gateway, front)).toBe('')
})

/** @returns what answers at the UDP port of name servers */
async function askDnsOf(from: Lab, host: string): Promise<string> {
  const script = `const s = require('node:dgram').createSocket('udp4')
    s.on('message', (m) => (process.stdout.write(String(m)), process.exit())).send('x', 53, '${host}')
    setTimeout(() => process.exit(), 1000)`
  return (await from.exec.run(process.execPath, ['-e', script], { timeoutMs: 60_000 })).stdout
}

test('it holds no more of the kernel’s connections than its share', async () => {
  await startUdpEcho(lab.world, 'world', 7001)
  await flood(lab.gateway, VISITOR, 7001, guest.address4, GUEST_FLOWS + 2000)
  const held = await lab.edge.must('conntrack', '-L', '-p', 'udp', '--orig-src', guest.address4)
  expect(held.match(/dport=7001 /g)?.length).toBeLessThanOrEqual(GUEST_FLOWS)
})
