import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CreatedNode } from '@postern/contract/nodes'
import { buildImage, inspectImage } from '@postern/testkit/containers/build-image'
import { type ComposeService, readCompose } from '@postern/testkit/containers/compose'
import { type Container, startContainer } from '@postern/testkit/containers/container'
import { capabilitySet } from '@postern/testkit/containers/processes'
import {
  buildServerImage,
  type ServerContainers,
  startServerContainers,
} from '@postern/testkit/containers/server'
import { type FakeDocker, startFakeDocker } from '@postern/testkit/fakes/fake-docker'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const COMPOSE = join(ROOT, 'deploy/docker/gateway.compose.yaml')
const IMAGE = 'postern-gateway:test'
const DOCKER_GROUP = 7999
const SOCKET = '/var/run/docker.sock'
const WHOAMI = '172.29.7.20'
const GRAFANA = '172.29.7.21'

/**
 * Server and gateway run from their two compose files. The site's host is the gateway's container: 172.29.7.2 in the compose file's network, where the lan's host has the
 * addresses of two other containers. Docker's name server for it is at 127.0.0.11, as in each of its containers.
 */
let lab: Lab
let server: ServerContainers
const dir = tempDir()
let node: CreatedNode
let shown: { publicUrl: string; caFingerprint: string }
let docker: FakeDocker
let gateway: Container

beforeAll(async () => {
  await buildImage({ dockerfile: join(ROOT, 'deploy/docker/gateway.Dockerfile'), context: ROOT, tag: IMAGE })
  await buildServerImage()
  lab = await startLab()
  server = await startServerContainers(lab, dir)
  await lab.site.must('ip', 'addr', 'add', '172.29.7.2/24', 'dev', 'eth1')
  for (const address of [WHOAMI, GRAFANA])
    await lab.lan.must('ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0')
  await startEcho(lab.lan, dir, 80, WHOAMI)
  await startEcho(lab.lan, dir, 3000, GRAFANA)
  await startListening(lab.site, DNSMASQ, dir, 'dnsmasq', 53)
  docker = await startFakeDocker(join(dir, 'docker.sock'))
  chownSync(docker.path, 0, DOCKER_GROUP)
  chmodSync(docker.path, 0o660)
  docker.containers.set('gateway', { name: 'gateway', networks: { shop: '172.29.7.2' } })
  const gatewayNetworks = [{ interface: 'eth0', subnet: '172.29.7.0/24' }]
  node = await server.api.createNode({ name: 'shop', isGateway: true, gatewayNetworks })
  // The contract's type for this answer.
  shown = (await server.api.call('GET', '/api/config')).json as typeof shown
  gateway = await up()
})
afterAll(async () => {
  await gateway?.stop()
  await docker?.close()
  await server?.close()
  await lab?.close()
})

const DNSMASQ = [
  ...['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root'],
  ...['--pid-file=', '--listen-address=127.0.0.11', '--bind-interfaces'],
  ...[`--host-record=whoami,${WHOAMI}`, `--host-record=grafana,${GRAFANA}`],
]

/** The compose file as a person leaves it: three lines edited, and for labels two more uncommented. */
function readEdited(edit: (text: string) => string = (text) => text): ComposeService {
  const { publicUrl, caFingerprint } = shown
  const text = readFileSync(COMPOSE, 'utf8')
    .replace('https://postern.example.com', publicUrl)
    .replace('ptn_replace-me', node.token)
    .replace("&fingerprint ''", `&fingerprint ${caFingerprint}`)
  const file = join(dir, 'gateway.compose.yaml')
  writeFileSync(file, edit(text))
  const service = readCompose(file).services.gateway
  if (!service) throw new Error('the compose file has no gateway')
  return service
}

async function start(service: ComposeService, volume = 'node'): Promise<Container> {
  const mounts = { node: join(dir, volume), [SOCKET]: docker.path }
  const etc = { 'resolv.conf': 'nameserver 127.0.0.11\noptions ndots:0\n' }
  return startContainer({ image: IMAGE, namespace: lab.site, service, mounts, etc })
}

async function up(edit?: (text: string) => string): Promise<Container> {
  const container = await start(readEdited(edit))
  await until('the gateway to be healthy', async () => (await container.health()).code === 0, {
    everyMs: 500,
  })
  return container
}

async function restart(edit?: (text: string) => string): Promise<void> {
  expect((await gateway.stop()).seconds).toBeLessThan(10)
  gateway = await up(edit)
}

const statusOf = async (domain: string) => (await visit(lab.visitor, `https://${domain}/`)).status
const answers = (domain: string) => until(`${domain} to answer`, async () => (await statusOf(domain)) === 200)
const agentFile = () => readFileSync(join(dir, 'node/node/agent.json'), 'utf8')

test("a person with only Docker publishes another machine's container with two compose files and no other command", async () => {
  await server.api.createDomain({ domain: 'whoami.example.com' })
  const backend = { backendHost: 'whoami', backendPort: 80 }
  await server.api.publish(node.id, { name: 'whoami', domain: 'whoami.example.com', ...backend })
  await answers('whoami.example.com')
  expect((await gateway.exec(['postern', 'status'])).stdout).not.toContain('Note')
})

test('no process is root, none has more than NET_ADMIN, and none can gain anything', () => {
  const processes = gateway.processes()
  expect(processes.map(({ name }) => name)).toEqual(expect.arrayContaining(['tini', 'wireguard-go']))
  for (const { name, uid, capabilities, noNewPrivileges } of processes) {
    const isInit = name === 'tini'
    expect({ name, uid, bounding: capabilities.bounding }).toEqual({
      name,
      uid: 7401,
      bounding: capabilitySet('NET_ADMIN'),
    })
    expect([name, capabilities.effective]).toEqual([
      name,
      isInit ? capabilitySet() : capabilitySet('NET_ADMIN'),
    ])
    expect([name, noNewPrivileges]).toEqual([name, !isInit])
  }
})

