import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import type { CreatedNode } from '@postern/contract/nodes'
import type { TcpService, TcpServiceFormInput } from '@postern/contract/services/services'
import { agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startListening, startMosquitto, startTransferServer, transfer } from '@postern/testkit/lab/upstreams'
import { must, run } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'

let node: CreatedNode
let dir: string

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  dir = `${installation.dataDir}/upstreams`
  mkdirSync(dir, { mode: 0o755 })
  await Promise.all([startMosquitto(lab.site, dir), startRedis(), startSsh()])
  node = await installation.api.createNode({
    name: 'office',
    isGateway: true,
    gatewayNetworks: [{ interface: 'eth1', subnet: '192.168.7.0/24' }],
  })
  await agentOn(lab.site, installation).connect(node.token)
})

/** On a host behind the gateway. */
function startRedis() {
  const options = [
    '--port',
    '6379',
    '--bind',
    '0.0.0.0',
    '--protected-mode',
    'no',
    '--save',
    '',
    '--dir',
    dir,
  ]
  return startListening(lab.lan, ['redis-server', ...options], dir, 'redis', 6379)
}

/** It runs as its own user, who must own its files. */
async function startPostgres() {
  const [version = ''] = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
  const as = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', 'env', '-C', '/']
  const program = (name: string) => [
    ...as,
    `/usr/lib/postgresql/${version}/bin/${name}`,
    '-D',
    `${dir}/postgres`,
  ]
  await must(['install', '-d', '-o', 'postgres', '-g', 'postgres', `${dir}/postgres`])
  await must([...program('initdb'), '--auth=trust', '--no-sync'], { timeoutMs: 60_000 })
  appendFileSync(`${dir}/postgres/pg_hba.conf`, 'host all all 192.168.7.0/24 trust\n')
  const options = ['-h', '0.0.0.0', '-k', '', '-c', 'fsync=off']
  return await startListening(lab.lan, [...program('postgres'), ...options], dir, 'postgres', 5432)
}

async function startSsh() {
  for (const name of ['host-key', 'user-key'])
    await must(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', `${dir}/${name}`])
  await must(['mkdir', '-p', '/run/sshd'])
  const lines = [
    'Port 22',
    `HostKey ${dir}/host-key`,
    `AuthorizedKeysFile ${dir}/user-key.pub`,
    'PermitRootLogin prohibit-password',
    'StrictModes no',
    'UsePAM no',
    `PidFile ${dir}/sshd.pid`,
  ]
  writeFileSync(`${dir}/sshd.conf`, `${lines.join('\n')}\n`)
  return await startListening(lab.site, ['/usr/sbin/sshd', '-D', '-f', `${dir}/sshd.conf`], dir, 'sshd', 22)
}

/** A TCP service that is live, of a host on the gateway's network. */
async function publish(form: Omit<TcpServiceFormInput, 'backendHost'>, host: string): Promise<TcpService> {
  const { api } = installation
  const service = await api.publishPort(node.id, { ...form, backendHost: host })
  await until('the service to be live', async () => (await api.getService(service)).state.phase === 'live')
  return service
}

/** Runs a visitor's program until it ends. */
const visitor = (...argv: string[]) => run([...lab.visitor.argv(), ...argv], { timeoutMs: 30_000 })

test('MQTT: a message from one visitor to another, plain and over TLS', async () => {
  const plain = await publish({ name: 'mqtt', backendPort: 1883 }, '192.168.7.1')
  const secure = await publish(
    { name: 'mqtts', backendPort: 1883, ssl: true, domain: 'mqtt.example.com' },
    '192.168.7.1',
  )
  expect(plain).toMatchObject({ publicAccess: `tcp://${lab.server.address}:${plain.port}`, port: 32660 })
  expect(secure.publicAccess).toBe(`tcp://mqtt.example.com:${secure.port}`)
  const topic = ['-t', 'a', '-q', '1']
  const at = (port: number) => ['-h', lab.server.address, '-p', String(port), ...topic]
  // Only at its own domain: no other name gets a handshake there.
  writeFileSync(`${dir}/hosts`, `${lab.server.address} mqtt.example.com\n`)
  const named = ['unshare', '-m', 'sh', '-c', `mount --bind ${dir}/hosts /etc/hosts && exec "$@"`, 'sh']
  const secured = ['-h', 'mqtt.example.com', '-p', String(secure.port), '--cafile', `${dir}/ca.pem`, ...topic]
  writeFileSync(`${dir}/ca.pem`, (await installation.api.call('GET', '/install/ca.crt')).text)
  const heard = visitor('mosquitto_sub', ...at(plain.port), '-C', '1', '-W', '20')
  const said = await until('a message to be taken', async () => {
    const outcome = await visitor(...named, 'mosquitto_pub', ...secured, '-r', '-m', 'hello')
    return outcome.code === 0 ? outcome : undefined
  })
  expect(said.stderr).toBe('')
  expect((await heard).stdout).toBe('hello\n')
})

test('Redis on a host behind the gateway answers a visitor', async () => {
  const { port } = await publish({ name: 'redis', backendPort: 6379 }, '192.168.7.20')
  const answer = await until('the answer', async () => {
    const { stdout } = await visitor('redis-cli', '-h', lab.server.address, '-p', String(port), 'ping')
    return stdout || undefined
  })
  expect(answer).toBe('PONG\n')
})

test('PostgreSQL on a host behind the gateway answers, even with many rows', async () => {
  await startPostgres()
  const { port } = await publish({ name: 'postgres', backendPort: 5432 }, '192.168.7.20')
  const ask = (query: string) =>
    visitor('psql', '-h', lab.server.address, '-p', String(port), '-U', 'postgres', '-Atc', query)
  await until('an answer', async () => (await ask('SELECT 1')).stdout === '1\n')
  const { stdout } = await ask("SELECT i, repeat('x', 100) FROM generate_series(1, 50000) AS i")
  expect(stdout.trim().split('\n')).toHaveLength(50_000)
  expect(stdout).toMatch(/\n50000\|x{100}\n$/)
})

test('SSH: a command, and 64 MB each way that arrive as they were', async () => {
  const { port } = await publish({ name: 'ssh', backendPort: 22 }, '192.168.7.1')
  const options = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
  ]
  const ssh = ['ssh', '-i', `${dir}/user-key`, ...options, '-p', String(port), `root@${lab.server.address}`]
  expect(await must([...lab.visitor.argv(), ...ssh, 'echo', 'in'])).toBe('in\n')
  const script = `head -c 67108864 /dev/urandom > ${dir}/sent
    ${ssh.join(' ')} sha256sum < ${dir}/sent
    ${ssh.join(' ')} cat ${dir}/sent | sha256sum
    sha256sum < ${dir}/sent`
  const sums = await must([...lab.visitor.argv(), 'sh', '-c', script], { timeoutMs: 180_000 })
  expect(new Set(sums.trim().split('\n')).size).toBe(1)
}, 200_000)

