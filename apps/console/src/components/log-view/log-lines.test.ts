import { describe, expect, it } from 'vitest'
import {
  appendLines,
  clearLines,
  countLevels,
  countNewer,
  EMPTY_BUFFER,
  filterLines,
  findDays,
  parseLogLine,
  toggleLevel,
} from './log-lines.ts'

describe('parseLogLine', () => {
  it('splits a line of the proxy', () => {
    const text = '[INFO] 2026-11-21T10:00:00.123Z 203.0.113.5 "GET /path" 200 1.2KB 14ms'
    expect(parseLogLine(text, 7)).toEqual({
      key: 7,
      level: 'info',
      marker: '[INFO]',
      day: '2026-11-21',
      clock: '10:00:00.123',
      from: '203.0.113.5',
      asked: '"GET /path"',
      status: '200',
      rest: '1.2KB 14ms',
      text,
    })
  })

  it.each([
    '[INFO] 2026-11-21T10:00:00.123Z 203.0.113.5:32660 opened',
    '[WARN] 2026-11-21T10:00:00.123Z 203.0.113.5:32660 refused the IP list of the service does not allow this address',
  ])('splits a line that is not about a request only up to its time: %s', (text) => {
    const { from, asked, status, rest } = parseLogLine(text, 0)
    expect({ from, asked, status }).toEqual({ from: '', asked: '', status: '' })
    expect(text.endsWith(` ${rest}`)).toBe(true)
    expect(rest).toMatch(/^203/)
  })

  it.each([
    ['[ERROR] x', 'error'],
    ['[WARN] x', 'warn'],
    ['[WARNING] x', 'warn'],
    ['[DEBUG] x', 'debug'],
    ['plain words', 'other'],
    ['[TRACE] x', 'other'],
    ['12:00 app: [ERROR] x', 'error'],
    ['[INFO] 203.0.113.5 "GET /[ERROR]" 200', 'info'],
  ])('reads the level of %s', (text, level) => {
    expect(parseLogLine(text, 0).level).toBe(level)
  })

  it('does not split a line without a marker at its start', () => {
    expect(parseLogLine('app: [ERROR] x', 0)).toMatchObject({
      marker: '',
      clock: '',
      rest: 'app: [ERROR] x',
    })
    expect(parseLogLine('[WARN] no time here', 0)).toMatchObject({
      marker: '[WARN]',
      clock: '',
      rest: 'no time here',
    })
  })
})

const numbered = (from: number, count: number) => Array.from({ length: count }, (_, i) => `line ${from + i}`)

describe('the log buffer', () => {
  it('keeps the last 1000 lines, each with its own key', () => {
    let buffer = EMPTY_BUFFER
    for (let i = 0; i < 5; i++) buffer = appendLines(buffer, numbered(i * 300, 300))
    expect(buffer.lines).toHaveLength(1000)
    expect(buffer.lines[0]).toMatchObject({ text: 'line 500', key: 500 })
    expect(buffer.lines.at(-1)).toMatchObject({ text: 'line 1499', key: 1499 })
  })

  it('takes the end of a batch that is larger than itself', () => {
    const buffer = appendLines(EMPTY_BUFFER, numbered(0, 2500))
    expect(buffer.lines).toHaveLength(1000)
    expect(buffer.lines[0]).toMatchObject({ text: 'line 1500', key: 1500 })
  })

  it('is the same object when nothing came', () => {
    expect(appendLines(EMPTY_BUFFER, [])).toBe(EMPTY_BUFFER)
  })

  it('never uses a key again after it was cleared', () => {
    const cleared = clearLines(appendLines(EMPTY_BUFFER, ['a', 'b']))
    expect(cleared.lines).toEqual([])
    expect(appendLines(cleared, ['c']).lines[0]?.key).toBe(2)
  })
})

describe('what came since', () => {
  const then = appendLines(EMPTY_BUFFER, ['[INFO] a', '[ERROR] b'])
  const now = appendLines(appendLines(then, numbered(0, 1200)), ['[ERROR] c', '[INFO] d'])

  it('counts every line, even those that are no longer kept', () => {
    expect(countNewer(now, then, { hidden: new Set(), text: '' })).toBe(1202)
  })
  it('counts only kept lines that a filter shows', () => {
    expect(countNewer(now, then, { hidden: new Set(['info']), text: '] ' })).toBe(1)
    expect(countNewer(then, then, { hidden: new Set(['info']), text: '' })).toBe(0)
  })
})

it('a day begins where the date changes, ignoring lines without one', () => {
  const at = (day: string) => `[INFO] ${day}T10:00:00.000Z x`
  const texts = ['none', at('2026-11-20'), at('2026-11-20'), 'none', at('2026-11-20'), at('2026-11-21')]
  expect([...findDays(appendLines(EMPTY_BUFFER, texts).lines)]).toEqual([1, 5])
})

describe('the filter', () => {
  const { lines } = appendLines(EMPTY_BUFFER, ['[ERROR] Boom', '[INFO] /api', '[DEBUG] x', 'plain'])

  it('hides levels, and never a line without one', () => {
    const shown = filterLines(lines, { hidden: new Set(['error', 'info', 'debug', 'warn']), text: '' })
    expect(shown.map((line) => line.text)).toEqual(['plain'])
  })
  it('finds text whatever its case', () => {
    expect(filterLines(lines, { hidden: new Set(), text: 'BOOM' })).toHaveLength(1)
  })
  it('counts levels', () => {
    expect(countLevels(lines)).toEqual({ error: 1, warn: 0, info: 1, debug: 1 })
  })
  it('switches one level and leaves the others', () => {
    const hidden = toggleLevel(new Set(['debug']), 'info')
    expect([...hidden]).toEqual(['info', 'debug'])
    expect([...toggleLevel(hidden, 'debug')]).toEqual(['info'])
  })
})
