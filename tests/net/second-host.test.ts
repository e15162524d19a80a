import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Config } from '@postern/contract/config'
import type { Node } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startNodeExporter } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, it } from 'vitest'

let home: string
/** Connects the second host. */
let connectLine: string

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  home = `${installation.dataDir}/second-host`
  mkdirSync(home)
  await startNodeExporter(lab.site, home)
})
afterAll(async () => {
  await onSecondHost(`${home}/postern disconnect --forget --config-dir ${home}/etc`)
})

it("publishes a service of a second host with the README's commands alone", async () => {
  const { api } = installation
  const node = await api.createNode({ name: 'second-host' })
  const config = (await api.call('GET', '/api/config')).json as Config
  const server = config.publicUrl
  expect(server).toBe(`https://${lab.server.address}`)

  const installed = await onSecondHost(installLine(config.installerSha256))
  expect(installed).toMatchObject({ code: 0, stderr: '' })
  expect(installed.stdout).toMatch(/^\S+: OK\npostern \d+\.\d+\.\d+ is installed: \S+\n$/)

  const device = `ps${installation.interface.slice(-10)}`
  const line = fillIn(lineOfReadme('echo TOKEN'), {
    TOKEN: node.token,
    'sha256:…': config.caFingerprint,
  })
  const ours = `--interface ${device} --config-dir ${home}/etc --no-service`
  connectLine = `PATH=${home}:$PATH; ${line} ${ours}`
  const connected = await onSecondHost(connectLine)
  expect(connected).toMatchObject({ code: 0, stderr: '' })
  expect(connected.stdout).toBe('Configuring postern...\nConnecting node...\nConnection established!\n')

  const [token] = (await api.call('GET', `/api/nodes/${node.id}/pats`)).json as Pat[]
  expect(token?.lastUsedFrom).toBe(lab.site.address)

  await api.publish(node.id, { name: 'metrics', domain: 'second.example.com', backendPort: 9100 })
  const answer = await until('the service to answer', async () => {
    const found = await visit(lab.visitor, 'https://second.example.com/metrics')
    return found.status === 200 ? found : undefined
  })
  expect(answer.body).toContain('node_exporter_build_info')
})

it('is reached by no user of the server but by its services', async () => {
  const peers = await lab.server.must('wg', 'show', installation.interface, 'allowed-ips')
  const askAs = async (uid: number, address: string) => {
    const user = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
    const curl = ['curl', '-s', '-o', '/dev/null', '-m', '2', '-H', 'Remote-User: root']
    return (await lab.server.run(...user, ...curl, `http://${address}:9100/metrics`)).code
  }
  const [address4 = '', address6 = ''] = peers.match(/[0-9a-f.:]+(?=\/(32|128)\b)/g) ?? []
  for (const address of [address4, `[${address6}]`]) {
    expect(await askAs(0, address)).toBe(0)
    expect(await askAs(61_803, address)).toBe(28)
  }
})

it("runs no part of a script that is not the console's", async () => {
  const before = readFileSync(`${home}/postern`)
  const { code, stdout } = await onSecondHost(installLine('0'.repeat(64)))
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^\S+: FAILED\n$/) })
  expect(readFileSync(`${home}/postern`).equals(before)).toBe(true)
})

it('deletes what a copied token published together with it, and nothing else', async () => {
  const { api } = installation
  const [node] = (await api.call('GET', '/api/nodes?search=second-host')).json as Node[]
  const rights = { agentMayPublish: true, agentDomains: ['copied.example.com', 'own.example.com'] }
  await api.call('PATCH', `/api/nodes/${node?.id}`, rights)
  const own = { type: 'http', name: 'own', domain: 'own.example.com', backendPort: 9100 }
  writeFileSync(`${home}/services.json`, JSON.stringify([own]))
  await onSecondHost(`${connectLine} --publish ${home}/services.json`)
  const statusAt = async (host: string) => (await visit(lab.visitor, `https://${host}/metrics`)).status
  await until('visitors to reach the host’s own', async () => (await statusAt(own.domain)) === 200)
  const pats = `/api/nodes/${node?.id}/pats`
  const copied = (await api.call('POST', pats, { name: 'copied' })).json as CreatedPat
  const service = { key: 'a', type: 'http', name: 'a', domain: 'copied.example.com', backendPort: 9100 }
  const publish = async (source: string, services: object[]) => {
    const sent = await visit(lab.visitor, `https://${lab.server.address}/api/agent/services`, {
      args: [
        ...['-X', 'PUT', '-H', `Authorization: Bearer ${copied.token}`],
        ...['-H', 'Content-Type: application/json', '-d', JSON.stringify({ source, services })],
      ],
    })
    expect(sent.status).toBe(200)
  }
  await publish('hidden', [service])
  // The same set, published by the host: what the copied token published last is the host's again.
  await publish('file', [{ ...own, key: own.name }])
  await until('visitors to reach it', async () => (await statusAt(service.domain)) === 200)
  await api.call('DELETE', `${pats}/${copied.id}?forgetKey=true`)
  await until('visitors to reach it no more', async () => (await statusAt(service.domain)) === 404)
  await until('the host’s own to be there again', async () => (await statusAt(own.domain)) === 200)
  expect(await statusOf()).toBe(200)
})

