import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Config } from '@postern/contract/config'
import { installationPaths } from '@postern/contract/installation'
import type { CreatedNode } from '@postern/contract/nodes'
import { WAITING_UPDATES } from '@postern/host/haproxy-place'
import { type Api, signIn } from '@postern/testkit/api'
import { isApplied } from '@postern/testkit/installation'
import { type BootedMachine, bootMachine } from '@postern/testkit/lab/booted-machine'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { must, run } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePackages } from '../../scripts/package/packages.ts'
import { listSizes } from '../../scripts/package/sizes.ts'

const ROOT = join(import.meta.dirname, '../..')
/** In the clone, which each booted machine has, too. */
const WORK = '.postern/deploy-packages'
const UNITS = ['postern-server', 'postern-edge']
const VERSION = '0.1.0'
const OLDER = '0.0.9'
/** A file that only the previous version has. */
const MARKER = '/usr/lib/postern/only-in-0.0.9'
const SERVICE = 'https://service.example.com/'
const LISTS_FETCHED = '/var/cache/postern-haproxy/package-lists'
const paths = installationPaths('/var/lib/postern')

let lab: Lab
let dir: string
let server: BootedMachine
let site: BootedMachine
let files: Record<'server' | 'agent' | 'haproxy' | 'olderServer' | 'olderAgent', string>
let password: string
let api: Api
let node: CreatedNode

beforeAll(async () => {
  const work = join(ROOT, WORK)
  const environment = process.env
  const made = await makePackages(work, { version: VERSION, epoch: 1.7e9, compression: 'none', environment })
  const debs = made.filter((file) => file.endsWith('.deb'))
  const [serverFile = '', agentFile = '', haproxy = ''] = debs
  const [olderServer, olderAgent] = [await repackHere(serverFile), await repackHere(agentFile)]
  files = { server: serverFile, agent: agentFile, haproxy, olderServer, olderAgent }
  lab = await startLab()
  dir = mkdtempSync(join(tmpdir(), 'pt-packages-'))
  ;[server, site] = await Promise.all([bootMachine(lab.server), bootMachine(lab.site)])
  // What npm start put there for this machine's own tests.
  for (const machine of [server, site]) await machine.must('rm', '-rf', '/usr/lib/postern')
  await startEcho(lab.site, dir, 8080)
})

afterAll(async () => {
  await site?.close()
  await server?.close()
  await lab?.close()
  for (const path of [dir, join(ROOT, WORK)]) rmSync(path, { recursive: true, force: true })
})

const repackHere = (file: string) => repack(file, join(ROOT, WORK, 'older'))

/**
 * The same package as a previous version, made with Debian's own tools.
 * @returns its file
 */
async function repack(file: string, target: string): Promise<string> {
  const stage = join(target, basename(file, '.deb'))
  mkdirSync(target, { recursive: true })
  await must(['dpkg-deb', '--raw-extract', file, stage], { timeoutMs: 120_000 })
  const edit = (path: string) =>
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(VERSION, OLDER), { flag: 'r+' })
  edit(`${stage}/DEBIAN/control`)
  if (basename(file).startsWith('postern-server')) {
    edit(`${stage}/usr/lib/postern/package.json`)
    writeFileSync(stage + MARKER, '')
  }
  const build = ['dpkg-deb', '--root-owner-group', '-Znone', '--build', stage, target]
  await must(build, { timeoutMs: 120_000 })
  rmSync(stage, { recursive: true })
  return join(target, basename(file).replace(VERSION, OLDER))
}

/** As a person types it: the package's file is below the clone. */
async function apt(machine: BootedMachine, verb: string, ...what: string[]): Promise<string> {
  const inside = what.map((each) => each.replace(ROOT, machine.clone))
  const asked = [
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-y',
    '--allow-downgrades',
    verb,
    ...inside,
  ]
  const { code, stdout, stderr } = await machine.run(...asked)
  expect({ code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, stderr: '' })
  return stdout + stderr
}

const statusOf = async (url: string) => (await visit(lab.visitor, url)).status
const untilApplied = () =>
  until('the edge to have applied the state', () => isApplied(api), { timeoutMs: 60_000 })
const untilServed = () => until('the service to answer', async () => (await statusOf(SERVICE)) === 200)
const getConfig = async () => (await api.call('GET', '/api/config')).json as Config

/** The processes that carry a machine's traffic, whatever unit they are in. */
const listTraffic = async (machine: BootedMachine) =>
  (await machine.run('ps', '-C', 'haproxy,wireguard-go', '-o', 'pid=,comm=,unit=')).stdout

