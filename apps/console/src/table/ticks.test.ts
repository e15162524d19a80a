import { describe, expect, it } from 'vitest'
import { type Ticks, tickAll, tickPage, tickRow } from './ticks.ts'

const PAGE = [1, 2, 3, 4, 5].map((id) => ({ id }))
type Row = (typeof PAGE)[number]
const NONE: Ticks<Row> = { rows: new Map(), isAll: false, last: undefined }
const idsOf = (ticks: Ticks<Row>) => [...ticks.rows.keys()].sort()
const tick = (ticks: Ticks<Row>, ...ids: number[]) =>
  ids.reduce((all, id) => tickRow(all, PAGE, id, false), ticks)

describe('a row', () => {
  it('is ticked and cleared', () => {
    expect(idsOf(tick(NONE, 2, 4))).toEqual([2, 4])
    expect(idsOf(tick(NONE, 2, 4, 2))).toEqual([4])
  })

  it('goes with all between it and the one before', () => {
    expect(idsOf(tickRow(tick(NONE, 4), PAGE, 2, true))).toEqual([2, 3, 4])
    const cleared = tickRow(tick(NONE, 1, 2, 3, 4, 5, 2), PAGE, 4, true)
    expect(idsOf(cleared)).toEqual([1, 5])
  })

  it('is alone when nothing was ticked on this page before', () => {
    expect(idsOf(tickRow(NONE, PAGE, 3, true))).toEqual([3])
    expect(idsOf(tickRow({ ...NONE, last: 99 }, PAGE, 3, true))).toEqual([3])
  })
})

describe('a page', () => {
  it('is ticked as a whole, then cleared, and leaves other pages alone', () => {
    const other: Ticks<Row> = { ...NONE, rows: new Map([[9, { id: 9 }]]) }
    const whole = tickPage(tick(other, 2), PAGE)
    expect(idsOf(whole)).toEqual([1, 2, 3, 4, 5, 9])
    expect(idsOf(tickPage(whole, PAGE))).toEqual([9])
  })
})

describe('all pages', () => {
  it('become the rest of this page when one of it is cleared', () => {
    const left = tickRow(tickAll<Row>(), PAGE, 3, false)
    expect([left.isAll, idsOf(left)]).toEqual([false, [1, 2, 4, 5]])
  })

  it('are cleared together with the page', () => {
    const left = tickPage(tickAll<Row>(), PAGE)
    expect([left.isAll, idsOf(left)]).toEqual([false, []])
  })
})
