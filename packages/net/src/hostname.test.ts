import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDomainName, isHostname, normaliseDomain } from './hostname.ts'
import { isIp } from './ip.ts'

/** What may stand in a HAProxy map key, a file or a log line: nothing that means something there. */
const CLOSED = /^[a-z0-9.-]{1,253}$/

const hostile = fc.oneof(
  fc.string({ maxLength: 80, unit: 'binary' }),
  fc.domain(),
  fc.string({ maxLength: 60 }),
  fc
    .array(fc.constantFrom('a', '.', '-', '*', '/', '@', ':', '%2e', '\n', '\0', 'ü', '。', 'com', 'xn--'), {
      maxLength: 12,
    })
    .map((parts) => parts.join('')),
)

describe('a domain name', () => {
  it('holds only harmless characters, is no address and is already in its one spelling', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const name = normaliseDomain(text)
        if (!isDomainName(name)) return
        expect(normaliseDomain(name)).toBe(name)
        expect(name).toMatch(CLOSED)
        expect(isIp(name)).toBe(false)
        expect(isHostname(name)).toBe(true)
        expect(new URL(`http://${name}/`).hostname).toBe(name)
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    [' App.Example.COM. ', 'app.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['a。example.com', 'a.example.com'],
    ['bücher.example。', 'xn--bcher-kva.example'],
    ['ü.com', 'xn--tda.com'],
  ])('%j is %s', (typed, name) => {
    expect(normaliseDomain(typed)).toBe(name)
    expect(isDomainName(normaliseDomain(typed))).toBe(true)
  })

  it.each([
    ...[
      '',
      '.',
      'localhost',
      'a..b',
      '-a.com',
      'a-.com',
      'a.c',
      'a.1',
      '1.2.3.4',
      'a_b.com',
      '*.a.com',
      'a.com/',
      'a.com:80',
    ],
    ...['u@a.com', `${'a'.repeat(64)}.com`, `${'a.'.repeat(127)}com`, 'ex%61mple.com', 'bücher.example:80'],
    ...['bücher.example/x', 'bü cher.example', '0x7f.0.0.1'],
  ])('is not %j', (text) => expect(isDomainName(normaliseDomain(text))).toBe(false))
})

describe('a host name', () => {
  it.each(['printer', 'Printer.lan', 'a.b.c', '1a', 'xn--bcher-kva.example'])('is %s', (text) =>
    expect(isHostname(text)).toBe(true),
  )
  it.each(['', '1', '1.2.3.4', '127.1', 'a b', 'a_b', 'a.', '.a', 'a;b', '-x', 'a\n', '::1', 'ü'])(
    'is not %j',
    (text) => expect(isHostname(text)).toBe(false),
  )
})
