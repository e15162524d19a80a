import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CreatedNode, Node } from '@postern/contract/nodes'
import type { HttpService, TcpService } from '@postern/contract/services/services'
import { type Agent, agentOn } from '@postern/testkit/agent'
import { callApi } from '@postern/testkit/api'
import { edgeToken } from '@postern/testkit/edge-client'
import { startInstallation } from '@postern/testkit/installation'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { readProcessFile } from '@postern/testkit/processes/process-file'
import { rotateAll } from '@postern/testkit/rotate-all'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

const WORD = fileURLToPath(new URL('../../packages/testkit/src/programs/word.ts', import.meta.url))
const DNS_VISITOR = fileURLToPath(new URL('../../apps/edge/test/udp-visitor.ts', import.meta.url))

/** All programs of the node listen on 127.0.0.1 only, as most do by default. */
let agent: Agent
let node: CreatedNode
let dir: string
let echo: Running

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  dir = `${installation.dataDir}/upstreams`
  echo = await startEcho(lab.site, dir, 8080, '127.0.0.1')
  await startListening(lab.site, REDIS, dir, 'redis', 6379)
  await startListening(lab.site, DNSMASQ, dir, 'dnsmasq', 53)
  for (const [address, port] of [
    ['127.0.0.1', 9001],
    ['0.0.0.0', 9002],
  ] as const) {
    const word = [process.execPath, WORD, 'say', 'tcp', address, String(port), 'private']
    await startListening(lab.site, word, dir, `private-${port}`, port)
  }
  node = await installation.api.createNode({ name: 'office' })
  agent = agentOn(lab.site, installation)
  await agent.connect(node.token)
})

const REDIS = ['redis-server', '--port', '6379', '--bind', '127.0.0.1', '--requirepass', 'x', '--save', '']
const DNSMASQ = [
  ...['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root'],
  ...['--pid-file=', '--listen-address=127.0.0.1', '--bind-interfaces', '--host-record=a.test,192.0.2.7'],
]

async function publishHttp(domain: string, backendPort: number): Promise<HttpService> {
  const { api } = installation
  await api.createDomain({ domain })
  return await api.publish(node.id, { name: domain, domain, backendPort })
}

const statusOf = async (domain: string) => (await visit(lab.visitor, `https://${domain}/`)).status
const phaseOf = async (service: HttpService | TcpService) =>
  (await installation.api.getService(service)).state.phase

/** The node's problem as the console shows it; '' for none. */
async function untilProblem(words: string): Promise<void> {
  await until(`the problem ‘${words}’`, async () => {
    const { problem } = (await installation.api.call('GET', `/api/nodes/${node.id}`)).json as Node
    return words === '' ? problem === null : problem?.includes(words)
  })
}

async function ask(from: Host, host: string, port: number): Promise<string> {
  return (await from.must(process.execPath, WORD, 'ask', 'tcp', host, String(port))).trim()
}

test('an HTTP service reaches a program on 127.0.0.1', async () => {
  const service = await publishHttp('web.example.com', 8080)
  await until('the answer', async () => (await statusOf('web.example.com')) === 200)
  await until('the row', async () => (await phaseOf(service)) === 'live')
})

test('a TCP service does, and a UDP service, too', async () => {
  const { api } = installation
  const redis = await api.publishPort(node.id, { name: 'redis', backendPort: 6379 })
  const dns = await api.publishPort(node.id, { name: 'dns', proto: 'udp', backendPort: 53 })
  const ping = ['redis-cli', '-h', lab.server.address, '-p', String(redis.port), '-a', 'x', 'ping']
  await until('redis', async () => (await lab.visitor.run(...ping)).stdout === 'PONG\n')
  const query = ['dns', lab.server.address, String(dns.port), 'a.test', '1']
  await until('the name server', async () =>
    Number((await lab.visitor.run(process.execPath, DNS_VISITOR, ...query)).stdout),
  )
})