/** More on request: two gigabytes take two minutes or more. */
const TRANSFER_MB = Number(process.env.POSTERN_TRANSFER_MB ?? 64)

test('a long transfer arrives unchanged, each way', async () => {
  await startTransferServer(lab.site, dir, 7000)
  const { port } = await publish({ name: 'transfer', backendPort: 7000 }, '192.168.7.1')
  for (const way of ['get', 'put'] as const) {
    const { isSame, ms } = await transfer(lab.visitor, way, lab.server.address, port, TRANSFER_MB * 2 ** 20)
    expect(isSame, `${way}, after ${ms} ms`).toBe(true)
  }
}, 1_200_000)

test('its log has a line at the start and one at the end, and a disabled service accepts nobody', async () => {
  const { api } = installation
  const service = await publish({ name: 'watched', backendPort: 6379 }, '192.168.7.20')
  const log = api.stream(`/api/logs/stream?type=tcp&id=${service.id}`)
  const ping = () => visitor('redis-cli', '-h', lab.server.address, '-p', String(service.port), 'ping')
  const lines = () => log.events.flatMap(({ data }) => JSON.parse(data) as string[])
  await until('both lines', async () => {
    await ping()
    return lines().some((line) => line.includes(' closed '))
  })
  log.close()
  const about = `203\\.0\\.113\\.100 "tcp ${service.port}"`
  expect(lines().join('\n')).toMatch(new RegExp(`^\\[INFO\\] \\S+ ${about} opened$`, 'm'))
  expect(lines().join('\n')).toMatch(
    new RegExp(`^\\[INFO\\] \\S+ ${about} closed \\S+ in \\S+ out \\S+$`, 'm'),
  )
  await api.setEnabled(service, false)
  await until('nobody to be taken', async () => !(await ping()).stdout.includes('PONG'))
})

test('a service whose program does not listen says so, until it does', async () => {
  const { api } = installation
  const service = await api.publishPort(node.id, {
    name: 'late',
    backendHost: '192.168.7.20',
    backendPort: 6380,
  })
  const phase = (wanted: string) =>
    until(`the service to be ${wanted}`, async () => (await api.getService(service)).state.phase === wanted)
  await phase('unanswered')
  await startListening(
    lab.lan,
    ['redis-server', '--port', '6380', '--protected-mode', 'no', '--save', '', '--dir', dir],
    dir,
    'redis-late',
    6380,
  )
  await phase('live')
})
