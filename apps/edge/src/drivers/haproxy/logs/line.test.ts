import { costMs } from '@postern/testkit/time'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explainStart } from '../process/process.ts'
import { parseLogLine } from './line.ts'
import type { BackendSign } from './log.ts'

const at = '1795252758123'
const secret = '0123456789abcdef0123456789abcdef'
/** @param end `status|bytes|ms|state|error|node|why|request`, and what only what is kept has */
function lineOf(end: string, id = '7', counter = '41'): string {
  const [status, bytes, ms, state, error, node, why, ...request] = end.split('|')
  const visit = [at, '203.0.113.5', bytes, 77, ms, 3, 9, '10.64.0.2:8080']
  const facts = [id, counter, status, state, error, ...visit, node, why, '-']
  return ['E', secret, ...facts, ...request].join('|')
}
const ended = (end: string) => parseLogLine(lineOf(end), secret)?.log
const text = (rest: string) => ended(rest)?.text

describe('a line of a TCP service', () => {
  const line = (rest: string) => parseLogLine(rest.replace('|', `|${secret}|`), secret)?.log
  const start = '2026-11-21T09:19:18.123Z 203.0.113.5 "tcp 32660"'

  test.each([
    [`O|7|${at}|203.0.113.5|32660`, `[INFO] ${start} opened`],
    [
      `T|7|--|-|-|${at}|203.0.113.5|32660|12|3400|14000|2|10.64.0.2:22`,
      `[INFO] ${start} closed 12B in 3.4KB out 14.0s`,
    ],
    [`T|7|SD|-|-|${at}|203.0.113.5|32660|1|1|5|2|10.64.0.2:22`, `[INFO] ${start} closed 1B in 1B out 5ms`],
    [
      `T|7|PR|blocked|-|${at}|203.0.113.5|32660|0|0|0|2|10.64.0.2:22`,
      `[WARN] ${start} refused the IP list of the service does not allow this address`,
    ],
    [
      `T|7|SC|-|-|${at}|203.0.113.5|32660|0|0|5|2|10.64.0.2:22`,
      `[ERROR] ${start} failed the service refused the connection`,
    ],
    [
      `T|7|sC|-|-|${at}|203.0.113.5|32660|0|0|5|2|10.64.0.2:22`,
      `[ERROR] ${start} failed the connection to the service timed out`,
    ],
    [
      `T|7|K-|-|-|${at}|203.0.113.5|32660|1|2|5|2|10.64.0.2:22`,
      `[INFO] ${start} closed 1B in 2B out 5ms ended because the service no longer admits this visitor`,
    ],
    [
      `T|7|K-|-|down|${at}|203.0.113.5|32660|1|2|5|2|10.64.0.2:22`,
      `[INFO] ${start} closed 1B in 2B out 5ms the tunnel to the node is down`,
    ],
    [
      `F|7|${at}|203.0.113.5|32660|error:0A000416:SSL routines::ssl/tls alert certificate "unknown"`,
      `[WARN] ${start} refused the TLS handshake failed: ssl/tls alert certificate ?unknown?`,
    ],
    [`F|7|${at}|203.0.113.5|32660|-`, `[WARN] ${start} refused the visitor left during the TLS handshake`],
  ])('%s', (text, expected) => {
    expect(line(text)).toMatchObject({ service: 7, text: expected, ...(text[0] === 'F' && { sign: null }) })
  })

  test.each<[string, BackendSign | null]>([
    ['SC', 'failed'],
    ['sC', 'failed'],
    ['CC', null],
    ['PR', null],
    ['K-', null],
    ['--', 'answered'],
    ['cD', 'answered'],
  ])('shows of the backend, when it ends with %s: %s', (state, sign) => {
    expect(line(`T|7|${state}|-|-|${at}|203.0.113.5|32660|0|0|5|2|10.64.0.2:22`)?.sign).toBe(sign)
  })

  test.each([`O|-|${at}|203.0.113.5|32660`, `T|7|--|-|-|${at}|203.0.113.5|32660|12|3400`])(
    'that is cut short or belongs to no service is ignored: %s',
    (text) => {
      expect(line(text)).toBeUndefined()
    },
  )
})

