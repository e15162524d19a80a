import { describe, expect, test } from 'vitest'
import { parseLogLine } from './haproxy-log-line.ts'
import { explainStart } from './haproxy-words.ts'

const at = '1795252758123'
const text = (rest: string) => parseLogLine(`E|7|${at}|203.0.113.5|41|${rest}`)?.log?.text

describe('a line of the log', () => {
  test.each([
    ['200|1234|14|--||GET /path', '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /path" 200 1.2KB 14ms'],
    ['404|999|999|--||GET /', '[WARN] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 404 999B 999ms'],
    ['500|1500000|1500|--||POST /', '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "POST /" 500 1.5MB 1.5s'],
    [
      '503|1|61000|SC||GET /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 503 1B 1m01s the service refused the connection',
    ],
    [
      '504|1|3725000|sH||GET /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 504 1B 1h02m the service did not answer in time',
    ],
    ['-1|0|5|CR||GET /', '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" - 0B 5ms the visitor left'],
    [
      '403|1|5|LR|blocked|GET /',
      '[WARN] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 403 1B 5ms the IP list of the service does not allow this address',
    ],
    [
      '200|1|5|SD||GET /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 200 1B 5ms the service broke off its answer',
    ],
    [
      '101|999950000|5|CD||GET /ws',
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /ws" 101 1.0GB 5ms websocket closed',
    ],
    ['200|1|5|--||G|T /a|b', '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "G|T /a|b" 200 1B 5ms'],
    [
      '200|1|5|--||GET /"\u001b[31m',
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /%22?[31m" 200 1B 5ms',
    ],
  ])('%s', (rest, expected) => {
    expect(text(rest)).toBe(expected)
  })

  test('never outgrows what the server takes', () => {
    expect(text(`200|1|5|--||GET /${'x'.repeat(15000)}`)?.length).toBeLessThan(2048)
  })

  test('counts also when it belongs to nobody', () => {
    expect(parseLogLine(`E|-|${at}|203.0.113.5|42|400|1|5|PR|-|-`)).toEqual({ counter: 42, log: null })
    expect(parseLogLine(`E|7|${at}|203.0.113.5|41|200|1|5|--||GET /`)?.counter).toBe(41)
    expect(parseLogLine(`U|7|${at}|203.0.113.5|GET /ws`)).toEqual({
      counter: null,
      log: { service: 7, text: '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /ws" 101 websocket opened' },
    })
  })

  test.each(['', 'rubbish', 'E|x|1|2', 'U|7|x|1|y'])('%j is none', (line) => {
    expect(parseLogLine(line)).toBe(undefined)
  })
})

describe('a start that failed', () => {
  const bind = (reason: string, where: string) =>
    `[NOTICE]   (1) : haproxy version is 2.6.12\n[ALERT]    (1) : Binding [x.cfg:3] for frontend http: cannot bind socket (${reason}) for [${where}]\n`

  test.each([
    [bind('Address already in use', '0.0.0.0:80'), 'Port 80 is held by another program'],
    [
      bind('Address already in use', ':::443') + bind('Address already in use', '0.0.0.0:80'),
      'Ports 80 and 443 are held by another program',
    ],
    [bind('Permission denied', '0.0.0.0:80'), 'HAProxy may not open port 80: it needs root'],
    [
      '[ALERT]    (1) : config : parsing [x:1] : unknown keyword',
      'HAProxy does not start: parsing [x:1] : unknown keyword',
    ],
    ['', 'HAProxy does not start: it gave no reason'],
  ])('%j', (output, words) => {
    expect(explainStart(output)).toBe(words)
  })
})
