import type { ManyResult } from '@postern/contract/services/many'
import { expect, it } from 'vitest'
import { ApiError } from '../../api/api-error.ts'
import { type Part, runParts } from './run-parts.ts'

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ id: from + i }))
const answer = (done: { id: number }[], next: number | null = null): ManyResult => ({
  ...{ done: done.map(({ id }) => ({ id, updated_at: null })), unchanged: 0, refused: [], next },
})
const quiet = { onProgress: () => undefined, isStopped: () => false }

it('sends named records in parts, and says how far it is', async () => {
  const parts: number[] = []
  const steps: number[] = []
  const send = async (part: Part<{ id: number }>) => {
    const { records } = part as { records: { id: number }[] }
    parts.push(records.length)
    return answer(records)
  }
  const outcome = await runParts({ records: ids(1, 1100) }, send, {
    ...{ onProgress: (handled) => steps.push(handled), isStopped: () => false },
  })
  expect([parts, steps]).toEqual([
    [500, 500, 100],
    [500, 1000, 1100],
  ])
  expect(outcome.done).toHaveLength(1100)
})

it('continues after the last id of a filter, up to the counted total', async () => {
  const parts: Part<unknown>[] = []
  const send = async (part: Part<unknown>) => {
    parts.push(part)
    const { after, limit } = part as { after: number; limit: number }
    return answer(ids(after + 1, limit), after + limit)
  }
  const outcome = await runParts({ filter: { search: 'a' }, total: 1200 }, send, quiet)
  expect(parts).toEqual([
    { filter: { search: 'a' }, after: 0, limit: 500 },
    { filter: { search: 'a' }, after: 500, limit: 500 },
    { filter: { search: 'a' }, after: 1000, limit: 200 },
  ])
  expect(outcome.handled).toBe(1200)
})

it('ends when the filter finds no more than that', async () => {
  const outcome = await runParts({ filter: {}, total: 9000 }, async () => answer(ids(1, 3)), quiet)
  expect(outcome).toMatchObject({ handled: 3 })
  expect(outcome.failure).toBeUndefined()
})

it('keeps what was done before a failure, and says what failed', async () => {
  let calls = 0
  const send = async (part: Part<{ id: number }>) => {
    if (++calls === 2) throw new ApiError('The server could not be reached.', { status: 0, code: 'network' })
    return answer((part as { records: { id: number }[] }).records)
  }
  const outcome = await runParts({ records: ids(1, 1100) }, send, quiet)
  expect([outcome.done.length, outcome.failure]).toEqual([500, 'The server could not be reached.'])
})

it('stops between two parts when a person says so', async () => {
  const send = async (part: Part<{ id: number }>) => answer((part as { records: { id: number }[] }).records)
  const outcome = await runParts({ records: ids(1, 1100) }, send, { ...quiet, isStopped: () => true })
  expect([outcome.done.length, outcome.failure]).toEqual([500, ''])
})
