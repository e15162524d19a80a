import { RESPONSE_BUCKETS } from '@postern/contract/edge/response-times'
import { describe, expect, test } from 'vitest'
import { createAnswers } from './answers.ts'
import { createLedger, emptyLedger, LedgerState } from './ledger.ts'

const note = (service: number, status: number | null, response: number | null) =>
  ({ type: 'http', service, status, response }) as const

describe('answers', () => {
  test('are counted by the bucket of their time, and errors also when the proxy answered', () => {
    const answers = createAnswers()
    for (const request of [
      note(7, 200, 1),
      note(7, 404, 2),
      note(7, 500, 2),
      note(7, 503, null),
      note(9, 200, 99_999),
    ])
      answers.note(request)
    expect(answers.takeAll()).toEqual([
      [7, 2, [1, 2]],
      [9, 0, [...Array(RESPONSE_BUCKETS - 1).fill(0), 1]],
    ])
    expect(answers.takeAll()).toEqual([])
  })

  test.each([
    ['a WebSocket', note(7, 101, 5)],
    ['a page of the proxy', note(7, 403, null)],
    ['a visitor who left', note(7, null, null)],
    ['a connection', { type: 'tcp', service: 7, status: null, response: null } as const],
  ])('have nothing of %s', (_, request) => {
    const answers = createAnswers()
    answers.note(request)
    expect(answers.takeAll()).toEqual([])
  })
})

describe('a ledger', () => {
  /** That of the next edge. */
  const reopen = (state: LedgerState) => createLedger(LedgerState.parse(JSON.parse(JSON.stringify(state))))
  const counted = (...requests: ReturnType<typeof note>[]) => {
    const answers = createAnswers()
    for (const request of requests) answers.note(request)
    return answers
  }

  test('sends answers with the counts, and those whose request was counted before', () => {
    const ledger = createLedger(emptyLedger('a'))
    const reading = { source: 'one', counts: new Map([[1, [2, 30, 400] as const]]) }
    expect(ledger.take([reading], 10, counted(note(1, 200, 5)))).toBe(true)
    expect(ledger.take([reading], 11, counted(note(1, 502, null)))).toBe(true)
    expect(reopen(ledger.state()).state().waiting).toEqual([
      { seq: 1, minute: 10, counts: [[1, 2, 30, 400]], answers: [[1, 0, [0, 0, 0, 1]]] },
      { seq: 2, minute: 11, counts: [[1, 0, 0, 0]], answers: [[1, 1, []]] },
    ])
  })

  test('keeps answers for hours without a server, in batches of what the contract allows', () => {
    const ledger = createLedger(emptyLedger('a'))
    const services = Array.from({ length: 600 }, (_, index) => index + 1)
    for (let minute = 1; minute <= 150; minute++)
      ledger.take([], minute, counted(...services.map((service) => note(service, 200, 5))))
    const next = reopen(ledger.state())
    let total = 0
    for (let batch = next.next(); batch; batch = next.next()) {
      expect(batch.answers?.length).toBeLessThanOrEqual(500)
      for (const [, , buckets] of batch.answers ?? []) total += buckets[3] ?? 0
      next.stored(batch.seq, 'b')
      next.take([], 151)
    }
    expect(total).toBe(600 * 150)
  })

  test('reads the file of an edge that counted none', () => {
    const { pendingAnswers: _, ...former } = emptyLedger('a')
    const ledger = createLedger(LedgerState.parse(former))
    ledger.take([], 1, counted(note(1, 200, 1)))
    expect(ledger.next()?.answers).toEqual([[1, 0, [1]]])
  })
})
