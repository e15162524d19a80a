import { beforeEach, expect, test } from 'vitest'
import { createTicketCache } from './client.ts'

let time: number
let token: string
let count: number

beforeEach(() => {
  time = 0
  token = 'pts_1'
  count = 0
})

const bookOf = (fetchTicket = async () => ({ ticket: `ptt_${++count}`, expires_in: 60 })) =>
  createTicketCache(fetchTicket, { token: () => token, now: () => time })

test('requests within its time share one ticket, even while it is being fetched', async () => {
  const book = bookOf()
  expect(await Promise.all([book.get(false), book.get(false)])).toEqual(['ptt_1', 'ptt_1'])
  time = 49_999
  expect(await book.get(false)).toBe('ptt_1')
  time = 50_000
  expect(await book.get(false)).toBe('ptt_2')
})

test('a refused ticket, and one of an earlier session, are not used again', async () => {
  const book = bookOf()
  await book.get(false)
  expect(await book.get(true)).toBe('ptt_2')
  token = 'pts_2'
  expect(await book.get(false)).toBe('ptt_3')
})

test('a failure is passed on, and the next request tries again', async () => {
  const failing = bookOf(async () => {
    if (++count === 1) throw new Error('away')
    return { ticket: `ptt_${count}`, expires_in: 60 }
  })
  await expect(failing.get(false)).rejects.toThrow('away')
  expect(await failing.get(false)).toBe('ptt_2')
})
