import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import type { CreatedNode } from '@postern/contract/nodes'
import { agentOn } from '@postern/testkit/agent'
import { type Api, signIn } from '@postern/testkit/api'
import { isApplied } from '@postern/testkit/installation'
import { bootMachine } from '@postern/testkit/lab/booted-machine'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { openSocket, visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

/** Capabilities that amount to full root, as bits of /usr/include/linux/capability.h. */
const FORBIDDEN = { dacOverride: 1n, dacReadSearch: 2n, sysModule: 16n, sysPtrace: 19n, sysAdmin: 21n }
const UNITS = ['postern-server', 'postern-edge']
const SERVICE = 'https://service.example.com/'
const DATA_DIR = '/var/lib/postern/elsewhere'
const paths = installationPaths(DATA_DIR)

const dir = tempDir()
let password: string
let api: Api
let node: CreatedNode
/** A visitor whose connection stays open through everything that must not touch the traffic. */
let socket: Running

const lab = shared(startLab)
const machine = shared(() => bootMachine(lab.server))
beforeAll(async () => {
  await startEcho(lab.site, dir, 8080)
})

const npm = (...args: string[]) => machine.run('npm', '--prefix', machine.clone, ...args)
const statusOf = async (url: string) => (await visit(lab.visitor, url)).status
const signInAsAdmin = () => signIn(machine.pathOf(paths.serverSocket), 'admin', password)

/** Waits until server and edge are up again and the edge has applied the state. */
async function untilApplied(): Promise<void> {
  await until('the edge to have applied the state', () => isApplied(api), { timeoutMs: 60_000 })
}

/** What carries the traffic: the processes, and the interface, whose index changes with its program. */
async function observeTraffic() {
  const processes = await machine.must('ps', '-C', 'haproxy,wireguard-go', '-o', 'pid=,comm=,unit=')
  const link = await machine.must('ip', '-oneline', 'link', 'show', 'postern0')
  expect(processes).toContain('haproxy')
  expect(processes).not.toContain('postern-edge.service')
  return { processes, interface: link.split(':')[0] }
}

async function expectStillOpen(): Promise<void> {
  const before = socket.output().length
  await until('another echo on the open connection', () => socket.output().length > before)
  expect(socket.output()).not.toMatch(/closed|error/)
}

test('install-service with a port that another program holds fails in one clear line, and starts nothing', async () => {
  const node = `${machine.clone}/node_modules/.bin/node`
  const listen = "require('node:net').createServer().listen(443)"
  await machine.must('systemd-run', '--unit=other', node, '-e', listen)
  const isListening = async () => (await machine.must('ss', '-Hltn', 'sport = :443')) !== ''
  await until('it to listen', isListening)
  const { code, stderr } = await npm('run', 'install-service')
  expect(stderr).toMatch(
    /^postern: port 443 is taken by .*node -e .* \(pid \d+\): stop it, or set POSTERN_HTTPS_PORT /m,
  )
  expect(code).toBe(1)
  expect((await machine.run('systemctl', 'is-enabled', ...UNITS)).stdout).not.toContain('enabled')
  await machine.must('systemctl', 'stop', 'other')
}, 180_000)

test('install-service starts the units, now and at each boot', async () => {
  const setting = `POSTERN_DATA_DIR=${DATA_DIR}`
  const output = await machine.must(
    'env',
    setting,
    'npm',
    '--prefix',
    machine.clone,
    'run',
    'install-service',
  )
  expect(output).toContain(`https://${lab.server.address}/`)
  expect(output).toMatch(/^ +Data plane +HAProxy \S+, wireguard-go, nftables$/m)
  password = /Password +(\S+)/.exec(output)?.[1] ?? ''
  expect(await machine.must('systemctl', 'is-active', ...UNITS)).toBe('active\nactive\n')
  expect(await machine.must('systemctl', 'is-enabled', ...UNITS)).toBe('enabled\nenabled\n')
  api = await signInAsAdmin()
  // The password generated for the first start stays in no environment and in no file.
  const places = ['/etc/postern', DATA_DIR]
  expect((await machine.run('grep', '-rlF', password, ...places)).stdout).toBe('')
  const found = await machine.run('sh', '-c', `grep -lF '${password}' /proc/[0-9]*/environ 2>/dev/null`)
  expect(found.stdout).toBe('')
  await untilApplied()
  const console = await visit(lab.visitor, `https://${lab.server.address}/`)
  expect(console).toMatchObject({ status: 200, body: expect.stringMatching(/^<!doctype html/i) })
}, 180_000)

test("edge, HAProxy and tunnel are confined alike, and cannot read the server's keys", async () => {
  const pidOf = (unit: string) => machine.must('systemctl', 'show', '-P', 'MainPID', unit)
  const edge = (await pidOf('postern-edge')).trim()
  const traffic = await machine.must('ps', '-C', 'haproxy,wireguard-go', '-o', 'pid=')
  for (const pid of [edge, ...traffic.trim().split(/\s+/)]) {
    const status = await machine.must('cat', `/proc/${pid}/status`)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    const bounding = BigInt(`0x${/^CapBnd:\t([0-9a-f]+)$/m.exec(status)?.[1]}`)
    for (const bit of Object.values(FORBIDDEN)) expect(bounding & (1n << bit)).toBe(0n)
    expect(await machine.must('cat', `/proc/${pid}/limits`)).toMatch(/^Max core file size +0 +0 /m)
  }
  const inside = ['nsenter', `--target=${edge}`, '--mount']
  expect((await machine.run(...inside, 'cat', paths.secretKey)).code).toBe(1)
  for (const file of ['/etc/x', '/run/x', `${DATA_DIR}/x`])
    expect((await machine.run(...inside, 'touch', file)).stderr).toContain('Read-only file system')
})

test('a service of another host is published through the tunnel', async () => {
  node = await api.createNode({ name: 'site' })
  await agentOn(lab.site, { api, dataDir: dir, interface: lab.id }).connect(node.token)
  await api.publish(node.id, { name: 'service', domain: 'service.example.com', backendPort: 8080 })
  await until('the service to answer', async () => (await statusOf(SERVICE)) === 200)
  socket = openSocket(lab.visitor, 'service.example.com', join(dir, 'socket.log'))
  await until('the connection to be open', () => socket.output().includes('echo'))
})

test('a restart of both units does not touch traffic', async () => {
  const before = await observeTraffic()
  const statuses = new Set<number>()
  let isOver = false
  const restart = async () => {
    await machine.must('systemctl', 'restart', ...UNITS)
    await untilApplied()
  }
  const keepVisiting = async () => {
    while (!isOver) statuses.add(await statusOf(SERVICE))
  }
  const restarted = restart().finally(() => {
    isOver = true
  })
  await Promise.all([restarted, keepVisiting()])
  expect([...statuses]).toEqual([200])
  await expectStillOpen()
  expect(await observeTraffic()).toEqual(before)
})

test('a killed edge is restarted, and continues with the same HAProxy and tunnel', async () => {
  const before = await observeTraffic()
  const findPid = async () =>
    (await machine.must('systemctl', 'show', '-P', 'MainPID', 'postern-edge')).trim()
  const killed = await findPid()
  await machine.must('kill', '-KILL', killed)
  await until('another edge', async () => !['0', killed].includes(await findPid()))
  await api.publish(node.id, { name: 'later', domain: 'later.example.com', backendPort: 8080 })
  await until('the new edge to publish', async () => (await statusOf('https://later.example.com/')) === 200)
  await expectStillOpen()
  expect(await observeTraffic()).toEqual(before)
})

test('install-service a second time keeps settings, data and traffic', async () => {
  const before = await observeTraffic()
  const { code, stdout } = await npm('run', 'install-service')
  expect(code).toBe(0)
  expect(stdout).not.toContain('Password')
  await untilApplied()
  await expectStillOpen()
  expect(await observeTraffic()).toEqual(before)
  expect(await signInAsAdmin()).toBeDefined()
}, 180_000)

test("with another setting HAProxy is replaced, and the older one's connections outlive the edge", async () => {
  const findHolder = () => machine.run('sh', '-c', 'ps -eo unit=,args= | grep "[h]older.mjs"')
  await machine.must('sh', '-c', 'echo POSTERN_CONNECTIONS_PER_SOURCE=501 >> /etc/postern/environment')
  await machine.must('systemctl', 'restart', 'postern-edge')
  await until('the older one to be held', async () => (await findHolder()).code === 0)
  await machine.must('systemctl', 'kill', '--kill-whom=main', '--signal=KILL', 'postern-edge')
  await untilApplied()
  await expectStillOpen()
  const { stdout } = await findHolder()
  expect(stdout).toMatch(/^postern-haproxy-holder-\S+\.scope .*\/leaving\/\d+\.sock\n$/)
}, 180_000)

test("install-service says that the edge does not start, and systemd's next attempt starts it", async () => {
  const edge = `${DATA_DIR}/edge/edge.sock`
  await machine.must('systemctl', 'stop', 'postern-edge')
  // An edge that is stopped while it starts leaves the socket of the one killed before it.
  await machine.must('rm', '-f', edge)
  const listen = `require('node:net').createServer().listen('${edge}')`
  await machine.must('systemd-run', '--unit=other', `${machine.clone}/node_modules/.bin/node`, '-e', listen)
  await until('it to listen', () => machine.must('test', '-S', edge).then(() => true))
  const { code, stdout, stderr } = await npm('run', 'install-service')
  await machine.must('systemctl', 'stop', 'other')
  expect(stderr).toMatch(/^postern: the edge does not start: see journalctl -u postern-edge$/m)
  expect(stdout).not.toContain('Data plane')
  expect(code).toBe(1)
  await untilApplied()
  await expectStillOpen()
}, 180_000)

test('after a reboot everything is up again', async () => {
  const before = await observeTraffic()
  const start = performance.now()
  await machine.reboot()
  api = await until('the server', signInAsAdmin)
  await untilApplied()
  // The node itself takes 15 s to doubt a tunnel whose other end has lost its state, so the edge contacts it sooner.
  const isBack = async () => (await statusOf(SERVICE)) === 200
  await until('the service to answer again', isBack, { timeoutMs: 14_000 })
  console.info('ms from the reboot until the service answers', performance.now() - start)
  expect(await machine.must('systemctl', 'is-active', ...UNITS)).toBe('active\nactive\n')
  expect((await observeTraffic()).processes).not.toBe(before.processes)
  expect(await api.getNode(node.id)).toMatchObject({ name: 'site' })
}, 120_000)

test('npm stop ends the units and their traffic, even an edge that systemd keeps restarting', async () => {
  const broken = '/run/systemd/system/postern-edge.service.d'
  await machine.must('mkdir', '-p', broken)
  await machine.must('sh', '-c', `printf '[Service]\nExecStartPre=false\n' >${broken}/broken.conf`)
  await machine.must('systemctl', 'daemon-reload')
  expect((await machine.run('systemctl', 'restart', 'postern-edge')).code).toBe(1)
  const { code, stdout } = await npm('stop')
  expect(code).toBe(0)
  expect(stdout).toContain('HAProxy, the tunnel and the firewall rules are removed')
  expect((await machine.run('systemctl', 'is-active', ...UNITS)).stdout).toBe('inactive\ninactive\n')
  expect((await machine.run('ps', '-C', 'haproxy,wireguard-go')).code).toBe(1)
  expect(await machine.must('nft', 'list', 'tables')).toBe('')
})