test('nothing else on the node can be reached, not even from the server', async () => {
  expect(await ask(lab.site, '127.0.0.1', 9001)).toContain('private')
  expect(await ask(lab.site, node.address, 9002)).toContain('private')
  const ports = [9001, 9002, 22]
  const answers = await Promise.all(ports.map((port) => ask(lab.server, node.address, port)))
  expect(answers).toEqual(ports.map(() => 'silence'))
  expect(JSON.parse((await agent.run('status', '--json')).stdout)).toMatchObject({ notes: [] })
})

test('a program that stops and starts again, even elsewhere, is shown on its row and answers its visitors', async () => {
  const service = await publishHttp('moving.example.com', 8080)
  const untilAnswered = () => until('200', async () => (await statusOf('moving.example.com')) === 200)
  await untilAnswered()
  await echo.stop()
  await until('the failure', async () => (await statusOf('moving.example.com')) === 503)
  await until('the row', async () => (await phaseOf(service)) === 'unanswered')
  echo = await startEcho(lab.site, dir, 8080, node.address)
  await untilAnswered()
  await until('the row', async () => (await phaseOf(service)) === 'live')
  await echo.stop()
  echo = await startEcho(lab.site, dir, 8080, '0.0.0.0')
  await untilAnswered()
})

test('a list that lets private networks in lets a node in only where it names the tunnel’s network', async () => {
  const { api } = installation
  await api.createDomain({ domain: 'lan.example.com' })
  const form = { name: 'lan', domain: 'lan.example.com', backendPort: 9002 }
  const statusFor = async (allowedIps: string[]) => {
    const service = await api.publish(node.id, { ...form, allowedIps })
    const from = async (host: Host, server: string) =>
      (await visit(host, 'https://lan.example.com/', { server })).status
    await until('the list', async () => (await from(lab.visitor, lab.server.address)) === 403)
    const answer = await from(lab.site, '10.64.0.1')
    await api.call('DELETE', `/api/services/${node.id}/http/${service.id}`)
    await until('the service to go', async () => (await from(lab.visitor, lab.server.address)) === 404)
    return answer
  }
  expect(await statusFor(['10.0.0.0/8', '192.168.0.0/16'])).toBe(403)
  expect(await statusFor(['10.0.0.0/8', '10.64.0.0/16'])).not.toBe(403)
})

test('a local user of the node who listens there, too, gets no visitor, and status and console report it', async () => {
  const service = await publishHttp('local.example.com', 9001)
  const raw = () => ask(lab.server, node.address, 9001)
  await until('the program', async () => (await raw()).startsWith('private'))
  const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
  const listen = [...user, process.execPath, WORD, 'say', 'tcp', node.address, '9001', 'thief']
  const thief = await startListening(lab.site, listen, dir, 'thief', 9001)
  const notes = async () => JSON.parse((await agent.run('status', '--json')).stdout).notes
  await until('the status', async () => (await notes()).length > 0)
  expect((await notes())[0]).toContain("user 65534 holds TCP port 9001 at the tunnel's address")
  await untilProblem('program of user 65534 on this node also listens on TCP port 9001')
  expect(await raw()).toMatch(/^private/)
  await thief.stop()
  await until('the status to be clean', async () => (await notes()).length === 0)
  await untilProblem('')
  await installation.api.setEnabled(service, false)
})

test("a second agent that holds the tunnel's route is a problem of the node until it releases it", async () => {
  const route = ['route', 'replace', 'blackhole', '10.64.0.0/16']
  const own = await lab.site.must('ip', 'route', 'show', '10.64.0.0/16')
  await lab.site.must('ip', 'route', 'del', '10.64.0.0/16')
  await lab.site.must('ip', ...route)
  const look = async () => {
    const listen = [process.execPath, WORD, 'say', 'tcp', '127.0.0.1', '8079', 'look']
    return await startListening(lab.site, listen, dir, 'look', 8079)
  }
  const service = await installation.api.publishPort(node.id, { name: 'look', backendPort: 8079 })
  const program = await look()
  await untilProblem('has taken the route to 10.64.0.0/16')
  await lab.site.must('ip', 'route', 'del', 'blackhole', '10.64.0.0/16')
  await program.stop()
  await untilProblem('')
  expect(await lab.site.must('ip', 'route', 'show', '10.64.0.0/16')).toBe(own)
  await installation.api.setEnabled(service, false)
})

