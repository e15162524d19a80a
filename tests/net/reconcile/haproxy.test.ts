import type { HttpService } from '@postern/contract/services/services'
import { haproxyCommand, haproxyPids } from '@postern/testkit/haproxy'
import { isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { publishLocal, untilAllAnswer } from '@postern/testkit/services'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, it } from 'vitest'

const ECHO_PORT = 8081

let services: HttpService[]

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  await startEcho(lab.server, `${installation.dataDir}/upstreams`, ECHO_PORT)
  services = await publishLocal(installation, 'svc', 100, ECHO_PORT)
  await untilAllAnswer(lab, services)
})

it('restarts a killed HAProxy within 10 s, with all 100 services', async () => {
  const before = installation.haproxyPid()
  const start = performance.now()
  process.kill(before, 'SIGKILL')
  await until('HAProxy to answer again', async () => {
    const { status } = await visit(lab.visitor, 'https://svc100.example.com/', {
      args: ['--connect-timeout', '1'],
    })
    return status === 200
  })
  const ms = performance.now() - start
  console.info(`HAProxy was back after ${Math.round(ms)} ms`)
  // Two seconds on an idle machine.
  expect(ms).toBeLessThan(10_000)
  await untilAllAnswer(lab, services)
  expect(installation.haproxyPid()).not.toBe(before)
  expect(await haproxyPids(lab)).toHaveLength(1)
})

it('adopts the running HAProxy when the edge was killed and starts again', async () => {
  const before = installation.haproxyPid()
  await installation.edge.stop('SIGKILL')
  await untilAllAnswer(lab, services.slice(0, 3))
  installation.startEdge()
  const [added] = await publishLocal(installation, 'adopted', 1, ECHO_PORT)
  if (added) await untilAllAnswer(lab, [added])
  expect(installation.haproxyPid()).toBe(before)
  expect(await haproxyPids(lab)).toEqual([before])
})

it('finds and repairs a map that another program changed', async () => {
  const maps = await haproxyCommand(installation, 'show map')
  const file = /(\S*routes\S*)/.exec(maps)?.[1]?.replace(/[()]/g, '') ?? ''
  expect(file).toContain(installation.paths.haproxyDir)
  await haproxyCommand(installation, `del map ${file} svc7.example.com/`)
  expect((await visit(lab.visitor, 'https://svc7.example.com/')).status).toBe(404)
  await until(
    'the route to be back',
    async () => (await visit(lab.visitor, 'https://svc7.example.com/')).status === 200,
  )
})

it('reports a port that another program holds, and uses it once it is free', async () => {
  await installation.edge.stop()
  process.kill(installation.haproxyPid(), 'SIGKILL')
  await until('HAProxy to be gone', async () => (await haproxyPids(lab)).length === 0)
  const script = `require('net').createServer().listen(443, '0.0.0.0')`
  const command = [process.execPath, '-e', script]
  const other = await startListening(lab.server, command, installation.dataDir, 'other', 443)
  installation.startEdge()
  const part = await until('the edge to say so', async () => {
    const [edge] = await installation.api.listEdges()
    return edge?.connected && edge.dataPlane?.haproxy.state === 'failed' ? edge.dataPlane.haproxy : undefined
  })
  expect(part.detail).toMatch(/443/)
  await other.stop()
  await untilAllAnswer(lab, services.slice(0, 3))
  await until('the edge to be in sync', () => isApplied(installation.api))
  const [edge] = await installation.api.listEdges()
  expect(edge?.dataPlane?.haproxy.state).toBe('ok')
})
