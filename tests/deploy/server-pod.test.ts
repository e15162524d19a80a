import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentOn } from '@postern/testkit/agent'
import { type Api, signIn } from '@postern/testkit/api'
import type { Container } from '@postern/testkit/containers/container'
import { capabilitySet } from '@postern/testkit/containers/processes'
import { buildServerImage } from '@postern/testkit/containers/server'
import { isApplied } from '@postern/testkit/installation'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import type { IStatefulSet } from 'kubernetes-models/apps/v1'
import type { IPodSpec } from 'kubernetes-models/v1'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRenderer, type Manifest } from './helm.ts'
import { startPod } from './pods.ts'

/** The pod of the server's chart, run as it was rendered: two containers in one network. */
const ROOT = join(import.meta.dirname, '../..')
const program = (name: string) =>
  fileURLToPath(new URL(`../../packages/testkit/src/programs/${name}.ts`, import.meta.url))

let lab: Lab
const dir = tempDir()
let pod: IPodSpec
let manifests: Manifest[]
let image: string
let server: Container
let edge: Container
let password: string
let api: Api

async function startBoth(): Promise<void> {
  const started = await startPod(pod, { image, namespace: lab.server, dir, manifests })
  server = must(started.get('server'))
  edge = must(started.get('edge'))
}

function must(container: Container | undefined): Container {
  if (!container) throw new Error('the pod lacks a container')
  return container
}

beforeAll(async () => {
  image = await buildServerImage()
  lab = await startLab()
  // As on a cluster's workers, from which pods inherit it.
  await lab.server.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  const renderer = await buildRenderer()
  const rendered = await renderer
    .open(join(ROOT, 'deploy/helm/postern-server'))
    .render({ publicHost: lab.server.address, tunDevice: true })
  renderer.remove()
  manifests = rendered.manifests
  // The charts' own test checks it against the schemas.
  const set = manifests.find(({ kind }) => kind === 'StatefulSet') as IStatefulSet | undefined
  if (!set?.spec?.template.spec) throw new Error('the chart has no pod')
  pod = set.spec.template.spec
  await startBoth()
  password = await until('the initial password', () => /Password +(\S+)/.exec(server.logs())?.[1])
  api = await signIn(`${dir}/shared/run/server.sock`, 'admin', password)
  await until('the edge to have applied what is wanted', () => isApplied(api))
})
afterAll(async () => {
  await Promise.all([server, edge].map((container) => container?.isRunning() && container.stop()))
  await lab?.close()
})

const statusOf = async () => (await visit(lab.visitor, 'https://web.example.com/?bytes=100')).status
const isWell = async (container: Container) => (await container.health()).code === 0

test('a visitor reaches a node’s service over HTTPS and TCP', async () => {
  await startListening(lab.site, [process.execPath, program('counted'), '8080', '8081'], dir, 'counted', 8081)
  const node = await api.createNode({ name: 'office' })
  await agentOn(lab.site, { api, dataDir: dir, interface: 'postern0' }).connect(node.token)
  const backend = { backendHost: '127.0.0.1', backendPort: 8080 }
  await api.publish(node.id, { name: 'web', domain: 'web.example.com', ...backend })
  const tcp = await api.publishPort(node.id, { name: 'tcp', ...backend, backendPort: 8081 })
  expect(tcp.port).toBe(32_660)
  await until('the service to answer', async () => (await statusOf()) === 200)
  await until('the port to answer', () =>
    lab.visitor.must(process.execPath, program('echo-visitor'), 'tcp', lab.server.address, '32660', '1000'),
  )
})

test('the probes report both as healthy', async () => {
  await until('both to be well', async () => (await isWell(server)) && (await isWell(edge)))
})

test('the server has no right, the edge the two of its chart, and none can gain any', () => {
  const none = capabilitySet()
  for (const { uid, capabilities, noNewPrivileges } of server.processes())
    expect({ uid, ...capabilities, noNewPrivileges }).toMatchObject({
      ...{ uid: 7400, effective: none, permitted: none, bounding: none, noNewPrivileges: true },
    })
  const both = capabilitySet('NET_ADMIN', 'NET_BIND_SERVICE')
  expect(edge.processes().length).toBeGreaterThan(2)
  for (const { capabilities, noNewPrivileges } of edge.processes())
    expect({ ...capabilities, noNewPrivileges }).toMatchObject({ bounding: both, noNewPrivileges: true })
})

test('a new pod on the same volumes has the same account and services', async () => {
  const stopped = await Promise.all([server.stop(), edge.stop()])
  expect(stopped.map(({ code }) => code)).toEqual([0, 0])
  await startBoth()
  await until('the service to answer again', async () => (await statusOf()) === 200)
  // Services do not wait for the server, which begins a moment later.
  await until('the same account', () => signIn(`${dir}/shared/run/server.sock`, 'admin', password))
  expect(server.logs()).not.toContain('Password')
})
