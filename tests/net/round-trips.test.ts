import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { CreatedNode } from '@postern/contract/nodes'
import { agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { makeWayLong } from '@postern/testkit/lab/long-way'
import { startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'

/** The delay of the tunnel, each way; long compared with everything else a request needs on a busy machine. */
const WAY_MS = 300
const IDLE_MS = 45_000
const BACKENDS = { http: 8080, https: 8443 } as const

let node: CreatedNode

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  mkdirSync(dir, { recursive: true })
  const certificate = `${installation.paths.haproxyDir}/certs/0.pem`
  const lines = [
    'defaults\n  mode http\n  timeout client 300s\n  timeout server 30s\n  timeout connect 5s',
    `listen upstream\n  bind :${BACKENDS.http}\n  bind :${BACKENDS.https} ssl crt ${certificate}`,
    '  http-request return status 200 content-type text/plain string ok',
  ]
  writeFileSync(`${dir}/haproxy.cfg`, `${lines.join('\n')}\n`)
  await startListening(lab.site, ['haproxy', '-db', '-f', `${dir}/haproxy.cfg`], dir, 'upstream', 8443)
  await makeWayLong(lab, WAY_MS, installation.dataDir)
  node = await installation.api.createNode({ name: 'far' })
  await agentOn(lab.site, installation).connect(node.token)
})

const domainOf = (proto: string) => `${proto}.example.com`

async function publish(backendProto: keyof typeof BACKENDS): Promise<void> {
  const { api } = installation
  const backendPort = BACKENDS[backendProto]
  const form = { name: backendProto, domain: domainOf(backendProto), backendProto, backendPort }
  const service = await api.publish(node.id, form)
  await until('the service', async () => (await api.getService(service)).state.phase === 'live')
}

/** The time from a visitor's request head to the answer's head, in round trips through the tunnel. */
async function roundTrips(proto: keyof typeof BACKENDS): Promise<number> {
  const url = `https://${domainOf(proto)}/`
  const output = await lab.visitor.must(
    ...['curl', '-sk', '-m', '30', '--resolve', `${domainOf(proto)}:443:${lab.server.address}`],
    ...['-o', '/dev/null', '-w', '%{http_code} %{time_pretransfer} %{time_starttransfer}', url],
  )
  const [status, sent = 0, answered = 0] = output.split(' ').map(Number)
  expect(status).toBe(200)
  return ((answered - sent) * 1000) / (2 * WAY_MS)
}

test('a request after an idle period takes one round trip to its service, also over TLS', {
  timeout: 300_000,
}, async () => {
  const protos = ['http', 'https'] as const
  for (const proto of protos) await publish(proto)
  // The first one has to connect, which shows what the others save, and that the test would notice.
  expect(await roundTrips('http')).toBeGreaterThan(1.9)
  expect(await roundTrips('https')).toBeGreaterThan(2.9)
  // Idleness itself is what is tested here.
  await pause(IDLE_MS)
  for (const proto of protos) {
    const trips = await roundTrips(proto)
    expect(trips).toBeGreaterThan(0.9)
    expect(trips).toBeLessThan(1.5)
  }
})
