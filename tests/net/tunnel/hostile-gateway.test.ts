import { readFileSync, writeFileSync } from 'node:fs'
import type { CreatedNode } from '@postern/contract/nodes'
import { agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { getHolder } from '@postern/testkit/processes/holder'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, describe, expect, test } from 'vitest'

/**
 * A gateway for 192.168.7.0/24 and fd77::/64 with a compromised host: it takes addresses of its own subnets and sends
 * from them, to reach a service that allows only that subnet.
 */
let gateway: CreatedNode
let edge6: string
let own6: string

const GUARDED = 'guarded.example.com'
const INSIDE = '192.168.7.66'
const INSIDE6 = 'fd77::66'
const STRANGER = '198.51.100.7'

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  const { api } = installation
  await startEcho(lab.lan, `${installation.dataDir}/upstreams`, 8080)
  gateway = await api.createNode({
    name: 'plant',
    isGateway: true,
    gatewayNetworks: [
      { interface: 'eth1', subnet: '192.168.7.0/24' },
      { interface: 'eth1', subnet: 'fd77::/64' },
    ],
  })
  await agentOn(lab.site, installation).connect(gateway.token)
  const backend = { backendHost: lab.lan.address, backendPort: 8080 }
  await api.publish(gateway.id, { name: 'open', domain: 'open.example.com', ...backend })
  const allowedIps = ['192.168.7.0/24', 'fd77::/64']
  await api.publish(gateway.id, { name: 'guarded', domain: GUARDED, ...backend, allowedIps })
  const addresses = await lab.server.must('ip', '-6', '-o', 'addr', 'show', 'dev', installation.interface)
  edge6 = /inet6 (fd\S+)\//.exec(addresses)?.[1] ?? ''
  const mine = await lab.site.must('ip', '-6', '-o', 'addr')
  own6 = new RegExp(`inet6 (${edge6.replace(/1$/, '')}\\S+)/`).exec(mine)?.[1] ?? ''
  for (const address of [INSIDE, INSIDE6, STRANGER, '10.64.0.99'])
    await lab.site.must('ip', 'addr', 'add', address, 'dev', 'lo')
})

/** @returns the status of the answer; 0 without one */
async function ask(from: Host, source: string, url: string, host = GUARDED): Promise<number> {
  const { hostname, port, protocol } = new URL(url)
  const to = `${host}:${port || (protocol === 'https:' ? 443 : 80)}`
  const args = ['-sk', '-m', '2', '-o', '/dev/null', '-w', '%{http_code}', '--interface', source]
  const { stdout } = await from.run(
    'curl',
    ...args,
    '--connect-to',
    `${to}:${hostname}:${port}`,
    `${protocol}//${to}/`,
  )
  return Number(stdout)
}

test('services behind the gateway work, and the list keeps strangers out', async () => {
  await until(
    'the service',
    async () => (await visit(lab.visitor, 'https://open.example.com/')).status === 200,
  )
  await until('the list', async () => (await visit(lab.visitor, `https://${GUARDED}/`)).status === 403)
})

test('the gateway reaches HTTPS of the edge from its tunnel address', async () => {
  expect(await ask(lab.site, gateway.address, 'https://10.64.0.1')).toBe(403)
})

describe('nothing else of it is heard:', () => {
  test.each([
    ['its subnet', INSIDE, 'https://10.64.0.1'],
    ['its subnet, IPv6', INSIDE6, 'https://[edge6]'],
    ['the address of another node', '10.64.0.99', 'https://10.64.0.1'],
    ['an address of the internet', STRANGER, 'https://10.64.0.1'],
    ['its subnet, plain HTTP', INSIDE, 'http://10.64.0.1'],
    ['its own address, plain HTTP', 'own', 'http://10.64.0.1'],
    ['its own address, the console of the first look', 'own', 'http://10.64.0.1:3000'],
  ])('%s', async (_what, source, url) => {
    const from = source === 'own' ? gateway.address : source
    expect(await ask(lab.site, from, url.replace('edge6', edge6))).toBe(0)
  })
})

describe('pings:', () => {
  test.each([
    ['its own address', 'own', '10.64.0.1', true],
    ['its own address, in fragments', 'own', '10.64.0.1', true, '4000'],
    ['its own address, IPv6', 'own6', 'edge6', true],
    ['its subnet', INSIDE, '10.64.0.1', false],
    ['its subnet, in fragments', INSIDE, '10.64.0.1', false, '4000'],
    ['its subnet, IPv6', INSIDE6, 'edge6', false],
    ['an address of the internet', STRANGER, '10.64.0.1', false],
    ['to everybody in the tunnel', 'own', '10.64.0.255', false],
    ['to an address of the edge that is not there', 'own', '10.64.9.1', false],
  ])('%s', async (_what, source, target, isAnswered, size = '56') => {
    const from = { own: gateway.address, own6 }[source] ?? source
    const ping = ['fping', '-c1', '-t1000', '-b', size, '-S', from, target.replace('edge6', edge6)]
    expect((await lab.site.run(...(ping as [string, ...string[]]))).code === 0).toBe(isAnswered)
  })
})

