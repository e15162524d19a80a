import type { ServiceCount } from '@postern/contract/edge/edge-messages'
import type { Traffic } from '@postern/contract/figures'
import { connectEdgeClient } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, it } from 'vitest'
import { runUpkeep } from '../../../test/upkeep.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-01-15T12:40:00Z')

const server = shared(() => startTestServer({ now: START }))
const client = shared(() => server.signIn())
const ids: number[] = []

beforeAll(async () => {
  await server.listenOnSocket()
  const { id } = await client.createNode({ name: 'counted' })
  for (const path of ['/a', '/b', '/c'])
    ids.push((await client.post(`/api/services/${id}/http`, { name: 's', pathLocation: path })).json().id)
})

async function count(seq: number, at: number, counts: ServiceCount[]): Promise<void> {
  const edge = await connectEdgeClient(server.context.config.paths)
  const ledger = `l${at}`
  edge.send({ type: 'counts', ledger, seq, minute: Math.floor(at / MINUTE), counts })
  await until('the counts to be stored', () =>
    edge.hints.some((hint) => hint.type === 'counted' && hint.ledger === ledger && hint.seq === seq),
  )
  edge.close()
}

const traffic = async (some: number[]): Promise<Traffic> =>
  (await client.get(`/api/figures/services?ids=${some.join(',')}`)).json()

it('of a page of services comes in one answer: half hours of a day, of fresh and of packed minutes', async () => {
  const [a = 0, b = 0, c = 0] = ids
  await count(1, START - 3 * HOUR, [[a, 2, 100, 1000]])
  await count(1, START - 25 * HOUR, [[a, 9, 9, 9]])
  await runUpkeep(server)
  await count(2, START, [
    [a, 1, 10, 20],
    [b, 1, 5, 0],
  ])
  const answer = await traffic([a, b, c])
  expect(answer).toMatchObject({ from: '2026-01-14T13:00:00.000Z', step: 1800 })
  expect(answer.data.map(({ id, received, sent }) => [id, received, sent])).toEqual([
    [a, 110, 1020],
    [b, 5, 0],
    [c, 0, 0],
  ])
  const [line] = answer.data.map((each) => each.line)
  expect(line).toHaveLength(48)
  expect(line?.flatMap((value, index) => (value > 0 ? [[index, value]] : []))).toEqual([
    [41, 1100],
    [47, 30],
  ])
})

it.each(['', 'x', '0', '1,', '1,2,x', Array.from({ length: 101 }, (_, i) => i + 1).join(',')])(
  'refuses the ids %s',
  async (text) => {
    const answer = await client.get(`/api/figures/services?ids=${text}`)
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([422, 'ids'])
  },
)