it('withholds what its agent published as soon as a person puts another node at the domain, without hearing from the agent', async () => {
  const { api } = installation
  const own = 'https://own.example.com/metrics'
  const isAnswered = (status: number) => async () => (await visit(lab.visitor, own)).status === status
  expect(await isAnswered(200)()).toBe(true)
  const shop = { name: 'shop', domain: 'own.example.com', pathLocation: '/shop' }
  const service = await api.publish(1, { ...shop, backendHost: '127.0.0.1', backendPort: 1 })
  await until('visitors to reach it no more', isAnswered(404))
  await api.removeService(service)
  await until('visitors to reach it again', isAnswered(200))
})

it('says that its token was revoked, leaves the tunnel when its key is forgotten, and continues with another', async () => {
  const { api } = installation
  const nodes = (await api.call('GET', '/api/nodes?search=second-host')).json as Node[]
  const pats = `/api/nodes/${nodes[0]?.id}/pats`
  const [token] = (await api.call('GET', pats)).json as Pat[]
  await api.call('PATCH', `${pats}/${token?.id}/revoke?forgetKey=true`)
  await until('visitors to reach it no more', async () => (await statusOf()) === 503)
  const status = await until('the agent to know', async () => {
    const outcome = await onSecondHost(`${home}/postern status --config-dir ${home}/etc`)
    return outcome.code === 7 ? outcome : undefined
  })
  expect(status.stdout).toContain(
    "This machine's token was revoked. Add a token on the node's page in the console, and run postern connect with it.",
  )
  const { token: fresh } = (await api.call('POST', pats, { name: 'second' })).json as CreatedPat
  const connected = await onSecondHost(
    `echo ${fresh} | ${home}/postern connect --token - --no-service --config-dir ${home}/etc`,
  )
  expect(connected).toMatchObject({ code: 0, stderr: '' })
  // Five times what the README promises.
  await until('visitors to reach it again', async () => (await statusOf()) === 200, { timeoutMs: 10_000 })
})

it('goes on with a rotated token, whose use revokes the old one', async () => {
  const { api } = installation
  const nodes = (await api.call('GET', '/api/nodes?search=second-host')).json as Node[]
  const pats = `/api/nodes/${nodes[0]?.id}/pats`
  const listed = async () => (await api.call('GET', pats)).json as Pat[]
  const old = (await listed()).find(({ name }) => name === 'second')
  const { token, id } = (await api.call('POST', `${pats}/${old?.id}/rotate`)).json as CreatedPat
  const isRevoked = async () => (await listed()).find((pat) => pat.id === old?.id)?.revoked
  expect(await isRevoked()).toBe(false)
  const connect = `${home}/postern connect --token - --no-service --config-dir ${home}/etc`
  const { code, stderr } = await onSecondHost(`echo ${token} | ${connect}`)
  expect([stderr, code]).toEqual(['', 0])
  expect(await isRevoked()).toBe(true)
  expect((await listed()).find((pat) => pat.id === id)).toMatchObject({ broughtKey: true, replaces: null })
  await until('visitors to reach it', async () => (await statusOf()) === 200, { timeoutMs: 10_000 })
})

const statusOf = async () => (await visit(lab.visitor, 'https://second.example.com/metrics')).status

function lineOfReadme(start: string): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const lines = readme.split('\n').map((line) => line.trim())
  return lines.find((line) => line.startsWith(start)) ?? ''
}

/** As the console shows it there. */
const installLine = (checksum: string | null) => fillIn(lineOfReadme('f='), { CHECKSUM: checksum ?? '' })

/** Fills in what the reader's own console would show; the agent is installed in the test's own directory. */
function fillIn(line: string, values: Record<string, string>): string {
  const all = { ...values, SERVER: lab.server.address, 'sh "$f"': `sh "$f" ${home}/postern` }
  return Object.entries(all).reduce((text, [mark, value]) => text.replaceAll(mark, value), line)
}

/** As a person types it on that machine, with its Node.js. */
function onSecondHost(line: string) {
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return lab.site.run('env', '-i', path, 'sh', '-c', line)
}
