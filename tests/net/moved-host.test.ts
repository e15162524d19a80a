import { isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, it } from 'vitest'

const DOMAIN = 'gate.example.com'

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  await startEcho(lab.server, `${installation.dataDir}/upstreams`, 8080)
})

const signIn = () => {
  const body = JSON.stringify({ username: 'admin', password: 'a wrong one' })
  const args = ['-H', 'content-type: application/json', '--data', body]
  return visit(lab.visitor, `https://${DOMAIN}/api/auth/login`, { args })
}

it("a service loses the console's paths when the public host moves to its domain", async () => {
  const { api } = installation
  const nodes = (await api.call('GET', '/api/nodes')).json as { id: number; isLocal: boolean }[]
  const local = nodes.find(({ isLocal }) => isLocal)?.id ?? 0
  const backend = { backendHost: '127.0.0.1', backendPort: 8080, domain: DOMAIN }
  const taken = await api.publish(local, { name: 'api', ...backend, pathLocation: '/api' })
  const beside = await api.publish(local, { name: 'tool', ...backend, pathLocation: '/tool' })
  await until('the service to answer', async () => (await signIn()).body.includes('"port":8080'))

  await Promise.all([installation.edge.stop(), installation.server.stop()])
  installation.env.POSTERN_PUBLIC_HOST = DOMAIN
  await installation.startServer()
  installation.startEdge()
  await until('the edge to apply the state', () => isApplied(installation.api))

  const answer = await until('the server to answer', async () => {
    const { status, body } = await signIn()
    return status === 401 && body
  })
  expect(answer).toContain('requestId')
  const { state } = await installation.api.getService(taken)
  expect(state).toMatchObject({ phase: 'failed', problem: expect.stringContaining('belongs to the console') })
  const tool = await visit(lab.visitor, `https://${DOMAIN}/tool`)
  expect(tool.body).toContain('"port":8080')
  expect(tool.headers).toMatch(/^content-security-policy: sandbox /im)
  await until(
    'the other to be live',
    async () => (await installation.api.getService(beside)).state.phase === 'live',
  )
})