describe('a line of the log', () => {
  test.each([
    [
      '200|1234|14|--|-|-|-|GET /path',
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /path" 200 1.2KB 14ms',
    ],
    ['404|999|999|--|-|-|-|GET /', '[WARN] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 404 999B 999ms'],
    [
      '500|1500000|1500|--|-|-|-|POST /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "POST /" 500 1.5MB 1.5s',
    ],
    [
      '503|1|61000|SC|-|-|-|GET /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 503 1B 1m01s the service refused the connection',
    ],
    [
      '504|1|3725000|sH|-|-|-|GET /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 504 1B 1h02m the service did not answer in time',
    ],
    [
      '-1|0|5|CR|-|-|-|GET /',
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" - 0B 5ms the visitor left',
    ],
    [
      '403|1|5|LR|-|-|blocked|GET /',
      '[WARN] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 403 1B 5ms the IP list of the service does not allow this address',
    ],
    [
      '200|1|5|SD|-|-|-|GET /',
      '[ERROR] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /" 200 1B 5ms the service broke off its answer',
    ],
    [
      '101|999950000|5|CD|-|-|-|GET /ws',
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /ws" 101 1.0GB 5ms websocket closed',
    ],
    ['200|1|5|--|-|-|-|G|T /a|b', '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "G|T /a|b" 200 1B 5ms'],
    [
      '200|1|5|--|-|-|-|GET /"\u001b[31m',
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /%22?[31m" 200 1B 5ms',
    ],
  ])('%s', (rest, expected) => {
    expect(text(rest)).toBe(expected)
  })

  test('never outgrows what the server takes', () => {
    expect(text(`200|1|5|--|-|-|-|GET /${'x'.repeat(15000)}`)?.length).toBeLessThan(2048)
  })

  test('is counted even when it belongs to no service', () => {
    const nobodys = parseLogLine(lineOf('400|1|5|PR|-|-|-|-', '-', '42'), secret)
    expect(nobodys).toEqual({ counter: 42, log: null })
    expect(parseLogLine(lineOf('200|1|5|--|-|-|-|GET /'), secret)?.counter).toBe(41)
    const upgraded = parseLogLine(`U|${secret}|7|${at}|203.0.113.5|GET /ws`, secret)
    expect(upgraded).toMatchObject({ counter: null, log: { service: 7, sign: 'answered' } })
    expect(upgraded?.log?.text).toBe(
      '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /ws" 101 websocket opened',
    )
  })

  test.each([
    '',
    'rubbish',
    `E|${secret}|x|1|2`,
    `U|${secret}|7|x|1|y`,
    `U|7|${at}|6.6.6.6|GET /`,
    `U|${secret.replace('0', '1')}|7|${at}|6.6.6.6|GET /`,
    `U|${secret}|7|${'9'.repeat(30)}|6.6.6.6|GET /`,
  ])('%j is none', (line) => {
    expect(parseLogLine(line, secret)).toBe(undefined)
  })

  test('never throws, whatever stands in its fields', () => {
    const number = fc.oneof(fc.bigInt().map(String), fc.double().map(String), fc.string())
    const fields = fc.array(fc.oneof(number, fc.string({ unit: 'binary' })), { maxLength: 14 })
    const line = fc.tuple(fc.constantFrom('E', 'U', '?'), fields).map(([kind, all]) => [kind, secret, ...all])
    fc.assert(
      fc.property(line, (all) => {
        const log = parseLogLine(all.join('|'), secret)?.log
        expect(log?.text ?? '[').toMatch(/^\[/)
      }),
      { numRuns: 300 },
    )
    const digits = fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String)
    const whole = fc.tuple(...Array.from({ length: 6 }, () => digits))
    fc.assert(
      fc.property(whole, ([id, time, counter, status, bytes, ms]) => {
        const visit = [time, '::1', bytes, bytes, ms, ms, ms, '-:-']
        const parts = [id, counter, status, '--', '-', ...visit, '-', '-', '-', 'GET /']
        const parsed = parseLogLine(`E|${secret}|${parts.join('|')}`, secret)
        expect(Number.isSafeInteger(parsed?.log?.service ?? 0)).toBe(true)
      }),
    )
  })

  test.each([
    ['503|1|5|SC|34|-|-|GET /', 'TLS to the service could not be started'],
    ['502|1|5|SH|43|-|-|GET /', 'TLS to the service could not be started'],
    ['-1|0|5|SD|-|-|-|POST /', 'the service closed the connection without an answer'],
    ['502|1|5|KH|-|down|-|GET /', 'the tunnel to the node is down'],
    ['502|1|5|KH|-|-|-|GET /', 'ended because the service no longer admits this visitor'],
  ])('%s says: %s', (rest, words) => {
    expect(text(rest)).toMatch(new RegExp(`ms ${words}$`))
  })

  test.each([
    ['200|1|5|--|0|-|-|GET /', 'answered'],
    ['500|1|5|--|0|-|-|GET /', 'answered'],
    ['200|1|5|SD|0|-|-|GET /', 'answered'],
    ['200|1|5|CD|0|-|-|GET /', 'answered'],
    ['503|1|5|SC|-|-|-|GET /', 'failed'],
    ['503|1|5|sC|-|-|-|GET /', 'failed'],
    ['502|1|5|SH|43|-|-|GET /', 'failed'],
    ['502|1|5|SH|0|-|-|GET /', 'odd'],
    ['502|1|5|PH|0|-|-|GET /', 'odd'],
    ['-1|0|5|SD|-|-|-|POST /', 'odd'],
    ['400|1|5|--|0|-|-|GET /', 'odd'],
    ['504|1|5|sH|0|-|-|GET /', null],
    ['503|1|5|LR|-|-|disabled|GET /', null],
    ['-1|0|5|CH|-|-|-|GET /', null],
    ['-1|0|5|CC|-|-|-|GET /', null],
  ])('%s: the backend is %s', (rest, sign) => {
    expect(ended(rest)?.sign).toBe(sign)
  })
})

describe('what is kept of a request', () => {
  const visit = `${at}|::ffff:203.0.113.5|2000|300|40`
  const keptOf = (rest: string, head = '7|41|200|--|0') =>
    parseLogLine(`E|${secret}|${head}|${visit}|${rest}`, secret)?.log?.kept

  test('is each field of its line', () => {
    expect(keptOf('3|21|fd00::2:8080|-|-|a%7Cb%40example.com|GET /a|b?x=1?y')).toEqual({
      ...{ at: Number(at), type: 'http', service: 7, source: '203.0.113.5', person: 'a|b@example.com' },
      ...{ method: 'GET', path: '/a|b', query: 'x=1?y', status: 200, sent: 2000, received: 300 },
      ...{ connect: 3, response: 21, total: 40, target: '[fd00::2]:8080', reason: null, detail: null },
    })
  })

  test.each([
    ['-1|-1|-:-|-|blocked|-|GET /', { connect: null, response: null, target: null, reason: 'blocked' }],
    ['1|2|unix:0|-|-|%zz|GET /?-', { target: null, person: null, query: null }],
    ['1|2|10.0.0.1:80|-|-|-|-', { method: null, path: null }],
    ['1|2|10.0.0.1:80|-|upgraded|-|GET /ws', { status: 101, reason: null }],
    ['1|2|10.0.0.1:80|down|-|-|GET /\u001b\u00e9', { path: '/??' }],
  ])('%s', (rest, expected) => {
    expect(keptOf(rest)).toMatchObject(expected)
  })

  test.each([
    ['7|41|502|SH|0', 'no-answer'],
    ['7|41|503|SCSC|0', 'refused'],
    ['7|41|502|SH|43', 'tls'],
    ['7|41|-1|CR|0', 'left'],
    ['7|41|200|K-|0', 'ended'],
  ])('that ended as %s has the reason %s', (head, reason) => {
    expect(keptOf('1|2|10.0.0.1:80|-|-|-|GET /', head)).toMatchObject({ reason })
  })

  test('has no longer text than the file of kept requests has room for', () => {
    const long = 'X'.repeat(3000)
    const { method, path, query } = keptOf(`1|2|10.0.0.1:80|-|-|-|${long} /${long}?${long}`) ?? {}
    expect([method, path, query].map((text) => text?.length)).toEqual([1500, 1500, 1500])
  })

  test('is nothing of a line that is cut short', () => {
    expect(keptOf('3|21|fd00::2:8080')).toBe(undefined)
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
    [
      '[ALERT]    (1) : [haproxy.main()] Cannot raise FD limit to 763, limit is 40.',
      'HAProxy needs 763 open files and may have 40: raise the limit of the program that starts Postern (ulimit -Hn, or LimitNOFILE= of its unit)',
    ],
    ['', 'HAProxy does not start: it gave no reason'],
  ])('%j', (output, words) => {
    expect(explainStart(output)).toBe(words)
  })
})

test('a line that nobody reads costs less than half of a formatted one', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => lineOf(`200|1234|14|--|0|-|-|GET /${index}`))
  const parse = () => lines.map((line) => parseLogLine(line, secret)?.log)
  const costs: Record<'parsed' | 'read', number[]> = { parsed: [], read: [] }
  for (let round = 0; round < 9; round++) {
    costs.parsed.push(await costMs(parse))
    costs.read.push(await costMs(() => parse().map((log) => log?.text)))
  }
  expect(Math.min(...costs.parsed) * 2).toBeLessThan(Math.min(...costs.read))
})