/** @returns the statuses of all visits during the work */
async function whileVisiting(work: () => Promise<unknown>): Promise<number[]> {
  const statuses = new Set<number>()
  let isOver = false
  const done = work().finally(() => {
    isOver = true
  })
  const visits = async () => {
    while (!isOver) statuses.add(await statusOf(SERVICE))
  }
  await Promise.all([done, visits()])
  return [...statuses]
}

/** Everything on a machine that has our name, except the clone and what the machine was booted with. */
async function listOurs(machine: BootedMachine): Promise<string[]> {
  const places = ['/etc', '/usr', '/var', '/run', '/opt', '/tmp', '/home']
  const { stdout } = await machine.run('find', ...places, '-xdev', '-name', '*postern*')
  const isDpkgs = (file: string) => file.startsWith('/var/lib/dpkg/') || file.startsWith('/var/cache/')
  return stdout.split('\n').filter((file) => file !== '' && !isDpkgs(file))
}

test('lintian finds no error in the packages', async () => {
  // Only here, where it would take a minute, they are not compressed.
  const quick = 'uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball'
  const lintian = ['lintian', '--allow-root', '--fail-on', 'error', '--suppress-tags', quick]
  const { code, stdout } = await run([...lintian, files.server, files.agent, files.haproxy], {
    timeoutMs: 300_000,
  })
  expect({ code, errors: stdout.match(/^E: .*$/gm) ?? [] }).toEqual({ code: 0, errors: [] })
})

test('no development package is part of the programs, or installed beside them', async () => {
  const { packages } = readLock()
  for (const map of [
    'apps/server/dist/server.mjs.map',
    'apps/edge/dist/edge.mjs.map',
    'scripts/dist/start.mjs.map',
  ]) {
    const used = listBundled(join(ROOT, map))
    expect(used).not.toEqual([])
    expect(used.filter((path) => packages[path]?.dev !== undefined)).toEqual([])
  }
  const contents = await must(['dpkg-deb', '--contents', files.server])
  const beside = contents.split('\n').flatMap((line) => line.match(/node_modules\/.+/) ?? [])
  expect(beside).toEqual(['node_modules/.bin/', 'node_modules/.bin/node'])
})

test('installing the server creates its users and starts nothing, and it says how to start it', async () => {
  for (const name of ['postern-proxy', 'postern']) await server.run('userdel', name)
  const output = await apt(server, 'install', files.olderServer, files.haproxy)
  expect(output).toContain('Start it: sudo postern-server start')
  expect((await server.run('systemctl', 'is-active', ...UNITS)).stdout).toBe('inactive\ninactive\n')
  expect(await server.must('getent', 'passwd', 'postern')).toMatch(/:\/nonexistent:\/usr\/sbin\/nologin$/m)
  expect(
    await server.must('stat', '-c', '%U %a', paths.serverDir, paths.edgeDir, '/etc/postern/environment'),
  ).toBe('postern 700\nroot 700\nroot 600\n')
  expect(await server.must('cat', '/etc/postern/environment')).toBe(
    readFileSync(join(ROOT, 'deploy/debian/server/environment'), 'utf8'),
  )
  expect(await server.must('postern-server', '--version')).toBe(`${OLDER}\n`)
  const status = await server.run('postern-server', 'status')
  expect(status).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Start: sudo postern-server start'),
  })
  const other = await server.run('setpriv', '--reuid=nobody', '--clear-groups', 'postern-server', 'start')
  expect(other).toMatchObject({ code: 1, stderr: 'postern: root is required: use sudo\n' })
  const misplaced = await server.run('env', 'POSTERN_HTTP_PORT=81', 'postern-server', 'start')
  expect(misplaced.stderr).toContain('put POSTERN_HTTP_PORT into /etc/postern/environment')
  const own = '/etc/systemd/system/postern-edge.service'
  await server.must('touch', own)
  const hidden = await server.run('postern-server', 'start')
  expect(hidden).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^postern: \S+postern-edge.service of .* remove/),
  })
  await server.must('rm', own)
})

test('postern-server start brings up the console, and shows the initial password on the screen only', async () => {
  const output = await server.must('postern-server', 'start')
  expect(output).toContain(`https://${lab.server.address}/`)
  expect(output).toMatch(/^ +Data plane +HAProxy 3\.\S+, wireguard-go, nftables$/m)
  expect(await server.must('systemctl', 'is-active', 'postern-haproxy.timer')).toBe('active\n')
  password = /Password +(\S+)/.exec(output)?.[1] ?? ''
  api = await signIn(server.pathOf(paths.serverSocket), 'admin', password)
  await untilApplied()
  expect(
    (await server.run('grep', '-rlF', password, '/etc/postern', '/var/lib/postern', '/var/log')).stdout,
  ).toBe('')
  expect(await server.must('systemctl', 'is-enabled', ...UNITS)).toBe('enabled\nenabled\n')
  expect((await server.run('postern-server', 'status')).code).toBe(0)
  expect((await getConfig()).version).toBe(OLDER)
  for (const path of ['/', '/docs', '/docs/quick-start'])
    expect(await statusOf(`https://${lab.server.address}${path}`)).toBe(200)
})

