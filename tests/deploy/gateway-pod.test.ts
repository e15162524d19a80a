import { join } from 'node:path'
import type { CreatedNode } from '@postern/contract/nodes'
import { buildImage } from '@postern/testkit/containers/build-image'
import type { Container } from '@postern/testkit/containers/container'
import { capabilitySet } from '@postern/testkit/containers/processes'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import type { IDeployment } from 'kubernetes-models/apps/v1'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRenderer, type Values } from './helm.ts'
import { startPod } from './pods.ts'

/** The pod of the gateway's chart, run as it was rendered, in a cluster of one service. */
const ROOT = join(import.meta.dirname, '../..')
const IMAGE = 'postern-gateway:test'
const GRAFANA = '10.96.7.20'
/** The cluster's name server, as a pod finds it. */
const CLUSTER_DNS = '10.96.0.10'

let lab: Lab
const dir = tempDir()
let installation: Installation
let node: CreatedNode
let gateway: Container | undefined
let values: Values

beforeAll(async () => {
  await buildImage({ dockerfile: join(ROOT, 'deploy/docker/gateway.Dockerfile'), context: ROOT, tag: IMAGE })
  lab = await startLab()
  installation = await startInstallation(lab)
  // As on a cluster's workers, from which pods inherit it.
  await lab.site.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  await lab.site.must('ip', 'addr', 'add', '10.96.0.2/16', 'dev', 'eth1')
  await lab.lan.must('ip', 'addr', 'add', `${GRAFANA}/16`, 'dev', 'eth0')
  await lab.lan.must('ip', 'addr', 'add', `${CLUSTER_DNS}/16`, 'dev', 'eth0')
  await startEcho(lab.lan, dir, 3000, GRAFANA)
  const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root']
  const names = [`--host-record=grafana.monitoring.svc.cluster.local,${GRAFANA}`, '--pid-file=']
  const listen = [`--listen-address=${CLUSTER_DNS}`, '--bind-interfaces']
  await startListening(lab.lan, ['dnsmasq', ...fixed, ...names, ...listen], dir, 'dnsmasq', 53)
  const gatewayNetworks = [{ interface: 'eth1', subnet: '10.96.0.0/16' }]
  const rights = { agentMayPublish: true, agentDomains: ['values.example.com'] }
  const form = { name: 'cluster', isGateway: true, gatewayNetworks, ...rights }
  node = await installation.api.createNode(form)
  // The contract says so.
  const server = (await installation.api.call('GET', '/api/config')).json as Record<string, string>
  values = {
    url: server.publicUrl,
    fingerprint: server.caFingerprint,
    token: { value: node.token },
    tunDevice: true,
  }
})
afterAll(async () => {
  await gateway?.stop()
  await installation?.close()
  await lab?.close()
})

async function install(own: Values): Promise<Container> {
  const renderer = await buildRenderer()
  const { manifests } = await renderer
    .open(join(ROOT, 'deploy/helm/postern-gateway'))
    .render({ ...values, ...own })
  renderer.remove()
  // The charts' own test checks it against the schemas.
  const deployment = manifests.find(({ kind }) => kind === 'Deployment') as IDeployment | undefined
  const pod = deployment?.spec?.template.spec
  if (!pod) throw new Error('the chart has no pod')
  const resolv = `search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver ${CLUSTER_DNS}\noptions ndots:5\n`
  const started = await startPod(pod, {
    ...{ image: IMAGE, namespace: lab.site, dir, manifests },
    etc: { 'resolv.conf': resolv },
  })
  const container = started.get('gateway')
  if (!container) throw new Error('the pod has no gateway')
  return container
}

const answers = (domain: string) =>
  until(`${domain} to answer`, async () => (await visit(lab.visitor, `https://${domain}/`)).status === 200)

test('a visitor reaches a Service of the cluster by its name, as a person and as the values publish it', async () => {
  const backend = { backendHost: 'grafana.monitoring.svc.cluster.local', backendPort: 3000 }
  await installation.api.createDomain({ domain: 'values.example.com' })
  const publish = [{ type: 'http', name: 'Grafana', domain: 'values.example.com', ...backend }]
  gateway = await install({ publish })
  const { health, logs } = gateway
  await until('the probe to say that it is well', async () => (await health()).code === 0)
  await installation.api.publish(node.id, { name: 'by hand', domain: 'person.example.com', ...backend })
  await answers('person.example.com')
  await answers('values.example.com')
  expect(logs()).not.toContain(node.token)
})

test('its processes have NET_ADMIN at most, and are not root', () => {
  const processes = gateway?.processes() ?? []
  expect(processes.length).toBeGreaterThan(1)
  for (const { uid, capabilities, argv } of processes) {
    expect({ uid, bounding: capabilities.bounding }).toEqual({
      uid: 7401,
      bounding: capabilitySet('NET_ADMIN'),
    })
    expect(argv.join(' ')).not.toContain(node.token)
  }
})

test('a new pod makes a new key, and serves the same services', async () => {
  const stopped = await gateway?.stop()
  expect(stopped?.seconds).toBeLessThan(10)
  gateway = await install({})
  const { health } = gateway
  await until('the probe to say that it is well', async () => (await health()).code === 0)
  await answers('person.example.com')
})
