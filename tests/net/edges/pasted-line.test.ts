import type { AddedEdge, EdgeInstaller } from '@postern/contract/edge/join'
import { agentOn } from '@postern/testkit/agent'
import { WITH_CONTROL } from '@postern/testkit/far-edge'
import { startInstallation } from '@postern/testkit/installation'
import { type BootedMachine, bootMachine } from '@postern/testkit/lab/booted-machine'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, it } from 'vitest'

/** A machine becomes an edge by the line that a person pastes, is updated by it, and is rid of all of it again. */

const DOMAIN = 'open.example.com'
const PORT = 9000
const MINUTE = 60_000
const UNITS = ['postern-edge.service', 'postern-haproxy.service', 'postern-haproxy.timer']

let node: Host
let line: string
let added: AddedEdge
const lab = shared(startLab)
const installation = shared(() => startInstallation(lab, WITH_CONTROL))
const machine: BootedMachine = shared(() => bootMachine(lab.site))

beforeAll(async () => {
  const { api, dataDir } = installation
  // Other tests' runs may have left theirs; HAProxy stays, as nothing can be fetched in the lab.
  await machine.must('rm', '-rf', ...(await listPlaces()))
  node = await lab.plugIn('node', 20)
  await startEcho(node, `${dataDir}/upstreams`, PORT)
  const { id, token } = await api.createNode({ name: 'node' })
  await api.createDomain({ domain: DOMAIN })
  await api.publish(id, { name: 'open', domain: DOMAIN, backendPort: PORT })
  await agentOn(node, installation).connect(token, '--dns')
  const answer = await api.call('POST', '/api/edges', { name: 'Frankfurt' })
  expect(answer.status).toBe(201)
  added = answer.json as AddedEdge
  line = await getLine()
})

/** As the console shows it, without what joins. */
async function getLine(): Promise<string> {
  const { url, sha256 } = (await installation.api.call('GET', '/api/edges/installer')).json as EdgeInstaller
  expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  return `f=$(mktemp) && curl -fsSk ${url} -o "$f" && echo "${sha256}  $f" | sha256sum -c && sh "$f"`
}

const PLACES = ['/etc', '/usr', '/var', '/run', '/opt', '/tmp', '/root']

/** Everything on the machine that has our name, except the clone, its HAProxy, and what dpkg and its caches keep. */
async function listPlaces(): Promise<string[]> {
  const { stdout } = await machine.run('find', ...PLACES, '-xdev', '-name', '*postern*', '-prune')
  const kept = [machine.clone, '/usr/lib/postern']
  const isOurs = (file: string) =>
    file !== '' && !kept.includes(file) && !/^\/var\/(lib\/dpkg|cache)\//.test(file)
  return stdout.split('\n').filter(isOurs)
}

/** As root types it, where only the system's own programs are on the path. */
const typed = (text: string) => {
  const environment = ['HOME=/root', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
  return machine.run('env', '-i', ...environment, 'sh', '-c', text)
}

const join = () => `'${added.join.address}' ${added.join.token}`
const findEdge = async () => (await installation.api.listEdges()).find(({ id }) => id === added.edge.id)
const statusOf = async () =>
  (await visit(lab.visitor, `https://${DOMAIN}/`, { server: lab.site.address })).status
const mainPid = () => machine.must('systemctl', 'show', '-P', 'MainPID', 'postern-edge')

it('installs nothing that is not what the console vouches for', async () => {
  const wrong = line.replace(/echo "[0-9a-f]{64}/, `echo "${'0'.repeat(64)}`)
  expect(await typed(wrong)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\S+: FAILED\n$/) })
  const other = line.replace('sh "$f"', `sed -i "s/^sum='./sum='x/" "$f" && sh "$f"`)
  expect(await typed(other)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("doesn't match your console's: nothing was installed"),
  })
  const asNobody = `setpriv --reuid=nobody --clear-groups sh -c '${line}'`
  expect((await typed(asNobody)).stderr).toContain('root is required')
  await typed('rm -f /tmp/tmp.*')
  expect(await listPlaces()).toEqual([])
})

it('makes the machine an edge within a minute, through which a service answers', async () => {
  const began = Date.now()
  const { code, stdout, stderr } = await typed(`${line} ${join()}`)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('This machine is now the edge Frankfurt (number 2)')
  await until('the edge', async () => (await findEdge())?.connected === true)
  expect(Date.now() - began).toBeLessThan(MINUTE)
  await until('the service', async () => (await statusOf()) === 200)
  expect(await machine.must('systemctl', 'is-enabled', 'postern-edge')).toBe('enabled\n')
  expect((await typed('ls -A /tmp | grep -c "^tmp\\." || true')).stdout).toBe('0\n')
})

it('runs it confined, as the edge beside a server', async () => {
  const pid = (await mainPid()).trim()
  const status = await machine.must('cat', `/proc/${pid}/status`)
  expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  expect(status).toMatch(/^Seccomp:\t2$/m)
  expect(await machine.must('stat', '-c', '%U %a', '/var/lib/postern/edge/identity')).toBe('root 700\n')
})

it('goes on by itself after a boot', async () => {
  await machine.reboot()
  await until('the service', async () => (await statusOf()) === 200)
  await until('the edge', async () => (await findEdge())?.connected === true)
})

it('updates the edge when it is pasted again, and no traffic ends', async () => {
  const traffic = async () =>
    (await machine.run('ps', '-C', 'haproxy,wireguard-go', '-o', 'pid=,comm=')).stdout
  const [before, pid] = [await traffic(), await mainPid()]
  expect(before).toContain('haproxy')
  expect(await typed(line)).toMatchObject({ code: 0 })
  expect(await mainPid()).not.toBe(pid)
  expect(await traffic()).toBe(before)
  expect(await statusOf()).toBe(200)
  const again = await typed(`postern-edge join ${join()}`)
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^postern: This machine is an edge already/),
  })
})

it('leaves, and joins again as the same edge', async () => {
  expect(await typed('postern-edge leave')).toMatchObject({ code: 0 })
  expect((await machine.run('systemctl', 'is-active', 'postern-edge')).stdout).toBe('inactive\n')
  expect(await machine.must('nft', 'list', 'tables')).toBe('')
  expect(await typed('postern-edge leave')).toMatchObject({
    code: 1,
    stderr: 'postern: This machine has not joined an installation.\n',
  })
  const used = await typed(`postern-edge join ${join()}`)
  expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('This token lets no machine join')])
  const made = await installation.api.call('POST', `/api/edges/${added.edge.id}/join-token`)
  added = { ...added, join: made.json as AddedEdge['join'] }
  expect((await typed(`postern-edge join ${join()}`)).stdout).toContain('Frankfurt (number 2)')
  await until('the service', async () => (await statusOf()) === 200)
})

it('is uninstalled without a trace', async () => {
  expect(await typed('postern-edge uninstall')).toMatchObject({ code: 0 })
  expect(await listPlaces()).toEqual([])
  expect((await machine.run('test', '-e', '/usr/lib/postern')).code).toBe(1)
  expect(await machine.must('nft', 'list', 'tables')).toBe('')
  expect(await machine.must('ip', '-br', 'link', 'show')).not.toMatch(/^postern/m)
  expect((await machine.run('systemctl', 'cat', ...UNITS)).code).toBe(1)
  expect((await machine.run('pgrep', '-x', 'haproxy|wireguard-go')).stdout).toBe('')
})
