import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogHub, type LogHub } from './logs.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')

function reader(hub: LogHub, services: number[], lastEventId?: string) {
  const lines: string[] = []
  const ids: string[] = []
  const watcher = hub.watch(services, lastEventId, (texts, id) => {
    lines.push(...texts)
    ids.push(id)
  })
  return { lines, ids, watcher }
}

const line = (service: number, seq: number, number = seq) => ({
  service,
  seq,
  number,
  text: `${service}:${seq}`,
})
const hubNow = () => createLogHub(() => NOW)

describe('watching', () => {
  it('gives a second reader the kept lines, then both the new ones', () => {
    const hub = hubNow()
    const first = reader(hub, [1])
    hub.receive('e1', [line(1, 1), line(1, 2)])
    const second = reader(hub, [1])
    hub.receive('e1', [line(1, 3)])
    expect(first.lines).toEqual(['1:1', '1:2', '1:3'])
    expect(second.lines).toEqual(['1:1', '1:2', '1:3'])
    expect(second.ids).toEqual(['e1-2', 'e1-3'])
  })

  it('sends the edges the whole set when it changes, and only then', () => {
    const hub = hubNow()
    const watched: number[][] = []
    hub.onWatched((services) => watched.push(services))
    const a = reader(hub, [1, 2])
    const b = reader(hub, [2])
    a.watcher.close()
    a.watcher.close()
    b.watcher.setServices([2, 3])
    b.watcher.close()
    expect(watched).toEqual([[1, 2], [2], [2, 3], []])
  })

  it('keeps nothing of a service that nobody watches, even after its last reader left', () => {
    const hub = hubNow()
    hub.receive('e1', [line(1, 1)])
    const first = reader(hub, [1])
    hub.receive('e1', [line(1, 2), line(7, 3)])
    first.watcher.close()
    expect(reader(hub, [1, 7]).lines).toEqual([])
    expect(first.lines).toEqual(['1:2'])
  })

  it('sends the lines of several services in the order they were written', () => {
    const hub = hubNow()
    reader(hub, [1, 2])
    hub.receive('e1', [line(1, 1), line(1, 4, 2), line(2, 2), line(2, 3)])
    expect(reader(hub, [1, 2]).lines).toEqual(['1:1', '2:2', '2:3', '1:4'])
  })
})

describe('coming back', () => {
  it('repeats nothing, whether the lines are kept here or sent again by the edge', () => {
    const hub = hubNow()
    const first = reader(hub, [1])
    hub.receive('e1', [line(1, 1), line(1, 2)])
    const back = reader(hub, [1], first.ids.at(-1))
    expect(back.lines).toEqual([])
    first.watcher.close()
    back.watcher.close()
    const later = reader(hub, [1], 'e1-2')
    hub.receive('e1', [line(1, 1), line(1, 2), line(1, 3)])
    hub.receive('e1', [line(1, 1), line(1, 2), line(1, 3)])
    expect(later.lines).toEqual(['1:3'])
  })

  it('gets all lines of an edge that was restarted', () => {
    const hub = hubNow()
    const back = reader(hub, [1], 'e1-900')
    hub.receive('e2', [line(1, 1)])
    expect(back.lines).toEqual(['1:1'])
    expect(back.ids).toEqual(['e1-900,e2-1'])
  })

  it('says so when the lines it missed are no longer available', () => {
    const hub = hubNow()
    const back = reader(hub, [1], 'e1-5')
    hub.receive('e1', [line(1, 5000), line(1, 5001)])
    expect(back.lines[0]).toContain('[WARN]')
    expect(back.lines.slice(1)).toEqual(['1:5000', '1:5001'])
  })
})

describe('gaps', () => {
  it('says how many lines of the service are missing, once and to all', () => {
    const hub = hubNow()
    const first = reader(hub, [1])
    hub.receive('e1', [line(1, 10, 1), line(1, 20, 2), line(1, 30, 6), line(1, 31, 7), line(1, 40, 9)])
    const expected = [
      '1:10',
      '1:20',
      '[WARN] 2026-11-21T10:00:00.000Z 3 lines are missing',
      '1:30',
      '1:31',
      '[WARN] 2026-11-21T10:00:00.000Z 1 line is missing',
      '1:40',
    ]
    expect(first.lines).toEqual(expected)
    expect(reader(hub, [1]).lines).toEqual(expected)
  })
})

describe('bounds', () => {
  it('keeps the last thousand lines of a service', () => {
    const hub = hubNow()
    reader(hub, [1])
    for (let seq = 1; seq <= 1500; seq++) hub.receive('e1', [line(1, seq)])
    const { lines } = reader(hub, [1])
    expect(lines).toHaveLength(1000)
    expect(lines[0]).toBe('1:501')
  })

  it('removes terminal control characters', () => {
    const hub = hubNow()
    const { lines } = reader(hub, [1])
    hub.receive('e1', [{ service: 1, seq: 1, number: 1, text: 'GET /\u001b[31m\u0000\r\n\u202eevil' }])
    expect(lines).toEqual(['GET /[31mevil'])
  })

  it('accepts any Last-Event-ID without harm', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9,-]{0,600}$/)), (id) => {
        const hub = hubNow()
        const { lines } = reader(hub, [1], id)
        hub.receive('zz9', [line(1, 999_999_999_999_999)])
        return lines.length <= 2
      }),
    )
  })
})
