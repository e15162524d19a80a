import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CreatedNode } from '@postern/contract/nodes'
import type { TcpService } from '@postern/contract/services/services'
import { UDP_FLOWS } from '@postern/render/nftables/budget'
import { agentOn } from '@postern/testkit/agent'
import { type Installation, isApplied, startInstallation } from '@postern/testkit/installation'
import { addNamespace, connect } from '@postern/testkit/lab/namespace'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

const VISITOR = fileURLToPath(new URL('../../apps/edge/test/udp-visitor.ts', import.meta.url))

let installation: Installation
let node: CreatedNode
let service: TcpService
/** A host in another network of the server, from which nothing is published. */
const BESIDE = '172.30.0.9'

const lab = shared(startLab)
const beside = shared(
  () => addNamespace(`${lab.id}-bes`),
  (it) => it.remove(),
)
beforeAll(async () => {
  await connect(lab.server, 'eth9', beside, 'eth0')
  await lab.server.must('ip', 'addr', 'add', '172.30.0.1/24', 'dev', 'eth9')
  await beside.must('ip', 'addr', 'add', `${BESIDE}/24`, 'dev', 'eth0')
  await beside.must('ip', 'route', 'add', 'default', 'via', '172.30.0.1')
  await lab.server.must('sysctl', '-qw', 'net.ipv4.ip_forward=0')
  // Absent where no kernel module filters bridges.
  await lab.server.must('sysctl', '-eqw', 'net.bridge.bridge-nf-call-iptables=0')
  installation = await startInstallation(lab)
  startNameServer(`${installation.dataDir}/upstreams`)
  node = await installation.api.createNode({
    name: 'office',
    isGateway: true,
    gatewayNetworks: [{ interface: 'eth1', subnet: '192.168.7.0/24' }],
  })
  await agentOn(lab.site, installation).connect(node.token)
  const form = { name: 'dns', proto: 'udp' as const, backendHost: '192.168.7.20', backendPort: 53 }
  service = await installation.api.publishPort(node.id, form)
  await untilPhase('live')
})

afterAll(async () => {
  await installation?.close()
})

/** dnsmasq on a host behind the gateway, with a text of 1,600 bytes. */
function startNameServer(dir: string): void {
  mkdirSync(dir, { mode: 0o755 })
  const text = Array.from({ length: 8 }, (_, index) => String(index).repeat(200)).join()
  const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root']
  const records = [
    '--edns-packet-max=4096',
    '--host-record=a.test,192.0.2.7',
    `--txt-record=big.test,${text}`,
  ]
  lab.lan.start(['dnsmasq', ...fixed, '--pid-file=', ...records], { logFile: `${dir}/dnsmasq.log` })
}

async function untilLive(made: TcpService): Promise<void> {
  const isLive = async () => (await installation.api.getService(made)).state.phase === 'live'
  await until('the service to be live', isLive)
}

async function untilPhase(phase: string): Promise<void> {
  await until(`the service to be ${phase}`, async () => {
    service = await installation.api.getService(service)
    return service.state.phase === phase
  })
}

/** @returns the length of the answer; 0 if none came soon */
async function ask(name: string, type: number): Promise<number> {
  const args = ['dns', lab.server.address, String(service.port), name, String(type)]
  return Number((await lab.visitor.run(process.execPath, VISITOR, ...args)).stdout)
}

test('a name server behind a gateway answers visitors through the tunnel, even with 1,600 bytes', async () => {
  expect(service).toMatchObject({ publicAccess: `udp://${lab.server.address}:${service.port}`, proto: 'udp' })
  await until('a short answer', async () => (await ask('a.test', 1)) > 0)
  await until('a long answer', async () => (await ask('big.test', 16)) > 1600)
})

test('the server is not a router between its other networks, even when its edge restarts', async () => {
  const reaches = async () => (await lab.visitor.run('fping', '-c1', BESIDE)).code === 0
  expect((await lab.server.run('fping', '-c1', BESIDE)).code).toBe(0)
  expect(await reaches()).toBe(false)
  await installation.edge.stop()
  expect(await reaches()).toBe(false)
  installation.startEdge()
  await until('the edge', () => isApplied(installation.api))
  await until('an answer', async () => (await ask('a.test', 1)) > 0)
  expect(await reaches()).toBe(false)
})

