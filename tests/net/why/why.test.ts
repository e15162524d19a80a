import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services/services'
import type { Why, WhyStep, WhyStepName } from '@postern/contract/why/why'
import { type Agent, agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const PORT = 8080
const RECORDS = {
  'app.test': '203.0.113.1',
  'moved.test': '203.0.113.10',
  'listed.test': '203.0.113.1',
  'guarded.test': '203.0.113.1',
  'plain.test': '203.0.113.1',
}

const lab = shared(startLab)
const installation = shared(() =>
  startInstallation(lab, {
    POSTERN_DNS_SERVERS: '203.0.113.10',
    POSTERN_OIDC_ISSUER: 'http://127.0.0.1:9300',
    POSTERN_OIDC_CLIENT_ID: 'postern',
    POSTERN_OIDC_CLIENT_SECRET: 'not-asked-here',
  }),
)
let node: CreatedNode
let agent: Agent
let echo: Running
let names: Running

beforeAll(async () => {
  names = await startNameServer(lab.site, RECORDS)
  echo = await startEcho(lab.site, `${installation.dataDir}/upstreams`, PORT)
  node = await installation.api.createNode({ name: 'office' })
  agent = agentOn(lab.site, installation)
  await agent.connect(node.token)
  await publish('app')
  await until('the service', async () => (await visit(lab.visitor, 'https://app.test/')).status === 200)
})

async function startNameServer(host: Host, known: Record<string, string>): Promise<Running> {
  const dir = `${installation.dataDir}/names`
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, 0o755)
  const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root']
  const records = Object.entries(known).map(([name, address]) => `--host-record=${name},${address}`)
  const command = ['dnsmasq', ...fixed, '--pid-file=', '--local=/test/', ...records]
  const running = host.start(command, { logFile: `${dir}/dnsmasq.log` })
  await until('the name server', async () => (await host.must('ss', '-Hlnu')).includes(':53 '))
  return running
}

const publish = (name: string, form: object = {}): Promise<HttpService> =>
  installation.api.publish(node.id, {
    name,
    domain: `${name}.test`,
    backendPort: PORT,
    skipValidation: false,
    ...form,
  })

async function why(address: string, visitor = '203.0.113.100'): Promise<Why> {
  const { status, json } = await installation.api.call('POST', '/api/why', { address, visitor })
  expect(status).toBe(201)
  const { id } = json as Why // the contract was checked
  return await until('the end', async () => {
    const now = (await installation.api.call('GET', `/api/why/${id}`)).json as Why
    return now.state !== 'looking' && now
  })
}
const stepOf = ({ steps }: Why, name: WhyStepName) => steps.find(({ step }) => step === name) as WhyStep // all are there
const stopOf = ({ steps }: Why) => steps.find(({ state }) => state === 'stop')
/** A change takes a moment to be in force. */
const untilStop = (address: string, step: WhyStepName, visitor?: string) =>
  until(`it to stop at ${step}`, async () => {
    const stop = stopOf(await why(address, visitor))
    return stop?.step === step && stop
  })

test('a service that works is followed to the answer of its program', async () => {
  const since = performance.now()
  const found = await why('https://app.test/some/page?x=secret')
  console.info('ms for a service that works', Math.round(performance.now() - since))
  expect(found).toMatchObject({
    state: 'works',
    address: 'https://app.test/some/page',
    service: { name: 'app' },
  })
  expect(found.steps.map(({ state }) => state)).toEqual([
    'ok',
    'ok',
    'ok',
    'note',
    'ok',
    'ok',
    'ok',
    'ok',
    'ok',
  ])
  expect(stepOf(found, 'certificate').seen).toContain("this installation's own authority")
  expect(stepOf(found, 'tunnel').seen).toMatch(
    /^The last handshake of office was \d+ s ago, from 203.0.113.10:\d+\.$/,
  )
  expect(stepOf(found, 'target').seen).toMatch(/^10\.\d+\.\d+\.\d+:8080 took the connection in \d+ ms\.$/)
  expect(stepOf(found, 'answer').seen).toMatch(/^The program answered 200 for \/some\/page after \d+ ms\.$/)
})