test('a service that is disabled closes its port on the node', async () => {
  const { api } = installation
  const service = await api.publishPort(node.id, { name: 'short', backendPort: 9001 })
  await until('the port to open', async () => (await ask(lab.server, node.address, 9001)) !== 'silence')
  await api.setEnabled(service, false)
  await until('the port to close', async () => (await ask(lab.server, node.address, 9001)) === 'silence')
})

test('after rotate-key --all the agent reconnects on its own, to another key and under the next root', async () => {
  const { api, paths } = installation
  const stateFor = async (token: string) =>
    (await callApi(paths.serverSocket, token, 'POST', '/api/edge/state', { known: {} })).status
  const rootOf = async () =>
    ((await api.call('GET', '/api/config')).json as { caFingerprint: string }).caFingerprint
  const showKeys = () =>
    Promise.all(
      ['public-key', 'preshared-keys'].map((what) =>
        lab.server.must('wg', 'show', installation.interface, what),
      ),
    )
  const token = edgeToken(paths)
  expect(await stateFor(token)).toBe(200)
  expect(await statusOf('web.example.com')).toBe(200)
  const [root, [ownKey, sharedKeys]] = [await rootOf(), await showKeys()]
  await rotateAll(lab.server, installation)
  await until('the next keys', async () => {
    const [own, shared] = await showKeys()
    return own !== ownKey && shared !== sharedKeys
  })
  await until('the agent', async () => (await statusOf('web.example.com')) === 200, { timeoutMs: 120_000 })
  expect(await rootOf()).not.toBe(root)
  expect(await stateFor(token)).toBe(401)
  expect(await stateFor(edgeToken(paths))).toBe(200)
}, 300_000)

test('a killed agent does not interrupt traffic, and disconnecting leaves nothing', async () => {
  expect(await lab.site.must('nft', 'list', 'tables')).toContain('postern_services_')
  // A child that the daemon has just started still has the daemon's command line.
  const daemon = await until('the daemon alone', async () => {
    const [first, ...more] = (await lab.site.listPids()).filter(isDaemon)
    return more.length === 0 && first
  })
  process.kill(daemon, 'SIGKILL')
  expect(await statusOf('web.example.com')).toBe(200)
  expect((await agent.run('disconnect')).code).toBe(0)
  expect(await lab.site.must('nft', 'list', 'ruleset')).toBe('')
})

test('a node with only a WireGuard file is reached directly, and the row says where to listen', async () => {
  const { api } = installation
  const filed = await api.createNode({ name: 'filed' })
  const name = `pf${lab.id.slice(-10)}`
  const file = `${dir}/${name}.conf`
  writeFileSync(file, (await api.call('GET', `/api/nodes/${filed.id}/download`)).text, { mode: 0o600 })
  const wgQuick = (verb: string) => {
    const command = `WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-go wg-quick ${verb} ${file}`
    return lab.site.must('sh', '-c', `${command} > ${dir}/quick.log 2>&1`)
  }
  await wgQuick('up')
  await api.createDomain({ domain: 'filed.example.com' })
  await echo.stop()
  echo = await startEcho(lab.site, dir, 8080, '127.0.0.1')
  const form = { name: 'filed', domain: 'filed.example.com', backendPort: 8080 }
  const service = await api.publish(filed.id, form)
  await until('the row', async () => {
    await statusOf('filed.example.com')
    return (await phaseOf(service)) === 'unanswered'
  })
  expect((await api.getService(service)).state.problem).toContain(
    `listens on ${filed.address}, not only on 127.0.0.1`,
  )
  await echo.stop()
  echo = await startEcho(lab.site, dir, 8080, filed.address)
  await until('the answer', async () => (await statusOf('filed.example.com')) === 200)
  await wgQuick('down')
})

function isDaemon(pid: number): boolean {
  return readProcessFile(pid, 'cmdline').includes('\0run\0')
}
