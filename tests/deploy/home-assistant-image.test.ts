import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CreatedNode } from '@postern/contract/nodes'
import { buildImage, inspectImage } from '@postern/testkit/containers/build-image'
import type { ComposeService } from '@postern/testkit/containers/compose'
import { type Container, startContainer } from '@postern/testkit/containers/container'
import { capabilitySet } from '@postern/testkit/containers/processes'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { must, type Running } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const ADD_ON = join(ROOT, 'deploy/home-assistant/postern')
const IMAGE = 'postern-home-assistant:test'
const DOMAIN = 'home.example.com'
const SUPERVISOR_TOKEN = 'the-supervisors-own'
const PROGRAM = fileURLToPath(
  new URL('../../packages/testkit/src/programs/home-assistant.ts', import.meta.url),
)

/**
 * The site is the add-on's container: 172.30.33.2 in the network that the Supervisor gives to add-ons, in which the lan's
 * host is Home Assistant's: 172.30.32.1, on its name. The Supervisor's names come by Docker's own name server.
 */
const HOME_ASSISTANT = '172.30.32.1'
const DNSMASQ = [
  ...['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root'],
  ...['--pid-file=', '--listen-address=127.0.0.11', '--bind-interfaces'],
  `--host-record=homeassistant,homeassistant.local.hass.io,${HOME_ASSISTANT}`,
]

const dir = tempDir()
let node: CreatedNode
let options: Record<string, unknown>
let addOn: Container
let homeAssistant: Running

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  await buildAddOn()
  await lab.site.must('ip', 'addr', 'add', '172.30.33.2/23', 'dev', 'eth1')
  await lab.lan.must('ip', 'addr', 'add', `${HOME_ASSISTANT}/23`, 'dev', 'eth0')
  await startListening(lab.site, DNSMASQ, dir, 'dnsmasq', 53)
  homeAssistant = await startHomeAssistant()
  // In the add-on itself this is eth0, because it has no other.
  const gatewayNetworks = [{ interface: 'eth1', subnet: '172.30.32.0/23' }]
  const rights = { isGateway: true, gatewayNetworks, agentMayPublish: true, agentDomains: [DOMAIN] }
  node = await installation.api.createNode({ name: 'home', ...rights })
  // Its name does not resolve here.
  await installation.api.createDomain({ domain: DOMAIN })
  // The contract's type for this answer.
  const server = (await installation.api.call('GET', '/api/config')).json as Record<string, string>
  options = {
    ...(parse(readFileSync(join(ADD_ON, 'config.yaml'), 'utf8')) as { options: object }).options,
    url: server.publicUrl,
    token: node.token,
    fingerprint: server.caFingerprint,
    publish_home_assistant: true,
    domain: DOMAIN,
  }
  addOn = await start(options)
})
afterAll(() => addOn?.stop())

/** As documented: its folder, with the server's agent in it. */
async function buildAddOn(): Promise<void> {
  const context = join(dir, 'postern')
  cpSync(ADD_ON, context, { recursive: true })
  await must([process.execPath, join(ROOT, 'apps/agent/build.ts'), join(context, 'postern.mjs')])
  await buildImage({ dockerfile: join(context, 'Dockerfile'), context, tag: IMAGE })
}

async function startHomeAssistant(...trusted: string[]): Promise<Running> {
  return startListening(lab.lan, [process.execPath, PROGRAM, '8123', ...trusted], dir, 'home-assistant', 8123)
}

/** The lines that the documentation tells people to add. */
function readTrusted(file: string): string[] {
  const [, lines = ''] = /```yaml\n(http:\n[^`]+)```/.exec(readFileSync(join(ROOT, file), 'utf8')) ?? []
  const { http }: { http: { use_x_forwarded_for: boolean; trusted_proxies: string[] } } = parse(lines)
  expect(http.use_x_forwarded_for).toBe(true)
  return http.trusted_proxies
}

/**
 * What the Supervisor makes of config.yaml: Docker's default capabilities, those it requests, and its data directory.
 */
function serviceOf(): ComposeService {
  const config: { privileged: string[]; devices: string[]; tmpfs?: boolean } = parse(
    readFileSync(join(ADD_ON, 'config.yaml'), 'utf8'),
  )
  return {
    cap_add: config.privileged,
    devices: config.devices,
    volumes: ['data:/data'],
    ...(config.tmpfs ? { tmpfs: ['/tmp'] } : {}),
    environment: { SUPERVISOR_TOKEN, HASSIO_TOKEN: SUPERVISOR_TOKEN, TZ: 'Europe/Berlin' },
    healthcheck: { test: ['CMD', ...readHealthCheck()] },
    // What Docker sets in each container's own network, and what a container inherits from its host.
    sysctls: { 'net.ipv4.ip_unprivileged_port_start': 0, 'net.ipv4.ip_forward': 1 },
  }
}

/** What Docker runs, as root of the container, for the Supervisor's watchdog. */
function readHealthCheck(): string[] {
  const [, argv = ''] =
    /^HEALTHCHECK .*\\\n +CMD (\[.+\])$/m.exec(readFileSync(join(ADD_ON, 'Dockerfile'), 'utf8')) ?? []
  return JSON.parse(argv)
}

/** As the Supervisor: writes the options, for root alone, and starts the container. */
async function start(wanted: object, volume = 'data'): Promise<Container> {
  mkdirSync(join(dir, volume), { recursive: true })
  writeFileSync(join(dir, volume, 'options.json'), JSON.stringify(wanted), { mode: 0o600 })
  const etc = { 'resolv.conf': 'search local.hass.io\nnameserver 127.0.0.11\noptions ndots:0\n' }
  const mounts = { data: join(dir, volume) }
  return startContainer({ image: IMAGE, namespace: lab.site, service: serviceOf(), mounts, etc })
}

const visitHome = () => visit(lab.visitor, `https://${DOMAIN}/`)
const answers = (status: number) =>
  until(`${DOMAIN} to answer ${status}`, async () => (await visitHome()).status === status)