test('its files cannot be written but for its own, and the kernel’s settings not at all', async () => {
  const write = async (path: string) => (await gateway.exec(['sh', '-c', `echo 0 > ${path}`])).code
  expect(await write('/opt/postern/postern.mjs')).not.toBe(0)
  expect(await write('/usr/local/bin/x')).not.toBe(0)
  expect(await write('/proc/sys/net/ipv4/ip_forward')).not.toBe(0)
  expect(await write('/var/lib/postern-agent/x')).toBe(0)
})

test('the token is in no argument, log, or layer; who reads the health check’s command sees none', async () => {
  const { privateKey } = JSON.parse(agentFile()) as { privateKey: string }
  const image = await inspectImage(IMAGE)
  const seen = [
    gateway.logs(),
    image.text,
    JSON.stringify(gateway.processes().map(({ argv }) => argv)),
    (await gateway.exec(['postern', 'status', '--json'])).stdout,
  ]
  for (const text of seen) for (const secret of [node.token, privateKey]) expect(text).not.toContain(secret)
  const { stdout } = await gateway.exec([
    'grep',
    '-rlE',
    'ptn_[0-9A-Za-z]{8}',
    '/opt',
    '/usr/local/bin/postern',
    '/etc',
  ])
  expect(stdout).toBe('')
})

test('the health check tells the truth: unhealthy while the tunnel carries nothing', async () => {
  // This machine's nft hangs on what the image's newer one wrote.
  const cut = ['pref', '1', 'ipproto', 'udp', 'dport', '51820', 'blackhole']
  await lab.site.must('ip', 'rule', 'add', ...cut)
  const { code, stdout } = await gateway.health()
  expect({ isHealthy: code === 0, stdout }).toEqual({ isHealthy: false, stdout: 'no-traffic\n' })
  await lab.site.must('ip', 'rule', 'del', ...cut)
  await until('the gateway to be healthy', async () => (await gateway.health()).code === 0, { everyMs: 500 })
})

test('recreated on the same volume it is the same node, also while the server is down', async () => {
  const before = agentFile()
  await server.server.stop()
  await restart()
  expect(agentFile()).toBe(before)
  await answers('whoami.example.com')
  await server.start('server')
  await server.untilApplied()
})

/** As a person does for labels: uncomments two lines. */
const withLabels = (text: string) =>
  text
    .replace(`# - ${SOCKET}:`, `- ${SOCKET}:`)
    .replace("# group_add: ['999']", `group_add: ['${DOCKER_GROUP}']`)

const LABELS = { 'postern.http.domain': 'grafana.example.com', 'postern.http.port': '3000' }
const run = (labels: Record<string, string>) =>
  docker.start({ name: 'grafana', labels, networks: { shop: GRAFANA } })
const says = (words: string) =>
  until(`the status to say: ${words}`, async () =>
    (await gateway.exec(['postern', 'status'])).stdout.includes(words),
  )

test('a container with labels is published once the node has the right, and removed when it ends', async () => {
  await server.api.createDomain({ domain: 'grafana.example.com' })
  await restart(withLabels)
  run(LABELS)
  await says('turn on Agent May Publish Services')
  await server.api.call('PATCH', `/api/nodes/${node.id}`, {
    ...{ agentMayPublish: true, agentDomains: ['grafana.example.com'] },
  })
  await says('grafana/http is published at https://grafana.example.com')
  await answers('grafana.example.com')
  docker.stop('grafana')
  await until('its end', async () => (await statusOf('grafana.example.com')) === 404)
  await answers('whoami.example.com')
})

test('labels that cannot be read, or that the server refuses, publish nothing and are reported', async () => {
  run({ ...LABELS, 'postern.allowed-ip': '192.0.2.0/24' })
  await says('Unknown label postern.allowed-ip')
  run({ ...LABELS, 'postern.http.domain': lab.server.address })
  await says('grafana/http is refused: domain')
  expect(await statusOf('grafana.example.com')).toBe(404)
  run(LABELS)
  await answers('grafana.example.com')
})

test('without its socket’s group the gateway says how to give it', async () => {
  await gateway.stop()
  const { group_add: _, ...service } = readEdited(withLabels)
  gateway = await start(service)
  await says('its group must be one of the container')
  await answers('grafana.example.com')
})

test('what is missing in a compose file is reported in words', async () => {
  await gateway.stop()
  const plain = readEdited()
  const without = await start({ ...plain, cap_add: [] }, 'spare')
  await until('the words', () => without.logs().includes('add the capability NET_ADMIN'))
  await without.stop()
  const wrong = await start(
    { ...plain, environment: { ...plain.environment, POSTERN_TOKEN: 'ptn_wrong' } },
    'other',
  )
  await until('the words', () => wrong.logs().includes('The server rejected the token'))
  expect((await wrong.health()).stdout).toBe('refused\n')
  await wrong.stop()
  const { sysctls: _, ...rest } = plain
  const closed = await start({ ...rest, sysctls: { 'net.ipv4.ip_forward': 0 } })
  await until('the note', async () =>
    (await closed.exec(['postern', 'status'])).stdout.includes(
      'net.ipv4.ip_forward is 1, which it may not set',
    ),
  )
  await closed.stop()
  gateway = await up()
  await answers('whoami.example.com')
})
