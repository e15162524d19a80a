import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Figures } from '@postern/contract/figures'
import type { TcpService } from '@postern/contract/services/services'
import { agentOn } from '@postern/testkit/agent'
import { isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { repeatableMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, onTestFinished, test } from 'vitest'

const program = (name: string) =>
  fileURLToPath(new URL(`../../packages/testkit/src/programs/${name}.ts`, import.meta.url))
const [WEB_PORT, ECHO_PORT] = [8088, 7007]
/**
 * A program may have 20,000 open files here, and systemd gives HAProxy half a million: what one process holds in
 * production is spread over four here, which take over from each other.
 */
const [ALL, PROCESSES] = [10_000, 4]
const EACH = ALL / PROCESSES

let tcp: TcpService
let restarts = 0

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab, { POSTERN_CONNECTIONS_PER_SOURCE: '5000' }))
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  const command = [process.execPath, program('counted'), String(WEB_PORT), String(ECHO_PORT)]
  await startListening(lab.site, command, dir, 'counted', ECHO_PORT)
  const node = await installation.api.createNode({ name: 'office' })
  await agentOn(lab.site, installation).connect(node.token)
  tcp = await installation.api.publishPort(node.id, { name: 'tcp', backendPort: ECHO_PORT })
  const web = await installation.api.publish(node.id, {
    name: 'web',
    domain: 'web.example.com',
    backendPort: WEB_PORT,
  })
  for (const service of [tcp, web])
    await until(
      'the service to be live',
      async () => (await installation.api.getService(service)).state.phase === 'live',
    )
  // Addresses of distant visitors.
  await lab.visitor.must('ip', 'route', 'add', 'local', '198.18.0.0/15', 'dev', 'lo')
  await lab.server.must('ip', 'route', 'add', '198.18.0.0/15', 'via', lab.visitor.address)
})

/** The number of connections of the node's program. */
async function held(): Promise<number> {
  const lines = await lab.site.must('ss', '-Htn', 'state', 'established', `sport = :${ECHO_PORT}`)
  return lines.trim() === '' ? 0 : lines.trim().split('\n').length
}

const memory = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
let said = 0
async function say(): Promise<void> {
  const visitor = [program('echo-visitor'), 'tcp', lab.server.address, String(tcp.port), '9']
  await lab.visitor.must(process.execPath, ...visitor)
  said++
}

/** Another limit is another configuration, with which the next HAProxy takes over. */
async function reload(): Promise<void> {
  const before = installation.haproxyPid()
  installation.env.POSTERN_CONNECTIONS_PER_SOURCE = String(5000 + ++restarts)
  await installation.edge.stop()
  installation.startEdge()
  await until('HAProxy to be reloaded', () => installation.haproxyPid() !== before)
  await until('the edge to be done', () => isApplied(installation.api))
}

test(`${ALL} idle connections of visitors reach a program through the tunnel, and stay`, async () => {
  const go = `${installation.dataDir}/go`
  const crowds: Running[] = []
  const kilobytes: number[] = []
  const others = visitMeanwhile()
  for (let turn = 0; turn < PROCESSES; turn++) {
    if (turn > 0) await reload()
    const before = memory(installation.haproxyPid())
    const args = [lab.server.address, String(tcp.port), `198.18.${turn}.`, String(EACH), go]
    const logFile = `${installation.dataDir}/crowd-${turn}.log`
    crowds.push(lab.visitor.start([process.execPath, program('crowd'), ...args], { logFile }))
    await until('all to be with the program', async () => (await held()) === EACH * (turn + 1))
    kilobytes.push((memory(installation.haproxyPid()) - before) / EACH)
  }
  // The aim is 100 ms on an idle machine; half of it is the start of the visitor's program.
  expect(await repeatableMs(1000, say)).toBeLessThan(1000)
  expect(Math.max(...kilobytes)).toBeLessThan(20)
  await installation.api.publishPort(tcp.nodeId, { name: 'another', backendPort: 1 })
  await until('the change', () => isApplied(installation.api))
  expect(await held()).toBe(ALL)
  writeFileSync(go, '')
  for (const crowd of crowds)
    await until('each to be answered', () => crowd.output().includes(`answered ${EACH}`))
  expect(await others.end()).toEqual([])
}, 240_000)

/** Visitors of another service, a few each second. */
function visitMeanwhile() {
  const failures: string[] = []
  let isOver = false
  const visits = (async () => {
    while (!isOver) {
      const { status, body } = await visit(lab.visitor, 'https://web.example.com/?bytes=9')
      if (status !== 200 || body.length !== 9) failures.push(`${status}: ${body}`)
      await delay(200)
    }
  })().catch((error: unknown) => failures.push(String(error)))
  onTestFinished(() => {
    isOver = true
  })
  const end = async () => {
    isOver = true
    await visits
    return failures
  }
  return { end }
}

test('they are counted, each once', async () => {
  await installation.edge.stop()
  installation.startEdge()
  // The edge counts once a minute.
  const areAll = async () => {
    const { json } = await installation.api.call('GET', `/api/services/tcp/${tcp.id}/figures?span=hour`)
    // `call` has held it against the contract.
    const { connections, sent } = (json as Figures).series
    const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
    return sum(connections) === ALL + said && sum(sent) === ALL + 9 * said
  }
  await until('all to be counted', areAll, { timeoutMs: 130_000 })
}, 180_000)
