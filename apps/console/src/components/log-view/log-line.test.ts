import { describe, expect, it } from 'vitest'
import { parseLogLine, splitMatches } from './log-line.ts'

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

describe('splitMatches', () => {
  it('puts every match at an odd place and loses nothing', () => {
    expect(splitMatches('GET /Api/api', 'API')).toEqual(['GET /', 'Api', '/', 'api', ''])
    expect(splitMatches('none', 'api')).toEqual(['none'])
    expect(splitMatches('all', '')).toEqual(['all'])
  })
  it('marks nothing where lowering changes the length', () => {
    expect(splitMatches('İapi', 'api')).toEqual(['İapi'])
  })
})
