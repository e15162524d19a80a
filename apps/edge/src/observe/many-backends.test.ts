import { inSections } from '@postern/render/resolved-route'
import { findFreePort } from '@postern/testkit/port'
import { duringTest, fresh } from '@postern/testkit/shared'
import { costMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { https, listen, route, settled, startWatchLab } from '../../test/watch-lab.ts'

const lab = fresh(() => startWatchLab())

describe('of many thousands', () => {
  test('few are probed at a time, and reports are few and short', async () => {
    const mute = await listen()
    const refusing = await findFreePort()
    const onNode = (id: number) => ({ node: { kind: 'plain' as const, id, address4: '10.64.0.9' } })
    const muteRoutes = Array.from({ length: 200 }, (_, i) =>
      route(i + 1, mute.port, { ...https, ...onNode(10 + (i % 8)) }),
    )
    const routes = [
      ...muteRoutes,
      ...Array.from({ length: 2500 }, (_, i) => route(i + 1000, refusing, onNode(10 + (i % 8)))),
    ]
    lab.watch.setRoutes(inSections(routes))
    for (const { id } of routes.slice(200)) lab.watch.note(id, 'failed')
    await until(
      'all to be reported',
      () => [...lab.reported.values()].filter((what) => what === 'refused').length === 2500,
    )
    expect(Math.max(...lab.messages.map(({ backends }) => backends.length))).toBeLessThanOrEqual(1000)
    expect(lab.messages.length).toBeLessThan(60)
    lab.watch.setRoutes(inSections(muteRoutes))
    for (const { id } of muteRoutes) lab.watch.note(id, 'failed')
    await until('the first probes', () => mute.open.size > 32)
    const most = mute.open.size
    await settled()
    expect(Math.max(most, mute.open.size)).toBeLessThanOrEqual(64)
  })

  test('a line of one that answers costs next to nothing', async () => {
    const port = await findFreePort()
    lab.watch.setRoutes(inSections(Array.from({ length: 20_000 }, (_, i) => route(i + 1, port))))
    lab.watch.note(1, 'failed')
    const cost = await costMs(() => {
      for (let i = 0; i < 1_000_000; i++) lab.watch.note((i % 20_000) + 2, 'answered')
    })
    // A microsecond each.
    expect(cost).toBeLessThan(1000)
  })

  test('the silent ones of one node take only their share', async () => {
    const mute = await listen()
    const upstream = await listen()
    const states = new Map([
      [2, 'up' as const],
      [3, 'up' as const],
    ])
    const other = route(999, upstream.port, { node: { kind: 'plain', id: 3, address4: '10.64.0.3' } })
    lab.watch.setNodeStates(states)
    const silent = Array.from({ length: 900 }, (_, i) => route(i + 1, mute.port, https))
    lab.watch.setRoutes(inSections([...silent, other]))
    await lab.trouble(999, null)
    expect(mute.open.size).toBeLessThanOrEqual(16)
  })

  test('20,000 new ones are probed a few at a time, and idle ones at most 50 a second', async () => {
    let [open, most, probes] = [0, 0, 0]
    const lab = await duringTest(() =>
      startWatchLab(async () => {
        most = Math.max(most, ++open)
        probes++
        await new Promise((resolve) => setTimeout(resolve, 20))
        open--
        return null
      }),
    )
    lab.watch.setNodeStates(new Map(Array.from({ length: 10_000 }, (_, i) => [i, 'up'])))
    const node = (i: number) => ({ kind: 'plain' as const, id: i % 10_000, address4: '10.64.0.9' })
    const routes = Array.from({ length: 20_000 }, (_, i) => route(i + 1, 80, { node: node(i) }))
    const cost = await costMs(() => lab.watch.setRoutes(inSections(routes)))
    expect(cost).toBeLessThan(2000)
    await settled()
    expect(probes).toBeLessThan(20 * 30)
    for (const { id } of routes) lab.watch.note(id, 'answered')
    lab.later += 61_000
    const before = probes
    await settled()
    expect(probes - before).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(64)
  })

  test('one that a person saves does not wait behind them', async () => {
    let probes = 0
    const lab = await duringTest(() =>
      startWatchLab(async ({ port }) => {
        probes++
        await new Promise((resolve) => setTimeout(resolve, 20))
        return port === 80 ? 'refused' : null
      }),
    )
    lab.watch.setNodeStates(new Map([[2, 'up']]))
    const many = Array.from({ length: 20_000 }, (_, i) => route(i + 1, 80))
    lab.watch.setRoutes(inSections(many))
    await until('the first probes', () => probes > 40)
    lab.watch.setRoutes(inSections([...many, route(20_001, 81)]))
    await lab.trouble(20_001, null)
    expect(probes).toBeLessThan(2000)
  })
})
