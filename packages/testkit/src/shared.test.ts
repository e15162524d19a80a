import { beforeEach, describe, expect, it } from 'vitest'
import { fresh, shared } from './shared.ts'

const events: string[] = []
let made = 0
const make = (name: string) => () => {
  const number = ++made
  events.push(`${name} ${number} started`)
  return { number, note: '', close: async () => void events.push(`${name} ${number} closed`) }
}

describe('what tests share', () => {
  const first = shared(make('first'))
  const second = shared(
    async () => ({ ...make('second')(), of: first.number }),
    ({ number }) => events.push(`second ${number} ended`),
  )
  const each = fresh(make('each'))
  beforeEach(() => {
    each.note = `${first.note}.`
  })
  it('starts once, in order of declaration', () => {
    expect([second.of, each.note, 'number' in each]).toEqual([first.number, '.', true])
    first.note = 'kept'
  })
  it('is the same in the next test, together with fresh things', () => {
    expect({ ...each }).toMatchObject({ number: 4, note: 'kept.' })
  })
})

it('is closed in reverse, each in its own way', () => {
  expect(events).toEqual([
    ...['first 1 started', 'second 2 started'],
    ...['each 3 started', 'each 3 closed', 'each 4 started', 'each 4 closed'],
    ...['second 2 ended', 'first 1 closed'],
  ])
})

describe('what nothing has started yet', () => {
  const early = shared(make('early'))
  expect(() => early.number).toThrow('only while tests run')
  it('exists once tests run', () => expect(early.note).toBe(''))
})
