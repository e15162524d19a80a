import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AddedEdge } from '@postern/contract/edge/join'
import { agentOn } from '@postern/testkit/agent'
import { readCompose } from '@postern/testkit/containers/compose'
import { type Container, startContainer } from '@postern/testkit/containers/container'
import { capabilitySet } from '@postern/testkit/containers/processes'
import { buildServerImage, serviceOf } from '@postern/testkit/containers/server'
import { ROOT } from '@postern/testkit/containers/store'
import { WITH_CONTROL } from '@postern/testkit/far-edge'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** The server's image as an edge on another host, run as deploy/docker/edge.compose.yaml says. */
const COMPOSE = join(ROOT, 'deploy/docker/edge.compose.yaml')
const DOMAIN = 'open.example.com'

let image: string
let lab: Lab
let installation: Installation
let edge: Container
let added: AddedEdge
const dir = tempDir()

beforeAll(async () => {
  image = await buildServerImage()
  lab = await startLab()
  installation = await startInstallation(lab, WITH_CONTROL)
  const { api, dataDir } = installation
  const node = await lab.plugIn('node', 20)
  await startEcho(node, `${dataDir}/upstreams`, 9000)
  const { id, token } = await api.createNode({ name: 'node' })
  await api.createDomain({ domain: DOMAIN })
  await api.publish(id, { name: 'open', domain: DOMAIN, backendPort: 9000 })
  await agentOn(node, installation).connect(token, '--dns')
  added = (await api.call('POST', '/api/edges', { name: 'Frankfurt' })).json as AddedEdge
})

afterAll(async () => {
  if (edge?.isRunning()) await edge.stop()
  await installation?.close()
  await lab?.close()
})

/** @param env the lines that a person edits */
const start = (env: Record<string, string>) =>
  startContainer({
    image,
    namespace: lab.site,
    service: serviceOf(readCompose(COMPOSE), 'edge'),
    env,
    mounts: { edge: `${dir}/edge` },
  })
const untilServed = () =>
  until('the service', async () => {
    const answer = await visit(lab.visitor, `https://${DOMAIN}/`, { server: lab.site.address })
    return answer.status === 200
  })

test('three lines at the top are to be edited', () => {
  const [, ...lines] = readFileSync(COMPOSE, 'utf8').split('\n')
  const names = lines.map((line) => line.split(':')[0]).filter((name) => name?.startsWith('x-'))
  expect(names).toEqual(['x-address', 'x-token', 'x-image'])
  expect(lines.slice(0, 3).map((line) => line.split(':')[0])).toEqual(names)
})

test('a container that was not told which edge it is says why it ends', async () => {
  const wrong = await start({
    POSTERN_JOIN_ADDRESS: added.join.address,
    POSTERN_JOIN_TOKEN: `pte_${'x'.repeat(43)}`,
  })
  await until('it to end', () => !wrong.isRunning())
  expect(wrong.logs()).toContain('This token lets no machine join')
})

test('it joins at its first start, and a service answers through it', async () => {
  edge = await start({ POSTERN_JOIN_ADDRESS: added.join.address, POSTERN_JOIN_TOKEN: added.join.token })
  await untilServed()
  expect(edge.logs()).toContain('This machine is now the edge Frankfurt (number 2)')
  expect(edge.logs()).not.toContain(added.join.token)
  await until('it to be well', async () => (await edge.health()).code === 0)
})

test('it has two rights and no other, and its programs have no token', () => {
  const both = capabilitySet('NET_ADMIN', 'NET_BIND_SERVICE')
  for (const { capabilities, noNewPrivileges } of edge.processes())
    expect({ bounding: capabilities.bounding, noNewPrivileges }).toEqual({
      bounding: both,
      noNewPrivileges: true,
    })
  const program = edge.processes().find(({ argv }) => argv.some((word) => word.endsWith('edge.mjs')))
  expect(readFileSync(`/proc/${program?.pid}/environ`, 'utf8')).not.toContain(added.join.token)
})

test('another container of the same volume is the same edge, whose token was used long ago', async () => {
  await edge.stop()
  edge = await start({ POSTERN_JOIN_ADDRESS: added.join.address, POSTERN_JOIN_TOKEN: added.join.token })
  await untilServed()
  expect(edge.logs()).not.toContain('is now the edge')
})
