import type { HttpService } from '@postern/contract/services/services'
import { startInstallation } from '@postern/testkit/installation'
import { SNEAKY_NAME, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { LOCAL_NODE, publishLocal, untilAllAnswer } from '@postern/testkit/services'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, it } from 'vitest'

const ECHO_PORT = 8081

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  await startEcho(lab.server, `${installation.dataDir}/upstreams`, ECHO_PORT)
})

it('carries ten services beside one that cannot be applied, and says why at that one', async () => {
  // Only the edge can find out that this name leads to the server's own socket.
  const bad = await publish('bad', SNEAKY_NAME, 3000)
  const good = await publishLocal(installation, 'good', 10, ECHO_PORT)
  await untilAllAnswer(lab, good)
  const failed = await untilFailed(bad)
  expect(failed.state.problem).toContain(SNEAKY_NAME)
  expect((await visit(lab.visitor, 'https://bad.example.com/')).body).not.toContain('Postern</title>')
  for (const service of good)
    await until(
      `${service.name} to be live`,
      async () => (await installation.api.getService(service)).state.phase === 'live',
    )
})

it('reports that the name of a backend cannot be resolved, and nothing else suffers', async () => {
  const dead = await publish('dead', 'nobody.invalid', 80)
  const failed = await untilFailed(dead)
  expect(failed.state.problem).toMatch(/nobody\.invalid/)
  const [after] = await publishLocal(installation, 'after', 1, ECHO_PORT)
  if (after) await untilAllAnswer(lab, [after])
})

function publish(name: string, backendHost: string, backendPort: number): Promise<HttpService> {
  return installation.api.publish(LOCAL_NODE, {
    name,
    domain: `${name}.example.com`,
    backendHost,
    backendPort,
  })
}

function untilFailed(service: HttpService): Promise<HttpService> {
  return until(`${service.name} to be said failed`, async () => {
    const found = await installation.api.getService(service)
    return found.state.phase === 'failed' ? found : undefined
  })
}