test('no datagram arrives, from any address, whole or in fragments', async () => {
  const listener = `
    require('node:dgram').createSocket('udp4').on('message', (m, from) => console.log(from.address, m.length))
      .on('listening', () => console.log('ready')).bind(53)`
  const heard = `${installation.dataDir}/datagrams.log`
  const running = lab.server.start([process.execPath, '-e', listener], { logFile: heard })
  await until('the listener', () => readFileSync(heard, 'utf8').includes('ready'))
  for (const source of [gateway.address, INSIDE, STRANGER, '10.64.0.99'])
    for (const size of [10, 4000]) await sendDatagram(lab.site, source, size)
  // The last one, sent from elsewhere, arrives, so the others could have.
  await sendDatagram(lab.server, '10.64.0.1', 77)
  await until('the last one', () => readFileSync(heard, 'utf8').includes('10.64.0.1 77'))
  await running.stop()
  expect(readFileSync(heard, 'utf8').trim().split('\n')).toEqual(['ready', '10.64.0.1 77'])
})

async function sendDatagram(from: Host, source: string, size: number): Promise<void> {
  const script = `
    const socket = require('node:dgram').createSocket('udp4').bind(0, '${source}')
    socket.send(Buffer.alloc(${size}), 53, '10.64.0.1', () => socket.close())`
  await from.must(process.execPath, '-e', script)
}

test('a network that the server comes to reach another way is the gateway’s no more: no visitor is led there', async () => {
  const shown = async () => (await visit(lab.visitor, 'https://open.example.com/')).status
  await until('the service to be open', async () => (await shown()) === 200)
  // Another machine has the same address behind another router, and would get what visitors send.
  const decoy = ['ip', 'addr', 'add', `${lab.lan.address}/32`, 'dev', 'lo'] as const
  await lab.visitor.must(...decoy)
  await startEcho(lab.visitor, `${installation.dataDir}/decoy`, 8080)
  const route = ['192.168.7.0/24', 'via', lab.visitor.address] as const
  await lab.server.must('ip', 'route', 'prepend', ...route)
  await until('the service to be refused', async () => (await shown()) === 502)
  await lab.server.must('ip', 'route', 'del', ...route)
  await until('the service to be back', async () => (await shown()) === 200)
})

// This ends the edge and the agent, so it comes last.
test('an accomplice outside who opens the connection for it does not help', async () => {
  await makeTriangle()
  expect(await ask(lab.visitor, INSIDE, `https://${lab.server.address}`)).toBe(0)
  await installation.edge.stop()
  await lab.server.must('nft', 'delete', 'table', 'inet', `postern_${installation.interface}`)
  // Without the table it works, so the table is what keeps it out.
  expect(await ask(lab.visitor, INSIDE, `https://${lab.server.address}`)).toBe(200)
})

/**
 * The visitor sends the first packet of a connection straight to the edge, with a source behind the gateway; the
 * answer goes into the tunnel, and the gateway handles it and everything that follows.
 */
async function makeTriangle(): Promise<void> {
  const { site, visitor } = lab
  process.kill(getHolder(`${installation.dataDir}/agent-${site.name}/run/agent.pid`).pid, 'SIGKILL')
  const tunnel = /^\S+/m.exec(await site.must('ip', '-br', 'link', 'show', 'type', 'tun'))?.[0] ?? ''
  await site.must('nft', 'flush', 'ruleset')
  // Nothing masquerades any more, and services still work.
  await lab.lan.must('ip', 'route', 'add', '10.64.0.0/16', 'via', '192.168.7.1')
  const edgeKey = (await site.must('wg', 'show', tunnel, 'peers')).trim()
  await site.must('wg', 'set', tunnel, 'peer', edgeKey, 'allowed-ips', '0.0.0.0/0')
  await site.must('ip', 'addr', 'del', INSIDE, 'dev', 'lo')
  await site.must('ip', 'route', 'add', INSIDE, 'via', visitor.address)
  await site.must('ip', 'route', 'add', lab.server.address, 'dev', tunnel, 'table', '7')
  await site.must('ip', 'rule', 'add', 'from', INSIDE, 'lookup', '7')
  await visitor.must('ip', 'addr', 'add', INSIDE, 'dev', 'lo')
  await visitor.must('ip', 'link', 'set', 'eth0', 'mtu', '1400')
  await visitor.must('ip', 'route', 'add', lab.server.address, 'via', site.address, 'table', '7')
  await visitor.must('ip', 'rule', 'add', 'fwmark', '7', 'lookup', '7')
  const file = `${installation.dataDir}/triangle.nft`
  writeFileSync(
    file,
    `table ip triangle { chain out { type route hook output priority mangle; ip saddr ${INSIDE} tcp flags & (syn | ack) != syn meta mark set 7; }; }`,
  )
  await visitor.must('nft', '-f', file)
}