test('while it runs, the daily look notes the security updates that wait', async () => {
  // Without a network, it finds no newer HAProxy, and only the old package lists.
  await server.must('rm', '-f', LISTS_FETCHED)
  await server.run('systemctl', 'start', 'postern-haproxy.service')
  expect(JSON.parse(await server.must('cat', WAITING_UPDATES))).toBeInstanceOf(Array)
  // Its sandbox lets it fetch them.
  await server.must('test', '-e', LISTS_FETCHED)
})

test('the packages of server and agent publish a service through the tunnel', async () => {
  const earlier = '/usr/local/bin/postern'
  await site.must('touch', earlier)
  expect(await apt(site, 'install', files.olderAgent)).toContain(`${earlier} hides this package's command`)
  await site.must('rm', earlier)
  node = await api.createNode({ name: 'site' })
  const { publicUrl, caFingerprint } = await getConfig()
  const line = `echo ${node.token} | postern connect --url=${publicUrl} --token - --fingerprint=${caFingerprint}`
  expect(await site.must('sh', '-c', line)).toContain('Connection established!')
  expect(await site.must('systemctl', 'is-active', 'postern-agent')).toBe('active\n')
  await api.publish(node.id, { name: 'service', domain: 'service.example.com', backendPort: 8080 })
  await untilServed()
})

test('an upgrade of both does not touch traffic, and keeps the settings', async () => {
  await server.must('sh', '-c', 'echo POSTERN_LOG_LEVEL=warn >>/etc/postern/environment')
  await server.must('test', '-e', MARKER)
  const before = [await listTraffic(server), await listTraffic(site)]
  const agent = await site.must('systemctl', 'show', '-P', 'MainPID', 'postern-agent')
  const seen = await whileVisiting(async () => {
    await apt(server, 'install', files.server, files.haproxy)
    await apt(site, 'install', files.agent)
    await untilApplied()
  })
  expect(seen).toEqual([200])
  expect([await listTraffic(server), await listTraffic(site)]).toEqual(before)
  expect((await getConfig()).version).toBe(VERSION)
  expect((await server.run('test', '-e', MARKER)).code).toBe(1)
  expect(await server.must('cat', '/etc/postern/environment')).toContain('POSTERN_LOG_LEVEL=warn')
  expect(await site.must('systemctl', 'show', '-P', 'MainPID', 'postern-agent')).not.toBe(agent)
  expect((await server.run('postern-server', 'status')).stdout).toContain(`Postern ${VERSION} is running.`)
})

test("the package's command changes key and password, too, while the server is stopped", async () => {
  const refused = await server.run('postern-server', 'rotate-key')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('stop the server first') })
  await server.must('systemctl', 'stop', 'postern-server')
  expect(await server.must('postern-server', 'rotate-key')).toMatch(
    /^\d+ secrets are sealed with a new key\.$/m,
  )
  const output = await server.must('postern-server', 'password')
  const forgotten = password
  password = /^ +Password +(\S+)/m.exec(output)?.[1] ?? ''
  await server.must('systemctl', 'start', 'postern-server')
  const socket = server.pathOf(paths.serverSocket)
  api = await until('the server', () => signIn(socket, 'admin', password))
  await expect(signIn(socket, 'admin', forgotten)).rejects.toThrow('401')
  await untilApplied()
  expect(await statusOf(SERVICE)).toBe(200)
})

test('removing and purging the agent leaves nothing of it', async () => {
  await apt(site, 'remove', 'postern-agent')
  expect((await site.run('ip', 'link', 'show', 'postern-node')).code).toBe(1)
  expect(await listTraffic(site)).toBe('')
  expect(await site.must('nft', 'list', 'tables')).toBe('')
  expect(await site.must('ls', '/etc/postern')).toContain('agent.json')
  await apt(site, 'purge', 'postern-agent')
  expect(await listOurs(site)).toEqual([])
  expect((await site.run('pgrep', '-f', 'bin/postern')).code).toBe(1)
})

