import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { start } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, it } from 'vitest'
import { COMMAND, NODE, startCommandLab } from './lab.ts'

const lab = shared(startCommandLab)
const edge = shared(() => connectFakeEdge(lab.site.paths))

it('follows the log of a service until the service is gone', async () => {
  const { token } = await lab.makeToken({ role: 'viewer' })
  const node = await lab.site.api.createNode({ name: 'office' })
  const service = await lab.site.api.publish(node.id, { name: 'web', domain: 'web.example.com' })
  const env = { HOME: lab.home, POSTERN_URL: lab.site.origin, POSTERN_TOKEN: token }
  const follow = start([NODE, COMMAND, 'logs', '-f', 'web'], { logFile: `${lab.home}/logs`, env })
  const line = (text: string) => `[INFO] 2026-01-01T00:00:00.000Z 203.0.113.7 "GET /${text}" 200 1B 1ms`
  await until('it to be watched', () => edge.watched().includes(service.id))
  edge.log(service.id, line('first'))
  await until('the first line', () => follow.output().includes(line('first')))
  await lab.site.api.removeService(service)
  expect(await follow.exited).toBe(17)
  expect(follow.output()).toContain('says: ')
})

it('shows the last requests that edges have kept, the oldest first', async () => {
  const { token } = await lab.makeToken({ role: 'viewer' })
  const node = await lab.site.api.createNode({ name: 'other' })
  const { id } = await lab.site.api.publish(node.id, { name: 'kept', domain: 'kept.example.com' })
  edge.keep([
    { service: id, at: 1_000, path: '/one' },
    { service: id, at: 2_000, path: '/two', status: 503, person: 'ann@example.com' },
  ])
  const env = { POSTERN_URL: lab.site.origin, POSTERN_TOKEN: token }
  const shown = await lab.postern(['logs', 'kept'], { env })
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout.split('\n')).toEqual([
    '1970-01-01T00:00:01.000Z 203.0.113.5 "GET /one" 200 100 B in, 2000 B out, 12 ms',
    '1970-01-01T00:00:02.000Z 203.0.113.5 (ann@example.com) "GET /two" 503 100 B in, 2000 B out, 12 ms',
    '',
  ])
  const one = await lab.postern(['logs', 'kept', '--last', '1', '--json'], { env })
  expect(JSON.parse(one.stdout)).toMatchObject({ path: '/two', serviceId: id })
  expect(await lab.postern(['logs', 'kept', '--last', '0'], { env })).toMatchObject({ code: 2 })
})
