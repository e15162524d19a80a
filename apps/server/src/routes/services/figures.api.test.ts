import type { ServiceCount } from '@postern/contract/edge/edge-messages'
import type { Figures } from '@postern/contract/figures'
import { connectEdgeClient } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runUpkeep } from '../../../test/upkeep.ts'
import { nodeKey } from '../../core/figures/keys.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-01-15T12:30:00Z')

const server = shared(() => startTestServer({ now: START }))
const client = shared(() => server.signIn())
beforeAll(() => server.listenOnSocket())

let names = 0
const createNode = async () => (await client.createNode({ name: 'figures' })).id
async function createService(node: number, type: 'http' | 'tcp' = 'http'): Promise<number> {
  const named = type === 'http' && { domain: `f${++names}.example.com`, skipValidation: true }
  const form = { name: 's', backendPort: 80, ...named }
  return (await client.post(`/api/services/${node}/${type}`, form)).json().id
}

/** An edge that counts, in a ledger of its own. */
async function connect(ledger = `l${++names}`) {
  const edge = await connectEdgeClient(server.context.config.paths)
  onTestFinished(() => edge.close())
  const stored = () =>
    edge.hints
      .flatMap((hint) => (hint.type === 'counted' && hint.ledger === ledger ? hint.seq : []))
      .at(-1) ?? 0
  const send = (seq: number, counts: ServiceCount[], at = server.now) =>
    edge.send({ type: 'counts', ledger, seq, minute: Math.floor(at / MINUTE), counts })
  return {
    ...edge,
    stored,
    send,
    async count(seq: number, counts: ServiceCount[], at = server.now) {
      send(seq, counts, at)
      await until('the counts to be stored', () => stored() === seq)
    },
  }
}

const figures = async (path: string, span = ''): Promise<Figures> =>
  (await client.get(`/api/${path}/figures${span && `?span=${span}`}`)).json()
const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
const totals = ({ series }: Figures) => [sum(series.connections), sum(series.received), sum(series.sent)]
/** How many rows of a service the tables have: new counts, minutes, hours. */
const rowsOf = async (id: number) => {
  const tables = ['counts', 'minutes', 'hours'] as const
  const found = tables.map((table) =>
    server.context.liveDb.selectFrom(table).select('service').where('service', '=', id).execute(),
  )
  return (await Promise.all(found)).map(({ length }) => length)
}

describe('the figures of a service', () => {
  it('are zeros before anybody came', async () => {
    const id = await createService(await createNode())
    const hour = await figures(`services/http/${id}`, 'hour')
    expect(hour).toMatchObject({ from: '2026-01-15T11:31:00.000Z', step: 60 })
    const none = Array(60).fill(0)
    const counts = { connections: none, received: none, sent: none, errors: none }
    expect(hour.series).toEqual({ ...counts, p50: Array(60).fill(null), p95: Array(60).fill(null) })
    const day = await figures(`services/http/${id}`)
    expect(day).toMatchObject({ from: '2026-01-14T12:31:00.000Z', step: 60 })
    expect(day.series.sent).toHaveLength(1440)
    const month = await figures(`services/http/${id}`, 'month')
    expect(month).toMatchObject({ from: '2025-12-16T13:00:00.000Z', step: 3600 })
    expect(month.series.sent).toHaveLength(720)
  })

  it('are those of each minute, and the sums of each hour', async () => {
    const node = await createNode()
    const [web, port] = [await createService(node), await createService(node, 'tcp')]
    const edge = await connect()
    await edge.count(
      1,
      [
        [web, 3, 100, 5000],
        [port, 1, 7, 8],
      ],
      server.now - 2 * MINUTE,
    )
    await edge.count(2, [[web, 1, 50, 500]])
    await edge.count(3, [[web, 1, 1, 1]])
    const hour = await figures(`services/http/${web}`, 'hour')
    expect(hour.series.connections.slice(-3)).toEqual([3, 0, 2])
    expect(hour.series.received.slice(-3)).toEqual([100, 0, 51])
    expect(hour.series.sent.slice(-3)).toEqual([5000, 0, 501])
    expect((await figures(`services/http/${web}`, 'month')).series.sent.at(-1)).toBe(5501)
    expect(totals(await figures(`services/tcp/${port}`))).toEqual([1, 7, 8])
  })

  it('do not exist for a service that does not exist, or has another type', async () => {
    const id = await createService(await createNode())
    for (const path of [`services/tcp/${id}`, 'services/http/99999', 'nodes/99999'])
      expect((await client.get(`/api/${path}/figures`)).statusCode).toBe(404)
  })

  it.each(['span=year', 'span=', 'span=hour&span=day', 'from=1'])('refuse %s', async (query) => {
    const id = await createService(await createNode())
    for (const path of [`services/http/${id}`, 'nodes/1'])
      expect((await client.get(`/api/${path}/figures?${query}`)).statusCode).toBe(422)
  })

  it('are for people who are signed in', async () => {
    const { id, token } = await client.createNode({ name: 'stranger' })
    const url = `/api/nodes/${id}/figures`
    expect((await server.call({ url })).statusCode).toBe(401)
    expect((await server.as(token).get(url)).statusCode).toBe(403)
  })
})