test('on a host without any Node the install line installs the agent with Node inside, which connects', async () => {
  await site.must('rm', '-f', '/usr/bin/node', '/usr/bin/nodejs')
  expect((await typed('node --version')).code).toBe(127)
  const { publicUrl, caFingerprint, installerSha256 } = await getConfig()
  const line = installLine().replace('https://SERVER', publicUrl)
  const wrong = await typed(line.replace('CHECKSUM', '0'.repeat(64)))
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\S+: FAILED\n$/) })
  expect((await site.run('test', '-e', '/usr/local/bin/postern')).code).toBe(1)
  const right = line.replace('CHECKSUM', installerSha256 ?? '')
  const asNobody = `setpriv --reuid=nobody --clear-groups sh -c '${right}'`
  expect((await typed(asNobody)).stderr).toMatch(/^postern: root is required to write to .*\n$/)
  expect(await typed(right)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`postern ${VERSION} is installed: /usr/local/bin/postern\n`),
  })
  expect(await site.must('sh', '-c', 'ls -A /usr/local/bin /tmp | grep -c postern || true')).toBe('1\n')
  const { token } = (await api.call('POST', `/api/nodes/${node.id}/pats`, { name: 'single' })).json as {
    token: string
  }
  const connect = `echo ${token} | postern connect --url=${publicUrl} --token - --fingerprint=${caFingerprint}`
  expect((await typed(connect)).stdout).toContain('Connection established!')
  expect(await site.must('systemctl', 'is-active', 'postern-agent')).toBe('active\n')
  await untilServed()
  const pid = (await site.must('systemctl', 'show', '-P', 'MainPID', 'postern-agent')).trim()
  expect((await site.must('readlink', `/proc/${pid}/exe`)).trim()).toBe('/usr/local/bin/postern')
  expect((await typed('NODE_OPTIONS=--no-such-option postern status --health')).code).toBe(0)
})

test('removing the server ends its traffic and keeps its data, which another installation can use', async () => {
  await apt(server, 'remove', 'postern-server')
  expect(await listTraffic(server)).toBe('')
  expect(await server.must('nft', 'list', 'tables')).toBe('')
  expect((await server.run('ip', 'link', 'show', 'postern0')).code).toBe(1)
  expect((await server.run('systemctl', 'cat', ...UNITS)).code).toBe(1)
  expect((await server.run('pgrep', '-u', 'postern,postern-proxy')).code).toBe(1)
  expect((await server.run('systemctl', 'is-active', 'postern-haproxy.timer')).stdout).toBe('inactive\n')
  expect(await server.must('ls', '/var/lib/postern/server')).toContain('postern.db')
  await apt(server, 'install', files.server)
  expect(await server.must('postern-server', 'start')).not.toContain('Password')
  await until('the server', () => signIn(server.pathOf(paths.serverSocket), 'admin', password))
  await until('the service to answer again', async () => (await statusOf(SERVICE)) === 200, {
    timeoutMs: 60_000,
  })
  expect(await server.must('cat', '/etc/postern/environment')).toContain('POSTERN_LOG_LEVEL=warn')
})

test('purging the server leaves nothing but its two locked users', async () => {
  await apt(server, 'purge', 'postern-server', 'postern-haproxy')
  expect(await listOurs(server)).toEqual([])
  expect(await listTraffic(server)).toBe('')
  expect(await server.must('nft', 'list', 'tables')).toBe('')
  expect(
    (await server.run('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'postern*')).stdout,
  ).toBe('')
  expect((await server.run('passwd', '--status', 'postern')).stdout).toMatch(/^postern L /)
})

test('nothing is larger than bench/package-sizes.json allows', () => {
  const sizes = listSizes(
    readdirSync(join(ROOT, WORK)).map((name) => join(ROOT, WORK, name)),
    VERSION,
  )
  // The packages are not compressed here; `npm run package` checks their limits itself.
  const compressed = sizes.filter(({ file }) => !file.endsWith('.deb'))
  expect(compressed).toHaveLength(4)
  expect(compressed.filter(({ size, limit }) => size > limit)).toEqual([])
})

test('the file for arm64 is one', () => {
  // It contains the same Node version and the same program, but does not run here.
  const made = readdirSync(join(ROOT, WORK))
  expect(made).toContain('postern-linux-arm64')
  expect(readFileSync(join(ROOT, WORK, 'postern-linux-arm64')).readUInt16LE(18)).toBe(183)
})

/** As root types it on the site, where only the system's own programs are on the path. */
function typed(line: string) {
  const environment = ['HOME=/root', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
  return site.run('env', '-i', ...environment, 'sh', '-c', line)
}

/** npm's own format. */
function readLock() {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
}

/** The npm packages that are bundled into a program, by their paths in package-lock.json. */
function listBundled(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }
  const paths = sources.map((source) => /node_modules\/(.*node_modules\/)?(@[^/]+\/)?[^/]+/.exec(source)?.[0])
  return [...new Set(paths.filter((path) => path !== undefined))]
}

function installLine(): string {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  return /^\s*(f=\$\(mktemp\).*)$/m.exec(readme)?.[1] ?? ''
}
