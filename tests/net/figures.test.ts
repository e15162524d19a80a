import { readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Figures } from '@postern/contract/figures'
import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService, Service, TcpService } from '@postern/contract/services/services'
import { agentOn } from '@postern/testkit/agent'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'

const program = (name: string) =>
  fileURLToPath(new URL(`../../packages/testkit/src/programs/${name}.ts`, import.meta.url))
/** A port of the server's range that another program holds when HAProxy starts. */
const HELD = 32_750
const [WEB_PORT, ECHO_PORT] = [8088, 7007]

let installation: Installation
let node: CreatedNode
let web: HttpService
let tcp: TcpService
let udp: TcpService
let release: () => Promise<unknown>

const lab = shared(startLab)
beforeAll(async () => {
  const holder = lab.server.start(
    [process.execPath, '-e', `require('node:net').createServer().listen(${HELD}, '0.0.0.0')`],
    { logFile: '/dev/null' },
  )
  await until(
    'the port to be held',
    async () => (await lab.server.must('ss', '-Hltn', `sport = :${HELD}`)) !== '',
  )
  release = () => holder.stop()
  installation = await startInstallation(lab)
  const dir = `${installation.dataDir}/upstreams`
  const command = [process.execPath, program('counted'), String(WEB_PORT), String(ECHO_PORT)]
  await startListening(lab.site, command, dir, 'counted', ECHO_PORT)
  const { api } = installation
  node = await api.createNode({ name: 'office' })
  await agentOn(lab.site, installation).connect(node.token)
  web = await api.publish(node.id, { name: 'web', domain: 'web.example.com', backendPort: WEB_PORT })
  tcp = await api.publishPort(node.id, { name: 'tcp', backendPort: ECHO_PORT })
  udp = await api.publishPort(node.id, { name: 'udp', proto: 'udp', backendPort: ECHO_PORT })
  for (const service of [web, tcp, udp])
    await until('the service to be live', async () => (await api.getService(service)).state.phase === 'live')
})

afterAll(async () => {
  await release?.()
  await installation?.close()
})

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)

async function figures(path: string): Promise<number[]> {
  const { json } = await installation.api.call('GET', `/api/${path}/figures?span=hour`)
  // `call` has checked it against the contract.
  const { series } = json as Figures
  return [sum(series.connections), sum(series.received), sum(series.sent)]
}
const of = ({ type, id }: Service) => figures(`services/${type}/${id}`)
const plus = (a: number[], b: number[]) => a.map((value, index) => value + (b[index] ?? 0))

/** The traffic by service, as counted by the visitors. */
const expected = { web: [0, 0, 0], tcp: [0, 0, 0], udp: [0, 0, 0] }
/** The bytes counted for one request for one byte. */
let request = [0, 0, 0]

async function get(bytes: number): Promise<void> {
  const { status, body } = await visit(lab.visitor, `https://web.example.com/?bytes=${bytes}`)
  expect([status, body.length]).toEqual([200, bytes])
}

const BODY = 2_000_000
const LONG = 8_000_000
/** Three kinds of visitors, each with its traffic. */
async function exchange(): Promise<void> {
  await get(BODY + 1)
  expected.web = plus(expected.web, plus(request, [0, 0, BODY]))
  const visitor = (...args: (string | number)[]) =>
    lab.visitor.must(process.execPath, program('echo-visitor'), ...args.map(String))
  await visitor('tcp', lab.server.address, tcp.port, 1_000_001)
  expected.tcp = plus(expected.tcp, [1, 1_000_001, 1_000_001])
  const sent = Number(await visitor('udp', lab.server.address, udp.port, 1200, 20))
  // On an overloaded machine, one may get lost on its way back.
  expect(sent).toBe(20)
  expected.udp = plus(expected.udp, [1, 20 * 1200, 20 * 1200])
}

/** A new edge first waits for its first count. */
async function restartEdge(): Promise<void> {
  await installation.edge.stop('SIGKILL')
  installation.startEdge()
}

async function untilCounted(): Promise<void> {
  await until(
    'all to be counted',
    async () =>
      String([await of(web), await of(tcp), await of(udp)]) ===
      String([expected.web, expected.tcp, expected.udp]),
  ).catch(async () =>
    expect({ web: await of(web), tcp: await of(tcp), udp: await of(udp) }).toEqual(expected),
  )
}

test('each byte is counted once, though edge and server are killed and HAProxy is reloaded meanwhile', async () => {
  await get(1_000_001)
  await restartEdge()
  request = await until('the first request', async () => {
    const count = await of(web)
    return count[0] === 1 && count
  })
  expected.web = request
  request = plus(request, [0, 0, -1_000_000])
  await exchange()
  await untilEdgeIsBack()

  await installation.edge.stop('SIGKILL')
  await exchange()
  installation.startEdge()
  await untilEdgeIsBack()
  await exchange()

  const go = `${installation.dataDir}/go`
  const visitor = [program('echo-visitor'), 'tcp', lab.server.address, String(tcp.port), String(LONG), go]
  const long = lab.visitor.start([process.execPath, ...visitor], {
    logFile: `${installation.dataDir}/long.log`,
  })
  await until('the long one to be half way', () => long.output().includes('open'))
  const before = installation.haproxyPid()
  await release()
  await until('HAProxy to be reloaded', () => installation.haproxyPid() !== before)
  await exchange()
  // What continues through the older HAProxy is counted by the following edges.
  writeFileSync(go, '')
  await restartEdge()
  await long.exited
  expected.tcp = plus(expected.tcp, [1, 2 * LONG, 2 * LONG])
  await restartEdge()
  await untilCounted()
  // It still exists for the agent.
  expect(readdirSync(`${installation.paths.haproxyDir}/leaving`)).toEqual([`${before}.sock`])

  await installation.server.stop('SIGKILL')
  await exchange()
  await installation.startServer()
  await exchange()

  await restartEdge()
  await untilCounted()
  expect(await figures(`nodes/${node.id}`)).toEqual(plus(expected.web, plus(expected.tcp, expected.udp)))
}, 300_000)

test('nothing is counted again', async () => {
  await restartEdge()
  await untilEdgeIsBack()
  await exchange()
  await restartEdge()
  await untilCounted()
}, 120_000)

async function untilEdgeIsBack(): Promise<void> {
  await until('the edge to be back', async () => {
    const [edge] = await installation.api.listEdges()
    return edge?.connected && edge.applied === edge.wanted
  })
}