describe('counts', () => {
  it('that are sent again are counted once, even by a restarted server', async () => {
    const id = await createService(await createNode())
    const ledger = 'twice'
    const edge = await connect(ledger)
    await edge.count(1, [[id, 1, 10, 100]])
    await edge.count(2, [[id, 1, 10, 100]])
    edge.send(1, [[id, 1, 10, 100]])
    await until('the second answer', () => edge.hints.filter(({ type }) => type === 'counted').length === 3)
    expect(edge.stored()).toBe(2)
    edge.close()
    await server.restart()
    await server.listenOnSocket()
    const again = await connect(ledger)
    again.send(2, [[id, 1, 10, 100]])
    await until('the answer', () => again.stored() === 2)
    await again.count(3, [[id, 1, 10, 100]])
    expect(totals(await figures(`services/http/${id}`))).toEqual([3, 30, 300])
  })

  it('of a new ledger start over', async () => {
    const id = await createService(await createNode())
    const first = await connect()
    await first.count(5, [[id, 1, 1, 1]])
    const second = await connect()
    await second.count(1, [[id, 1, 1, 1]])
    expect(totals(await figures(`services/http/${id}`))).toEqual([2, 2, 2])
  })

  it('of services that do not exist are dropped, and the rest is stored', async () => {
    const id = await createService(await createNode())
    const edge = await connect()
    await edge.count(1, [
      [99_998, 1, 1, 1],
      [id, 1, 1, 1],
    ])
    expect(await rowsOf(99_998)).toEqual([0, 0, 0])
    expect(await rowsOf(id)).toEqual([1, 0, 0])
  })

  it('of a future minute count for the present one', async () => {
    const id = await createService(await createNode())
    const edge = await connect()
    await edge.count(1, [[id, 1, 1, 1]], server.now + 48 * HOUR)
    expect((await figures(`services/http/${id}`, 'hour')).series.connections.at(-1)).toBe(1)
  })

  it('stop at the largest number that is exact', async () => {
    const id = await createService(await createNode())
    const most = Number.MAX_SAFE_INTEGER
    const edge = await connect()
    await edge.count(1, [[id, most, most, most]])
    await edge.count(2, [[id, 1, 1, 1]])
    expect((await figures(`services/http/${id}`, 'hour')).series.sent.at(-1)).toBe(most)
    server.now += 10 * MINUTE
    await runUpkeep(server)
    expect((await figures(`services/http/${id}`, 'month')).series.sent.at(-1)).toBe(most)
  })

  it.each([
    { counts: [[1, -1, 0, 0]] },
    { counts: [[1, 0.5, 0, 0]] },
    { counts: [[1, 2 ** 60, 0, 0]] },
    { counts: [[0, 1, 0, 0]] },
    { counts: Array(501).fill([1, 1, 1, 1]) },
    { seq: 0, counts: [] },
    { minute: -1, counts: [] },
    { ledger: 'A b', counts: [] },
  ])('that are not in the contract end the connection: %#', async (over) => {
    const edge = await connect()
    const closed = new Promise<number>((resolve) => edge.socket.once('close', resolve))
    edge.socket.send(JSON.stringify({ type: 'counts', ledger: 'l', seq: 1, minute: 1, ...over }))
    expect(await closed).toBe(1008)
  })
})

