import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { publishLocal, untilAllAnswer } from '@postern/testkit/services'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { openSocket, visit } from '@postern/testkit/visitor'
import { beforeAll, expect, it } from 'vitest'

const CHANGES = 200
const [FIRST_PORT, LAST_PORT] = [8081, 8082]

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  await Promise.all([startEcho(lab.server, dir, FIRST_PORT), startEcho(lab.server, dir, LAST_PORT)])
})

it('applies the last of 200 changes; an open WebSocket of another service does not notice', async () => {
  const { api } = installation
  const services = await publishLocal(installation, 'burst', 2, FIRST_PORT)
  await untilAllAnswer(lab, services)
  const [changed, watched] = services
  if (!changed || !watched) throw new Error('two services were published')
  const socket = openSocket(lab.visitor, watched.domain ?? '', `${installation.dataDir}/socket.log`)
  await until('the first echo', () => socket.output().includes('echo 0'))
  const pid = installation.haproxyPid()

  const path = `/api/services/${changed.nodeId}/http/${changed.id}`
  for (let change = 1; change <= CHANGES; change++) {
    const backendPort = change === CHANGES ? LAST_PORT : FIRST_PORT
    const { status } = await api.call('PATCH', path, { name: `burst ${change}`, backendPort })
    expect(status).toBe(200)
  }
  await until('the last change to be in force', async () =>
    portThatAnswers(changed.domain).then((port) => port === LAST_PORT),
  )
  await until('the service to be live', async () => (await api.getService(changed)).state.phase === 'live')

  expect(installation.haproxyPid()).toBe(pid)
  const before = echoes(socket.output())
  await until('the WebSocket to go on', () => echoes(socket.output()).length > before.length + 2)
  expect(socket.output()).not.toMatch(/error|closed/)
  expect(echoes(socket.output())).toEqual(echoes(socket.output()).map((_, index) => index))
  await socket.stop()
})

async function portThatAnswers(domain: string | null): Promise<number> {
  const { body } = await visit(lab.visitor, `https://${domain}/`)
  return JSON.parse(body).port
}

function echoes(output: string): number[] {
  return [...output.matchAll(/^echo (\d+)$/gm)].map(([, count]) => Number(count))
}
