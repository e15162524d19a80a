import { expect, test } from 'vitest'
import { findTracedAddress, formatTracedAddress } from './address.ts'

test.each([
  ['https://App.Example.com/a/b?token=secret#part', 'https://app.example.com/a/b'],
  ['http://app.example.com', 'http://app.example.com/'],
  ['wss://app.example.com/live', 'https://app.example.com/live'],
  ['app.example.com', 'app.example.com'],
  [' app.example.com./x ', 'app.example.com/x'],
  ['app.example.com:8443/x', 'app.example.com:8443/x'],
  ['https://app.example.com:443/', 'https://app.example.com:443/'],
  ['http://app.example.com:80/', 'http://app.example.com:80/'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['203.0.113.7', '203.0.113.7'],
  ['https://[2001:DB8::1]/x', 'https://[2001:db8::1]/x'],
  ['[2001:db8::1]:32760', '[2001:db8::1]:32760'],
  ['2001:db8::1', '[2001:db8::1]'],
  ['tcp://203.0.113.1:32760', 'tcp://203.0.113.1:32760'],
  ['udp://game.example.com:32700', 'udp://game.example.com:32700'],
  ['game.example.com:32700/udp', 'udp://game.example.com:32700'],
  ['32700/UDP', '32700/udp'],
  [':32700', ':32700'],
  ['32700', ':32700'],
  ['https://a.example.com/x//y/../%7Ez;v=1/w', 'https://a.example.com/x/~z/w'],
  ['https://a.example.com/ä b|c', undefined],
  ['https://a.example.com/ä|c', 'https://a.example.com/%C3%A4%7Cc'],
  ['https://a.example.com/x%3Bdel%20map', 'https://a.example.com/x%3Bdel%20map'],
  ['https://user:secret@a.example.com/', undefined],
  ['ftp://a.example.com/', undefined],
  ['javascript:alert(1)', undefined],
  ['tcp://a.example.com', undefined],
  ['a.example.com:0', undefined],
  ['a.example.com:70000', undefined],
  ['70000/tcp', undefined],
  ['https://', undefined],
  ['a_b c', undefined],
  ['', undefined],
  [`https://a.example.com/${'x'.repeat(1600)}`, undefined],
])('%s', (text, expected) => {
  const found = findTracedAddress(text)
  expect(found && formatTracedAddress(found)).toBe(expected)
})

test('nothing that ends a command of HAProxy is ever in a path', () => {
  for (let code = 0; code < 0x250; code++) {
    const found = findTracedAddress(`https://a.example.com/x${String.fromCodePoint(code)}y`)
    expect(found?.path ?? '/').toMatch(/^\/[A-Za-z0-9._~!$&'()*+,=:@%/-]*$/)
  }
})

test('what is typed again means the same', () => {
  for (const text of [
    'a.example.com:8443/x',
    'udp://[2001:db8::1]:1',
    '1/tcp',
    ':5',
    '2001:db8::1',
    'http://a.example.com/y',
  ]) {
    const found = findTracedAddress(text)
    expect(found && findTracedAddress(formatTracedAddress(found))).toEqual(found)
  }
})
