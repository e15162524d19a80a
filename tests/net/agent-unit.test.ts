import type { Config } from '@postern/contract/config'
import type { CreatedNode } from '@postern/contract/nodes'
import { startInstallation } from '@postern/testkit/installation'
import { bootMachine } from '@postern/testkit/lab/booted-machine'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

/** An agent as systemd starts it on a host: in its unit, which confines it. */
let node: CreatedNode

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const machine = shared(() => bootMachine(lab.site))
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  await startEcho(lab.site, `${dir}/own`, 8080, '127.0.0.1')
  await startEcho(lab.lan, `${dir}/lan`, 8081)
})

const UNIT = 'postern-agent'
const statusOf = async (domain: string) => (await visit(lab.visitor, `https://${domain}/`)).status
const postern = (...args: string[]) =>
  machine.must(
    `${machine.clone}/node_modules/.bin/node`,
    `${machine.clone}/apps/agent/dist/postern.mjs`,
    ...args,
  )

async function publish(domain: string, backend: { backendHost?: string; backendPort: number }) {
  await installation.api.createDomain({ domain })
  await installation.api.publish(node.id, { name: domain, domain, ...backend })
  await until(`${domain} to answer`, async () => (await statusOf(domain)) === 200)
}

async function connect(form: { isGateway?: boolean } = {}): Promise<void> {
  const { api } = installation
  const gatewayNetworks = [{ interface: 'eth1', subnet: '192.168.7.0/24' }]
  node = await api.createNode({
    name: `site ${form.isGateway}`,
    ...form,
    ...(form.isGateway && { gatewayNetworks }),
  })
  const { publicUrl, caFingerprint } = (await api.call('GET', '/api/config')).json as Config
  const flags = [
    `--url=${publicUrl}`,
    `--token=${node.token}`,
    `--fingerprint=${caFingerprint}`,
    ...(form.isGateway ? ['--gateway'] : []),
  ]
  expect(await postern('connect', ...flags)).toContain('Connection established!')
  expect(await machine.must('systemctl', 'is-active', UNIT)).toBe('active\n')
  expect(await postern('status')).not.toMatch(/^Note/m)
}

test('a gateway in its unit forwards into its network', async () => {
  await connect({ isGateway: true })
  await publish('lan.example.com', { backendHost: lab.lan.address, backendPort: 8081 })
}, 120_000)

test('a node in its unit serves what listens on 127.0.0.1', async () => {
  await connect()
  await publish('own.example.com', { backendPort: 8080 })
}, 120_000)

test('agent and tunnel have capabilities for the network only, and can write nowhere else', async () => {
  const agent = (await machine.must('systemctl', 'show', '-P', 'MainPID', UNIT)).trim()
  const tunnel = (await machine.must('ps', '-C', 'wireguard-go', '-o', 'pid=')).trim()
  for (const pid of [agent, tunnel]) {
    const status = await machine.must('cat', `/proc/${pid}/status`)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    // NET_ADMIN and NET_BIND_SERVICE.
    expect(status).toMatch(/^CapBnd:\t0000000000001400$/m)
  }
  const inside = ['nsenter', `--target=${agent}`, '--mount']
  for (const file of ['/etc/x', '/root/x', '/usr/local/bin/x', '/var/lib/x', '/run/x'])
    expect((await machine.run(...inside, 'touch', file)).stderr, file).toContain('Read-only file system')
  await machine.must(...inside, 'touch', '/etc/postern/x')
})

test('a restart keeps the tunnel, and a disconnect removes everything, as without a unit', async () => {
  const tunnel = await machine.must('ps', '-C', 'wireguard-go', '-o', 'pid=')
  await machine.must('systemctl', 'restart', UNIT)
  await until('the agent', async () => (await postern('status', '--health')).trim() === 'online')
  expect(await machine.must('ps', '-C', 'wireguard-go', '-o', 'pid=')).toBe(tunnel)
  expect(await statusOf('own.example.com')).toBe(200)
  await postern('disconnect')
  expect((await machine.run('ps', '-C', 'wireguard-go')).code).toBe(1)
  expect(await machine.must('nft', 'list', 'tables')).toBe('')
})

test('it runs even where systemd cannot confine it', async () => {
  await machine.must('sh', '-c', 'rm -rf /run/wireguard && touch /run/wireguard')
  await machine.run(
    'sh',
    '-c',
    `${machine.clone}/node_modules/.bin/node ${machine.clone}/apps/agent/dist/postern.mjs connect --wait 1`,
  )
  expect(await machine.must('systemctl', 'is-active', UNIT)).toBe('active\n')
  expect(await machine.must('cat', `/etc/systemd/system/${UNIT}.service`)).not.toContain('ProtectSystem')
})
