import type { ServiceCount } from '@postern/contract/edge/edge-messages'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLedger, emptyLedger, type Ledger, LedgerState } from './ledger.ts'
import type { Count, Reading } from './reading.ts'

const reading = (source: string, ...rows: ServiceCount[]): Reading => ({
  source,
  counts: new Map(rows.map(([service, ...count]): [number, Count] => [service, count])),
})
/** The ledger of a new edge, which reads what the last one wrote. */
const reopen = (ledger: Ledger) => createLedger(LedgerState.parse(JSON.parse(JSON.stringify(ledger.state()))))
const all = (ledger: Ledger) => ledger.state().waiting.flatMap(({ counts }) => counts)

describe('a ledger', () => {
  test('counts what was added, and new counters from their beginning', () => {
    const ledger = createLedger(emptyLedger('a'))
    ledger.take([reading('one', [1, 2, 30, 400])], 10)
    ledger.take([reading('one', [1, 2, 30, 400])], 11)
    ledger.take([reading('one', [1, 3, 35, 406]), reading('two', [1, 1, 1, 1], [2, 0, 7, 0])], 12)
    expect(ledger.state().waiting).toEqual([
      { seq: 1, minute: 10, counts: [[1, 2, 30, 400]] },
      {
        seq: 2,
        minute: 12,
        counts: [
          [1, 2, 6, 7],
          [2, 0, 7, 0],
        ],
      },
    ])
  })

  test('does not count what counters held when it began', () => {
    const ledger = createLedger(emptyLedger('a'))
    ledger.begin([reading('one', [1, 2, 30, 400])])
    ledger.take([reading('one', [1, 2, 31, 400])], 10)
    expect(all(ledger)).toEqual([[1, 0, 1, 0]])
  })

  test('counts a source that fails to answer now and then only once', () => {
    const ledger = createLedger(emptyLedger('a'))
    ledger.take([reading('one', [1, 1, 1, 1])], 1)
    for (let missing = 0; missing < 50; missing++) ledger.take([], 2)
    reopen(ledger).take([reading('one', [1, 1, 1, 1])], 3)
    ledger.take([reading('one', [1, 1, 1, 2])], 3)
    expect(all(ledger)).toEqual([
      [1, 1, 1, 1],
      [1, 0, 0, 1],
    ])
  })

  test('has nothing that the server would refuse, whatever a HAProxy that was taken over says', () => {
    const most = Number.MAX_SAFE_INTEGER
    const count = fc.constantFrom(0, 1, 2 ** 32, most - 1, most)
    const row = fc.tuple(fc.constantFrom(1, 2), count, count, count)
    const readings = fc.array(fc.tuple(fc.constantFrom('one', 'two'), row), { maxLength: 4 })
    fc.assert(
      fc.property(fc.array(readings, { maxLength: 6 }), (takes) => {
        const ledger = createLedger(emptyLedger('a'))
        for (const [minute, each] of takes.entries())
          ledger.take(
            each.map(([source, row]) => reading(source, row)),
            minute,
          )
        reopen(ledger)
      }),
    )
  })

  test('forgets sources that are gone', () => {
    const ledger = createLedger(emptyLedger('a'))
    ledger.take([reading('one', [1, 1, 1, 1])], 1)
    for (let missing = 0; missing < 200; missing++) ledger.take([reading('two')], 2)
    expect(Object.keys(ledger.state().sources)).toEqual(['two'])
  })

  test('takes a counter that went down as restarted, and one of 32 bits as wrapped around', () => {
    const ledger = createLedger(emptyLedger('a'))
    ledger.begin([reading('one', [1, 5, 500, 500], [2, 2 ** 32 - 1, 5, 5])])
    ledger.take([reading('one', [1, 1, 20, 30], [2, 1, 15, 15])], 1)
    expect(all(ledger)).toEqual([
      [1, 1, 20, 30],
      [2, 2, 10, 10],
    ])
  })

  test('keeps a batch until the server has it', () => {
    const ledger = createLedger(emptyLedger('a'))
    for (let minute = 1; minute <= 3; minute++) ledger.take([reading('one', [1, minute, 0, 0])], minute)
    expect(ledger.next()?.seq).toBe(1)
    ledger.stored(2, 'b')
    expect([ledger.name, ledger.next()?.seq]).toEqual(['a', 3])
    expect(reopen(ledger).next()?.seq).toBe(3)
  })

  test('gets a new id when the server has more than it has sent', () => {
    const ledger = createLedger(emptyLedger('a'))
    ledger.take([reading('one', [1, 1, 0, 0])], 1)
    ledger.stored(7, 'b')
    ledger.take([reading('one', [1, 2, 0, 0])], 2)
    expect([ledger.name, ledger.next()?.seq]).toEqual(['b', 1])
  })

  test('stays bounded during hours without a server, and loses nothing', () => {
    const ledger = createLedger(emptyLedger('a'))
    for (let minute = 1; minute <= 1000; minute++)
      ledger.take(
        [reading('one', ...Array.from({ length: 600 }, (_, i): ServiceCount => [i + 1, minute, 0, 0]))],
        minute,
      )
    expect(ledger.state().waiting.length).toBeLessThanOrEqual(201)
    let total = 0
    for (let batch = ledger.next(); batch; batch = ledger.next()) {
      expect(batch.counts.length).toBeLessThanOrEqual(500)
      for (const [, connections] of batch.counts) total += connections
      ledger.stored(batch.seq, 'b')
      ledger.take([], 1001)
    }
    expect(total).toBe(600 * 1000)
  })

  test('counts each byte once, whenever edge and server crash and whatever HAProxy does', () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('traffic' as const),
        service: fc.integer({ min: 1, max: 3 }),
        bytes: fc.nat(1000),
      }),
      fc
        .constantFrom(...(['count', 'crash', 'reload', 'deliver', 'lose the answer'] as const))
        .map((kind) => ({ kind })),
    )
    const holds = (steps: readonly ({ kind: string } & { service?: number; bytes?: number })[]) => {
      let ledger = createLedger(emptyLedger('a'))
      let [generation, spent, received, last] = [1, 0, 0, 0]
      let counters = new Map<number, Count>()
      const count = () => ledger.take([{ source: `haproxy ${generation}`, counts: new Map(counters) }], 1)
      const deliver = () => {
        const batch = ledger.next()
        if (!batch) return 0
        if (batch.seq > last) for (const [, , bytes] of batch.counts) received += bytes
        last = Math.max(last, batch.seq)
        return last
      }
      const actions: Record<string, () => void> = {
        count,
        crash: () => {
          ledger = reopen(ledger)
        },
        reload: () => {
          count()
          generation++
          counters = new Map()
        },
        deliver: () => ledger.stored(deliver(), 'b'),
        'lose the answer': () => void deliver(),
      }
      for (const { kind, service = 1, bytes = 0 } of steps) {
        if (kind === 'traffic') {
          const [connections, before] = counters.get(service) ?? [0, 0]
          counters.set(service, [connections + 1, before + bytes, 0])
          spent += bytes
        } else actions[kind]?.()
      }
      count()
      while (ledger.next()) ledger.stored(deliver(), 'b')
      return received === spent
    }
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), holds), { numRuns: 500 })
  })
})