test('a name that leads elsewhere', async () => {
  await publish('moved', { skipValidation: true })
  const noted = await until('it to work', async () => {
    const found = await why('moved.test')
    return found.state === 'works' && found
  })
  expect(stepOf(noted, 'address')).toMatchObject({
    state: 'note',
    seen: expect.stringContaining('203.0.113.10 (A)'),
  })
  // Checked when it was saved, and moved since.
  await publish('plain')
  await names.stop()
  names = await startNameServer(lab.site, { ...RECORDS, 'plain.test': '203.0.113.10' })
  expect(await untilStop('plain.test', 'address')).toMatchObject({
    seen: 'plain.test points to 203.0.113.10 (A), which refuses connections on port 80.',
    next: expect.stringContaining('Point it to 203.0.113.1.'),
  })
  await names.stop()
  expect(await untilStop('plain.test', 'dns')).toMatchObject({
    seen: expect.stringContaining('could not be looked up'),
  })
  names = await startNameServer(lab.site, RECORDS)
})

test('a service that is disabled', async () => {
  const service = await publish('disabled', { skipValidation: true })
  await installation.api.setEnabled(service, false)
  expect(await untilStop('disabled.test', 'route')).toMatchObject({
    seen: '“disabled” answers here, and is disabled.',
    next: 'Enable “disabled” in its row.',
  })
})

test('a longer path takes the address, and another does not', async () => {
  const api = await publish('api', { domain: 'app.test', pathLocation: '/api' })
  const found = await until('it to take the address', async () => {
    const now = await why('app.test/api/users')
    return now.service?.id === api.id && now
  })
  expect(stepOf(found, 'route').seen).toContain('it takes this address from “app”')
  expect((await why('app.test/apis')).service?.name).toBe('app')
  await installation.api.setEnabled(api, false)
  expect((await untilStop('app.test/api', 'route')).seen).toContain('“api” answers here, and is disabled')
})

test('an address that nobody publishes', async () => {
  expect(stopOf(await why('https://nobody.test/'))).toMatchObject({ step: 'route' })
  expect(stopOf(await why('tcp://203.0.113.1:32700'))?.seen).toContain('No service is published at')
  expect(stopOf(await why('tcp://203.0.113.1:9999'))?.seen).toContain('Port 9999 is none')
})

test('IP lists let a visitor in, or not', async () => {
  await publish('listed', { allowedIps: ['203.0.113.0/24'], blockedIps: ['203.0.113.99'] })
  await until('it to work', async () => (await why('listed.test')).state === 'works')
  expect(await untilStop('listed.test', 'access', '203.0.113.99')).toMatchObject({
    seen: '203.0.113.99 is among the blocked IPs of “listed”.',
  })
  expect(stopOf(await why('listed.test', '198.51.100.7'))?.seen).toContain('is not among the allowed IPs')
})

test('sign-in, and a path that needs none', async () => {
  const domain = { domain: 'guarded.test', authentication: true, allowedEmails: ['a@example.com'] }
  expect((await installation.api.call('POST', '/api/domains', domain)).status).toBe(201)
  await publish('guarded', { requireAuth: true, skipAuthRoutes: '/open\n^/public/' })
  const found = await until('it to work', async () => {
    const now = await why('guarded.test/page')
    return now.state === 'works' && now
  })
  expect(stepOf(found, 'access')).toMatchObject({
    state: 'note',
    seen: expect.stringContaining('have to sign in'),
  })
  expect(stepOf(found, 'answer').seen).toContain('answered 200 for / ')
  for (const path of ['/open', '/public/x']) {
    const open = await why(`guarded.test${path}`)
    expect(stepOf(open, 'access').seen).toContain('needs no sign-in')
    expect(stepOf(open, 'answer').seen).toContain(`for ${path} `)
  }
})

test('a certificate that is for another name', async () => {
  expect(stopOf(await why('https://203.0.113.77/'))).toMatchObject({
    step: 'certificate',
    seen: expect.stringContaining('is not for 203.0.113.77'),
  })
})

