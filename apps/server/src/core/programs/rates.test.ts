import { LIMITS } from '@postern/contract/limits'
import { expect, test } from 'vitest'
import { TooManyError } from '../errors.ts'
import { createProgramRates } from './rates.ts'

let now = 0
const rates = () => {
  now = 0
  return createProgramRates(() => now)
}

function takeAll(taker: ReturnType<typeof rates>, tokenId: number): number {
  for (let count = 0; count < 10_000; count++) {
    try {
      taker.take(tokenId)
    } catch (error) {
      expect(error).toBeInstanceOf(TooManyError)
      return count
    }
  }
  return 10_000
}

const waitOf = (work: () => void) => {
  try {
    work()
  } catch (error) {
    return error instanceof TooManyError ? error.retryAfter : error
  }
  return 'none'
}

test('a minute’s requests may come at once, and come back over a minute', () => {
  const taker = rates()
  expect(takeAll(taker, 1)).toBe(LIMITS.apiTokenRequests)
  now += 6000
  expect(takeAll(taker, 1)).toBe(LIMITS.apiTokenRequests / 10)
  now += 3_600_000
  expect(takeAll(taker, 1)).toBe(LIMITS.apiTokenRequests)
})

test('each token has its own', () => {
  const taker = rates()
  takeAll(taker, 1)
  expect(takeAll(taker, 2)).toBe(LIMITS.apiTokenRequests)
})

test('the wait is in whole seconds, and long enough', () => {
  const taker = rates()
  takeAll(taker, 1)
  expect(waitOf(() => taker.take(1))).toBe(1)
  now += 1000
  expect(waitOf(() => taker.take(1))).toBe('none')
})

test('a clock that is set back neither gives nor takes', () => {
  const taker = rates()
  takeAll(taker, 1)
  now -= 3_600_000
  expect(takeAll(taker, 1)).toBe(0)
  now += 3_600_000 + 60_000
  expect(takeAll(taker, 1)).toBe(LIMITS.apiTokenRequests)
})

test('many tokens leave no more than so many budgets behind', () => {
  const taker = rates()
  takeAll(taker, 1)
  for (let tokenId = 2; tokenId < 30_000; tokenId++) taker.take(tokenId)
  // The oldest was forgotten, so that its budget is whole.
  expect(waitOf(() => taker.take(1))).toBe('none')
})