const isHealthy = async () => (await addOn.health()).code === 0
const agentFile = () => readFileSync(join(dir, 'data/node/agent.json'), 'utf8')

test('one switch publishes Home Assistant, which answers once it has the lines of the documentation', async () => {
  await answers(400)
  const trusted = readTrusted('deploy/home-assistant/postern/DOCS.md')
  expect(readTrusted('docs/home-assistant.md')).toEqual(trusted)
  await homeAssistant.stop()
  homeAssistant = await startHomeAssistant(...trusted)
  await answers(200)
  expect((await visitHome()).body).toBe(`Home Assistant for ${lab.visitor.address}`)
  await until('the add-on to be healthy', isHealthy, { everyMs: 500 })
})

test('its log says in words what it does and whether it works', async () => {
  const log = addOn.logs()
  expect(log).toContain(`This add-on connects to ${options.url} and keeps connected.`)
  expect(log).toContain(`It publishes Home Assistant at https://${DOMAIN}/`)
  expect(log).toMatch(/\bonline$/m)
  expect(log).not.toContain(node.token)
})

test('no process of it is root or has more than NET_ADMIN, and none can gain anything', () => {
  const processes = addOn.processes()
  expect(processes.map(({ name }) => name)).toContain('node')
  for (const { name, uid, capabilities, noNewPrivileges } of processes)
    expect({ name, uid, noNewPrivileges, ...capabilities }).toMatchObject({
      name,
      uid: 7401,
      noNewPrivileges: true,
      bounding: capabilitySet('NET_ADMIN'),
      effective: capabilitySet('NET_ADMIN'),
    })
})

test('neither token is in an argument or the image, and the Supervisor’s is in no environment', async () => {
  const { text } = await inspectImage(IMAGE)
  const { privateKey } = JSON.parse(agentFile()) as { privateKey: string }
  const argv = JSON.stringify(addOn.processes().map((each) => each.argv))
  for (const secret of [node.token, privateKey, SUPERVISOR_TOKEN]) {
    expect(text).not.toContain(secret)
    expect(argv).not.toContain(secret)
  }
  for (const pid of addOn.pids())
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(SUPERVISOR_TOKEN)
})

test('without the right on its node it publishes nothing, and its log says which right is missing', async () => {
  const allow = (agentMayPublish: boolean) =>
    installation.api.call('PATCH', `/api/nodes/${node.id}`, { agentMayPublish })
  expect((await allow(false)).status).toBe(200)
  await until(
    'the service to be gone',
    async () => (await visitHome().catch(() => undefined))?.status !== 200,
  )
  await until('the words', () => addOn.logs().includes('Agent May Publish Services'))
  expect((await allow(true)).status).toBe(200)
  await answers(200)
})

test('when the network to the server is cut it is unhealthy, and reconnects on its own', async () => {
  // This machine's nft hangs on what the image's newer one wrote.
  const cut = ['pref', '1', 'ipproto', 'udp', 'dport', '51820', 'blackhole']
  await lab.site.must('ip', 'rule', 'add', ...cut)
  expect(await isHealthy()).toBe(false)
  await lab.site.must('ip', 'rule', 'del', ...cut)
  await until('the add-on to be healthy', isHealthy, { everyMs: 500 })
  await answers(200)
})

test('after a restart it is the same node, also when its directory came back from a backup', async () => {
  const before = agentFile()
  const { seconds, code } = await addOn.stop()
  expect({ isInTime: seconds < 10, code }).toEqual({ isInTime: true, code: 0 })
  await must(['chown', '-R', '0:0', join(dir, 'data')])
  addOn = await start(options)
  await answers(200)
  expect(agentFile()).toBe(before)
})

test('without the switch Home Assistant is no longer published, and the node stays connected', async () => {
  await addOn.stop()
  addOn = await start({ ...options, publish_home_assistant: false })
  await until(
    'the service to be gone',
    async () => (await visitHome().catch(() => undefined))?.status !== 200,
  )
  await until('the add-on to be healthy', isHealthy, { everyMs: 500 })
  expect(addOn.logs()).toContain('Publish Home Assistant is off')
})

test('wrong options are reported in words, and have no other effect', async () => {
  await addOn.stop()
  const hostile = {
    ...options,
    url: 'https://$(touch /data/evil)/',
    domain: '`touch /data/evil`',
    token: '\n',
  }
  const refused = await start(hostile, 'hostile')
  await until('it to end', () => !refused.isRunning())
  const lines = refused.logs().trim().split('\n')
  for (const name of ['Server', 'Access token', 'Domain'])
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^Change this in the add-on's configuration. ${name}: `)),
    )
  expect(lines).toHaveLength(3)
  expect(existsSync(join(dir, 'hostile/evil'))).toBe(false)
  expect(existsSync(join(dir, 'hostile/node/agent.json'))).toBe(false)
})