describe('as time goes by', () => {
  it('minutes are packed, become hours after a day, and are deleted after 30 days, without loss', async () => {
    const id = await createService(await createNode())
    const edge = await connect()
    const [begin, expected] = [server.now, [0, 0, 0]]
    for (let seq = 1; seq <= 40; seq++) {
      const counts: ServiceCount = [id, seq, seq * 1000, 40_000 - seq]
      await edge.count(seq, [counts])
      for (const column of [0, 1, 2] as const)
        expected[column] = (expected[column] ?? 0) + Number(counts[column + 1])
      server.now += 3 * MINUTE
      if (seq % 7 === 0) await runUpkeep(server)
    }
    await runUpkeep(server)
    expect(totals(await figures(`services/http/${id}`))).toEqual(expected)
    const month = await figures(`services/http/${id}`, 'month')
    server.now = begin + 27 * HOUR
    await runUpkeep(server)
    expect(await rowsOf(id)).toEqual([0, 0, 1])
    expect(totals(await figures(`services/http/${id}`, 'month'))).toEqual(expected)
    const later = await figures(`services/http/${id}`, 'month')
    const busy = (all: Figures) => all.series.sent.filter((bytes) => bytes > 0)
    expect(busy(later)).toEqual(busy(month))
    server.now = begin + 33 * 24 * HOUR
    // A new sign-in, because no session lasts that long.
    Object.assign(client, await server.signIn())
    await runUpkeep(server)
    expect(await rowsOf(id)).toEqual([0, 0, 0])
    expect(totals(await figures(`services/http/${id}`, 'month'))).toEqual([0, 0, 0])
  })

  it('late counts go to their own time, even when their hour was packed or summed', async () => {
    const id = await createService(await createNode())
    const edge = await connect()
    const times = [server.now, server.now - 30 * HOUR, server.now - 5 * HOUR]
    for (const [index, at] of [...times, ...times].entries()) {
      await edge.count(index + 1, [[id, 1, 2, 3]], at)
      await runUpkeep(server)
    }
    const { series } = await figures(`services/http/${id}`, 'month')
    expect(totals(await figures(`services/http/${id}`, 'month'))).toEqual([6, 12, 18])
    expect(series.connections.filter((count) => count > 0)).toEqual([2, 2, 2])
    expect(totals(await figures(`services/http/${id}`))).toEqual([4, 8, 12])
  })

  it('the limit of the file is kept: the oldest minutes become hours, then the oldest days go', async () => {
    const id = await createService(await createNode())
    const edge = await connect()
    await edge.count(1, [[id, 1, 2, 3]], server.now - 2 * HOUR)
    await edge.count(2, [[id, 1, 2, 3]])
    await runUpkeep(server)
    expect(await rowsOf(id)).toEqual([1, 1, 0])
    await runUpkeep(server, { maxBytes: 0 })
    expect(await rowsOf(id)).toEqual([1, 0, 1])
    expect(totals(await figures(`services/http/${id}`, 'month'))).toEqual([2, 4, 6])
  })
})

describe('the figures of a node', () => {
  it('are the sums of its services, including deleted ones', async () => {
    const node = await createNode()
    const services = [await createService(node), await createService(node, 'tcp')]
    const other = await createService(await createNode())
    const edge = await connect()
    const counts = (ids: number[]) => ids.map((id): ServiceCount => [id, 1, 10, 100])
    await edge.count(1, counts([...services, other]), server.now - 26 * HOUR)
    await edge.count(2, counts([...services, other]), server.now - HOUR)
    await runUpkeep(server)
    await edge.count(3, counts([...services, other]))
    expect(totals(await figures(`nodes/${node}`, 'month'))).toEqual([6, 60, 600])
    expect(totals(await figures(`nodes/${node}`, 'hour'))).toEqual([2, 20, 200])
    await client.delete(`/api/services/${node}/http/${services[0]}`)
    await edge.count(4, counts([...services, other]))
    expect(totals(await figures(`nodes/${node}`, 'month'))).toEqual([7, 70, 700])
    expect(totals(await figures(`nodes/${node}`, 'day'))).toEqual([5, 50, 500])
  })

  it('are deleted with it in every table, and those of others stay', async () => {
    const node = await createNode()
    const ids = [await createService(node), await createService(node, 'tcp')]
    const other = await createService(await createNode())
    const edge = await connect()
    for (const [index, at] of [server.now - 40 * HOUR, server.now - HOUR, server.now].entries()) {
      await edge.count(
        index + 1,
        [...ids, other].map((id): ServiceCount => [id, 1, 1, 1]),
        at,
      )
      if (at < server.now) await runUpkeep(server)
    }
    for (const id of [...ids, other]) expect(await rowsOf(id)).toEqual([1, 1, 1])
    await client.delete(`/api/nodes/${node}`)
    for (const id of [...ids, nodeKey(node)]) expect(await rowsOf(id)).toEqual([0, 0, 0])
    expect(await rowsOf(other)).toEqual([1, 1, 1])
  })
})
