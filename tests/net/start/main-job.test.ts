import type { CreatedNode, Node } from '@postern/contract/nodes'
import { agentOn } from '@postern/testkit/agent'
import type { EventStream } from '@postern/testkit/api'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho, startMosquitto, startNodeExporter } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, describe, expect, it } from 'vitest'

/** How soon the public address must follow a change, in ms: five times what the product promises. */
const FOLLOWS_WITHIN = 2500

let node: CreatedNode
let gateway: CreatedNode

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  await Promise.all([
    startNodeExporter(lab.site, dir),
    startMosquitto(lab.site, dir),
    startEcho(lab.lan, dir, 8080),
  ])
})

describe('a node', () => {
  it('goes online in the list, without a reload, once its host has connected', async () => {
    const { api } = installation
    node = await api.createNode({ name: 'office' })
    const early = { name: 'early', domain: 'early.example.com', backendPort: 9100 }
    const service = await api.publish(node.id, early)
    const list = api.stream('/api/nodes/stream?limit=10')
    await until('the list to show the node offline', () => lastStatus(list, node.id) === 'offline')
    const output = await agentOn(lab.site, installation).run('status')
    expect(output.code).not.toBe(0)
    const printed = await agentOn(lab.site, installation).connect(node.token)
    expect(printed).toContain('Connection established!')
    // Five times what the README promises for the server.
    const patience = { timeoutMs: 10_000 }
    await until('the list to show the node online', () => lastStatus(list, node.id) === 'online', patience)
    list.close()
    const status = async () => (await visit(lab.visitor, 'https://early.example.com/metrics')).status
    await until('visitors to be served', async () => (await status()) === 200)
    await api.removeService(service)
    const { clientIp } = await api.getNode(node.id)
    expect(clientIp).toBe(lab.site.address)
  })

  it('shows its token once and in no later answer', async () => {
    const { text } = await installation.api.call('GET', `/api/nodes/${node.id}`)
    expect(node.token).not.toBe('')
    expect(text).not.toContain(node.token)
  })
})

describe('an HTTP service', () => {
  it('carries a request from a visitor to a program on the private host', async () => {
    const service = await installation.api.publish(node.id, {
      name: 'metrics',
      domain: 'metrics.example.com',
      backendPort: 9100,
    })
    await until(
      'the service to be live',
      async () => (await installation.api.getService(service)).state.phase === 'live',
    )
    const answer = await visit(lab.visitor, 'https://metrics.example.com/metrics')
    expect(answer.status).toBe(200)
    expect(answer.body).toContain('node_cpu_seconds_total')
  })

  it('carries a WebSocket: MQTT to mosquitto', async () => {
    await installation.api.publish(node.id, { name: 'mqtt', domain: 'mqtt.example.com', backendPort: 9001 })
    const script = new URL('../../../packages/testkit/src/programs/mqtt-over-websocket.ts', import.meta.url)
      .pathname
    const answer = await until('the broker to answer', async () => {
      const { stdout } = await lab.visitor.run(
        process.execPath,
        script,
        lab.server.address,
        'mqtt.example.com',
      )
      return stdout.trim() || undefined
    })
    expect(answer).toBe('CONNACK 0')
  })

  it('is followed at the public address within 2.5 s: disable, enable, delete', async () => {
    const { api } = installation
    const url = 'https://follow.example.com/metrics'
    const service = await api.publish(node.id, {
      name: 'follow',
      domain: 'follow.example.com',
      backendPort: 9100,
    })
    const created = await timeUntilStatus(url, 200)
    const [disabled, enabled]: [number[], number[]] = [[], []]
    for (let round = 0; round < 5; round++) {
      disabled.push(await api.setEnabled(service, false).then(() => timeUntilStatus(url, 503)))
      enabled.push(await api.setEnabled(service, true).then(() => timeUntilStatus(url, 200)))
    }
    const removed = await api.removeService(service).then(() => timeUntilStatus(url, 404))
    const times = { created, disabled: median(disabled), enabled: median(enabled), removed }
    console.info('ms until the public address follows', times)
    for (const [what, ms] of Object.entries(times)) expect(ms, what).toBeLessThan(FOLLOWS_WITHIN)
  })

  it('shows the request in its live log', async () => {
    const { api } = installation
    const service = await api.publish(node.id, {
      name: 'watched',
      domain: 'watched.example.com',
      backendPort: 9100,
    })
    const log = api.stream(`/api/logs/stream?type=http&id=${service.id}`)
    await timeUntilStatus('https://watched.example.com/', 200)
    await visit(lab.visitor, 'https://watched.example.com/metrics?secret=1')
    const line = await until('the line of the request', () =>
      logLines(log).find((text) => text.includes('/metrics')),
    )
    log.close()
    expect(line).toMatch(/^\[INFO\] \d{4}-\d\d-\d\dT[\d:.]+Z 203\.0\.113\.100 "GET \/metrics" 200 \S+ \S+$/)
  })
})

describe('a gateway', () => {
  it('carries a request to a host behind it', async () => {
    const { api } = installation
    gateway = await api.createNode({
      name: 'plant',
      isGateway: true,
      gatewayNetworks: [{ interface: 'eth1', subnet: '192.168.7.0/24' }],
    })
    // The same host joins as another node: the agent moves over.
    await agentOn(lab.site, installation).connect(gateway.token)
    await api.publish(gateway.id, {
      name: 'plc',
      domain: 'plc.example.com',
      backendHost: '192.168.7.20',
      backendPort: 8080,
    })
    const answer = await until('the host behind the gateway', async () => {
      const found = await visit(lab.visitor, 'https://plc.example.com/a?b=c')
      return found.status === 200 ? found : undefined
    })
    expect(JSON.parse(answer.body)).toMatchObject({ port: 8080, url: '/a?b=c' })
    expect(JSON.parse(answer.body).headers).toMatchObject({ 'x-forwarded-for': lab.visitor.address })
  })

  it("answers with Postern's own page while it is disabled", async () => {
    await installation.api.call('PATCH', `/api/nodes/${gateway.id}/disable`)
    const ms = await timeUntilStatus('https://plc.example.com/', 503)
    expect(ms).toBeLessThan(FOLLOWS_WITHIN)
  })
})

function lastStatus(list: EventStream, id: number): string | undefined {
  const rows = JSON.parse(list.events.at(-1)?.data ?? '[]') as Node[]
  return rows.find((row) => row.id === id)?.status
}

function logLines(log: EventStream): string[] {
  return log.events.flatMap((event) => JSON.parse(event.data) as string[])
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function timeUntilStatus(url: string, status: number): Promise<number> {
  const start = performance.now()
  await until(`${url} to answer ${status}`, async () => (await visit(lab.visitor, url)).status === status, {
    everyMs: 5,
  })
  return performance.now() - start
}