test('a program with many flows gets an answer on each, and continues with all', async () => {
  const dir = `${installation.dataDir}/upstreams`
  // It answers with the flow's source, which no two flows share.
  const echo = `const socket = require('node:dgram').createSocket('udp4').bind(7001)
    socket.on('message', (_, { address, port }) => socket.send(address + ' ' + port, port, address))`
  lab.lan.start([process.execPath, '-e', echo], { logFile: `${dir}/echo.log` })
  const form = { name: 'flows', proto: 'udp' as const, backendHost: '192.168.7.20', backendPort: 7001 }
  const { port } = await installation.api.publishPort(node.id, form)
  const asks = ['keep', lab.server.address, String(port), lab.visitor.address, '500']
  const program = lab.visitor.start([process.execPath, VISITOR, ...asks], { logFile: `${dir}/flows.log` })
  // The last line has the number of flows answered in the last three seconds, and all answers.
  const last = () => program.output().trim().split('\n').at(-1) ?? ''
  const all = await until('500 flows', () => last().startsWith('500 ') && last())
  expect(new Set(all.slice('500 '.length).split(',')).size).toBe(500)
  const other = await installation.api.publishPort(node.id, { ...form, name: 'other', backendPort: 53 })
  await untilLive(other)
  // A flow that had ended would have restarted from another port.
  await until('the same 500 flows', () => last() === all)
  await program.stop()
})

test('a source that floods a service blocks neither its other visitors nor the server', async () => {
  const { server, visitor, lan } = lab
  const dir = `${installation.dataDir}/upstreams`
  const echo = `const socket = require('node:dgram').createSocket('udp4').bind(7002)
    socket.on('message', (_, { address, port }) => socket.send('x', port, address))`
  lan.start([process.execPath, '-e', echo], { logFile: `${dir}/flooded.log` })
  const form = { name: 'flooded', proto: 'udp' as const, backendHost: '192.168.7.20', backendPort: 7002 }
  const flooded = await installation.api.publishPort(node.id, form)
  await untilLive(flooded)
  const source = '203.0.113.101'
  await visitor.must('ip', 'addr', 'add', `${source}/24`, 'dev', 'eth0')
  await visitor.must(process.execPath, VISITOR, 'flood', server.address, `${flooded.port}`, source, '3000')
  const held = await server.must('conntrack', '-L', '-p', 'udp', '--orig-src', source)
  expect(held.match(/dport=/g)?.length).toBeLessThanOrEqual(2 * UDP_FLOWS.perSource)
  await until('another service', async () => (await ask('a.test', 1)) > 0)
  const program = visitor.start(
    [process.execPath, VISITOR, 'keep', server.address, `${flooded.port}`, visitor.address, '10'],
    { logFile: `${dir}/others.log` },
  )
  await until('another visitor', () => program.output().trim().split('\n').at(-1)?.startsWith('10 '))
  await program.stop()
  // Over TCP even the source itself is served.
  const page = ['-sk', '-o', '/dev/null', '-w', '%{http_code}', '-m', '5', '--interface', source]
  expect(await visitor.must('curl', ...page, `https://${server.address}/`)).toBe('200')
})

test('its log has a line at the start and one at the end, and a disabled service answers nobody', async () => {
  const { api } = installation
  const log = api.stream(`/api/logs/stream?type=tcp&id=${service.id}`)
  const lines = () => log.events.flatMap(({ data }) => JSON.parse(data) as string[]).join('\n')
  await until('a line at the start', async () => {
    await ask('a.test', 1)
    return lines().includes(' opened')
  })
  await api.setEnabled(service, false)
  await until('nobody to be answered', async () => (await ask('a.test', 1)) === 0)
  await until('a line at the end', () => lines().includes(' closed '))
  log.close()
  const about = `203\\.0\\.113\\.100 "udp ${service.port}"`
  expect(lines()).toMatch(new RegExp(`^\\[INFO\\] \\S+ ${about} opened$`, 'm'))
  expect(lines()).toMatch(new RegExp(`^\\[INFO\\] \\S+ ${about} closed \\S+ in \\S+ out \\S+$`, 'm'))
  await api.setEnabled(service, true)
  await until('an answer again', async () => (await ask('a.test', 1)) > 0)
})

test('a port that another program holds is reported on its row until it is free, and not handed out', async () => {
  const others = (await installation.api.call('GET', '/api/services/tcp')).json as TcpService[]
  const lowest = Math.max(...others.map(({ port }) => port)) + 1
  const holder = lab.server.start(
    [
      process.execPath,
      '-e',
      `for (const port of [${lowest}, 32700]) require('node:dgram').createSocket('udp4').bind(port)`,
    ],
    { logFile: `${installation.dataDir}/holder.log` },
  )
  await until(
    'the port to be held',
    async () => (await lab.server.must('ss', '-Hlun', 'sport = :32700')) !== '',
  )
  const form = {
    name: 'held',
    proto: 'udp' as const,
    port: 32700,
    backendHost: '192.168.7.20',
    backendPort: 53,
  }
  service = await installation.api.publishPort(node.id, form)
  await untilPhase('failed')
  expect(service.state.problem).toBe('Port 32700 is held by another program on this machine')
  const given = await installation.api.publishPort(node.id, { ...form, name: 'given', port: null })
  expect([given.proto, given.port]).toEqual(['udp', lowest + 1])
  await holder.stop()
  await untilPhase('live')
  await until('an answer', async () => (await ask('a.test', 1)) > 0)
})
