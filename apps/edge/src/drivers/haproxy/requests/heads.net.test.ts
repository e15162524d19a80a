import { connect } from 'node:http2'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startRawUpstream } from '../../../../test/raw-upstream.ts'

const HOST = 'app.example.com'

const lab = shared(() => makeHaproxyLab())
const service = shared(() => startRawUpstream())
beforeAll(async () => {
  await lab.apply([makeLabRoute(2, service.port, { domain: HOST })])
})

/** Fields of this many bytes in all, as a line each. */
function linesOf(bytes: number, count: number): string[] {
  const each = Math.floor(bytes / count)
  return Array.from({ length: count }, (_, i) => `x-${String(i).padStart(3, '0')}: `.padEnd(each - 2, 'v'))
}

function ask(lines: string[], first = 'GET / HTTP/1.1'): Promise<string> {
  service.heads.length = 0
  const bytes = [first, `Host: ${HOST}`, 'Connection: close', ...lines, '', ''].join('\r\n')
  return sendRaw(lab.httpsPort, bytes)
}

/** @returns the status and the size of the answer's head. */
function askH2(lines: string[]): Promise<[status: number, size: number]> {
  service.heads.length = 0
  const session = connect(`https://127.0.0.1:${lab.httpsPort}`, {
    rejectUnauthorized: false,
    settings: { maxHeaderListSize: 200_000 },
    maxHeaderListPairs: 512,
    maxSendHeaderBlockLength: 200_000,
  })
  const fields = Object.fromEntries(lines.map((line) => line.split(': ')))
  return new Promise<[number, number]>((resolve, reject) => {
    const stream = session.request({ ':authority': HOST, ...fields })
    stream.on('response', (answer) => resolve([Number(answer[':status']), JSON.stringify(answer).length]))
    stream.on('error', reject).resume()
    session.on('error', reject)
  }).finally(() => session.close())
}

const lineWith = (text: string) =>
  until('the line', () => lab.logs.find((log) => log.service === 2 && log.text.includes(text)))

describe('a request', () => {
  test.each([1, 20, 200])('passes with a head of 30 kB in %i fields', async (count) => {
    const lines = linesOf(30_400, count)
    expect(await ask(lines)).toMatch(/^HTTP\/1\.1 200 /)
    for (const line of lines) expect(service.heads[0]).toContain(`\r\n${line}\r\n`)
    expect((await askH2(lines))[0]).toBe(200)
    for (const line of lines) expect(service.heads[0]).toContain(`\r\n${line}\r\n`)
  })

  test('passes with an address of 30 kB, also one that is not sent twice', async () => {
    expect(await ask([], `GET /?${'q'.repeat(30_400)} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await ask(['Content-Length: 0'], `POST /?${'q'.repeat(30_400)} HTTP/1.1`)).toMatch(
      /^HTTP\/1\.1 200 /,
    )
  })

  test.each([
    ['fields', 'GET /large HTTP/1.1', linesOf(31_000, 10)],
    ['an address', `GET /large?${'q'.repeat(31_000)} HTTP/1.1`, []],
    ['cookies', 'GET /large HTTP/1.1', [`Cookie: token=pts_1; a=${'c'.repeat(36_000)}`]],
  ])('with more than that in %s gets an answer that says so, and a log line', async (_, first, lines) => {
    lab.logs.length = 0
    const answer = await ask(lines, first)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(answer).toContain('This request is too large')
    expect((await lineWith('431')).text).toMatch(/^\[WARN\] .* "GET \/large" 431 .* larger than 30 kB$/)
    expect(service.heads).toEqual([])
  })

  test('does not hide its path from the log behind a long method', async () => {
    lab.logs.length = 0
    expect(await ask([], `${'M'.repeat(20_000)} /hidden HTTP/1.1`)).toMatch(/^HTTP\/1\.1 200 /)
    expect((await lineWith('/hidden')).kept).toMatchObject({ method: 'M'.repeat(40), path: '/hidden' })
  })

  test('gets that answer over HTTP/2', async () => {
    lab.logs.length = 0
    expect((await askH2(linesOf(31_000, 10)))[0]).toBe(431)
    await lineWith('larger than 30 kB')
  })

  test('with more than HAProxy can hold is refused by it', async () => {
    expect(await ask(linesOf(60_000, 10))).toMatch(/^HTTP\/1\.1 4(00|31) /)
  })
})

describe('an answer', () => {
  const answerWith = (lines: string[]) => {
    service.answer = ['HTTP/1.1 200 OK', 'Connection: close', 'Content-Length: 0', ...lines, '', ''].join(
      '\r\n',
    )
  }

  test.each([1, 20, 200])('passes with a head of 30 kB in %i fields', async (count) => {
    const lines = linesOf(30_400, count)
    answerWith(lines)
    const answer = await ask([])
    for (const line of lines) expect(answer).toContain(`\r\n${line}\r\n`)
    const [status, size] = await askH2([])
    expect([status, size > 29_000]).toEqual([200, true])
  })

  test('with far more is replaced by our page, and the log says why', async () => {
    answerWith(linesOf(60_000, 10))
    lab.logs.length = 0
    expect(await ask([])).toContain('The service gave no valid answer')
    expect((await lineWith('502')).text).toMatch(/^\[ERROR\] .* 502 .* or its headers are larger than 30 kB$/)
    expect((await askH2([]))[0]).toBe(502)
  })
})