test('TCP is connected to, and UDP cannot be asked', async () => {
  const { port } = await installation.api.publishPort(node.id, {
    name: 'tcp',
    backendPort: PORT,
    proto: 'tcp',
  })
  const udp = await installation.api.publishPort(node.id, { name: 'udp', backendPort: PORT, proto: 'udp' })
  const tcp = await until('it to work', async () => {
    const now = await why(`tcp://203.0.113.1:${port}`)
    return now.state === 'works' && now
  })
  expect(tcp.steps.map(({ state }) => state)).toEqual([
    'none',
    'ok',
    'ok',
    'none',
    'ok',
    'ok',
    'ok',
    'ok',
    'ok',
  ])
  const found = await until('the other one', async () => {
    const now = await why(`${udp.port}/udp`)
    return now.state === 'works' && now
  })
  expect(stepOf(found, 'answer')).toMatchObject({
    state: 'note',
    seen: expect.stringContaining('cannot be probed'),
  })
})

test('postern why on the node, for services of its own', async () => {
  const found = await agent.run('why', 'https://app.test/')
  expect(found.stdout).toMatch(/Why\? https:\/\/app\.test\/[\s\S]*9\. Answer of the program: OK/)
  expect(found.code).toBe(0)
  const json = await agent.run('why', '--json', 'disabled.test')
  expect([json.code, JSON.parse(json.stdout).state]).toEqual([14, 'stopped'])
  await installation.api.publish(1, {
    name: 'other',
    domain: 'other.test',
    backendPort: 1,
    backendHost: '127.0.0.1',
  })
  const refused = await agent.run('why', 'other.test')
  expect([refused.code, refused.stderr]).toEqual([13, expect.stringContaining('No service of this node')])
})

test('npm run why on the server, for root alone', async () => {
  const settings = { POSTERN_DATA_DIR: installation.dataDir, POSTERN_PUBLIC_HOST: lab.server.address }
  const env = ['env', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]
  const program = [process.execPath, `${ROOT}/scripts/why.ts`]
  const found = await lab.server.run(...env, ...program, 'app.test', '--visitor', '203.0.113.100')
  expect([found.code, found.stderr]).toEqual([0, ''])
  expect(found.stdout).toContain('Result: Visitors get an answer')
  expect((await lab.server.run(...env, ...program, 'ftp://x')).stderr).toContain('give one address')
  const stranger = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  const refused = await lab.server.run(...env, ...stranger, ...program, 'app.test')
  expect([refused.code, refused.stdout]).toEqual([1, ''])
})

test("another program's firewall that lets no visitor in", async () => {
  const wall = [
    'add table inet wall',
    'add chain inet wall in { type filter hook input priority 0; policy drop; }',
    'add rule inet wall in iif lo accept',
    'add rule inet wall in ct state established,related accept',
  ]
  await lab.server.must('nft', wall.join('; '))
  const stop = await untilStop('app.test', 'port')
  await lab.server.must('nft', 'delete table inet wall')
  expect(stop.seen).toContain('until the chain in of the table inet wall lets TCP port 443 in')
  await until('visitors to come in again', async () => (await why('app.test')).state === 'works')
})

test('a program that is stopped, and a node that is gone', async () => {
  await echo.stop()
  expect(await untilStop('app.test', 'target')).toMatchObject({
    seen: expect.stringMatching(/^10\.\d+\.\d+\.\d+:8080: The service refused the connection\.$/),
    next: expect.stringContaining('Check that it is running'),
  })
  expect((await agent.run('disconnect')).code).toBe(0)
  expect(await untilStop('app.test', 'tunnel')).toMatchObject({
    seen: expect.stringContaining('it does not answer any more'),
    next: 'Check that office runs, and what postern status says there.',
  })
})

test('an edge that is away', async () => {
  await installation.edge.stop()
  expect(await untilStop('app.test', 'port')).toMatchObject({
    seen: expect.stringContaining('No edge is connected'),
  })
})
