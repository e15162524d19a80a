import { describe, expect, it } from 'vitest'
import {
  appendLines,
  clearLines,
  countLevels,
  EMPTY_BUFFER,
  filterLines,
  parseLogLine,
  toggleLevel,
} from './log-lines.ts'

describe('parseLogLine', () => {
  it('takes a line of the proxy apart', () => {
    const text = '[INFO] 2026-11-21T10:00:00.123Z 203.0.113.5 "GET /path" 200 1.2KB 14ms'
    expect(parseLogLine(text, 7)).toEqual({
      key: 7,
      level: 'info',
      marker: '[INFO]',
      time: '2026-11-21T10:00:00.123Z',
      rest: '203.0.113.5 "GET /path" 200 1.2KB 14ms',
      text,
    })
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

  it('keeps a line that begins with no marker in one piece', () => {
    expect(parseLogLine('app: [ERROR] x', 0)).toMatchObject({
      marker: '',
      time: '',
      rest: 'app: [ERROR] x',
    })
    expect(parseLogLine('[WARN] no time here', 0)).toMatchObject({
      marker: '[WARN]',
      time: '',
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
