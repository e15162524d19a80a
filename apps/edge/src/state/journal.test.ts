import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import { EdgeMessage as Schema } from '@postern/contract/edge/edge-messages'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createJournal } from './journal.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** All that it tells while there is a server. */
function listen() {
  const journal = createJournal()
  const log = pino({ name: 'edge', level: 'debug' }, journal)
  let isConnected = true
  const told: string[] = []
  journal.start((message: EdgeMessage) => {
    if (!isConnected) return false
    const parsed = Schema.parse(message)
    if (parsed.type === 'journal') told.push(...parsed.lines.map((line) => JSON.parse(line).msg))
    return true
  })
  return {
    log,
    told,
    connect: (is: boolean) => {
      isConnected = is
    },
    pass: (ms: number) => vi.advanceTimersByTime(ms),
    close: journal.close,
  }
}

test('the journal is told in order, without what is only for who looks for an error', () => {
  const { log, told, pass, close } = listen()
  log.warn('one')
  log.debug('nobody')
  log.info('two')
  pass(1000)
  pass(5000)
  expect(told).toEqual(['one', 'two'])
  close()
})

test('while the server is away it waits, bounded, and the newest lines stay', () => {
  const { log, told, pass, connect, close } = listen()
  connect(false)
  for (let i = 0; i < 2000; i++) log.info(`line ${i}`)
  log.info('x'.repeat(100_000))
  pass(10_000)
  expect(told).toEqual([])
  connect(true)
  pass(20_000)
  expect(told).toEqual(Array.from({ length: 500 }, (_, i) => `line ${1500 + i}`))
  close()
})
