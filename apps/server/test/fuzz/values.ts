/** A value that a field gets, with its name in a report. */
export interface Hostile {
  name: string
  /** Undefined: the field is left out. */
  value: unknown
}

const TEXTS: Readonly<Record<string, string>> = {
  blank: ' ',
  long: 'x'.repeat(300),
  huge: 'x'.repeat(100_000),
  accents: 'Änderung é',
  decomposed: 'e\u0301',
  emoji: '👩‍👩‍👧',
  'right to left': '\u202Egnp.exe',
  invisible: 'a\u200Bb\uFEFF',
  'half a character': '\uD800',
  'the other half': 'a\uDC00',
  'not a character': '\uFFFF',
  NUL: 'a\0b',
  'line break': 'a\nb',
  'header break': 'a\r\nX-Evil: 1',
  escape: '\u001B[31mred',
  DEL: 'a\u007Fb',
  'line separator': 'a\u2028b',
  tab: 'a\tb',
  'SQL that is always true': "' OR 1=1 --",
  'SQL that drops': '"; DROP TABLE users; --',
  'SQL pattern': '%_%',
  'SQL union': "x') UNION SELECT password_hash FROM users --",
  'HAProxy line': 'a\n  acl evil always_true',
  'HAProxy field': 'a|b|c',
  'HAProxy variable': '%[env(HOME)]',
  'HAProxy commands': 'a;show info',
  'HAProxy payload': '<<\nset map',
  'HAProxy quote': 'a" { always_true }',
  'nft statement': '192.0.2.1; flush ruleset',
  'nft block': '} table ip evil {',
  'nft set': '@evil',
  'all of IPv4': '0.0.0.0/0',
  'all of IPv6': '::/0',
  'mapped address': '::ffff:127.0.0.1',
  'short address': '127.1',
  'hex address': '0x7f000001',
  'network with host bits': '10.1.2.3/8',
  'zone of an address': 'fe80::1%eth0',
  'WireGuard line': 'a\nAllowedIPs = 0.0.0.0/0\n[Peer]',
  'WireGuard hook': 'PostUp = touch /tmp/evil',
  'weak key': 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  'way up': '../../etc/passwd',
  'encoded way up': '/..%2f..%2fetc/passwd',
  'Windows way': 'C:\\..\\x',
  'file address': 'file:///etc/passwd',
  'local address': 'http://127.0.0.1:1/',
  'script address': 'javascript:alert(1)',
  shell: '$(reboot)`reboot`',
  template: '#{7*7}{{7*7}}',
  HTML: '<script>alert(1)</script>',
  prototype: '__proto__',
  constructor: 'constructor',
  'a number as text': '7',
  'a number with zeros': '007',
  'a number with an exponent': '1e3',
  'a large number as text': '99999999999999999999',
  'minus one as text': '-1',
  'true as text': 'true',
  'null as text': 'null',
  'JSON as text': '{"a":1}',
  name: 'fuzz.example.com',
  'name in capitals': 'FUZZ.Example.COM.',
  wildcard: '*.example.com',
  'name that looks alike': 'ехample.com',
  punycode: 'xn--80ak6aa92e.com',
  'long name': `${'a.'.repeat(126)}com`,
  'e-mail with a line': 'a@example.com\nBcc: b@example.com',
  'time at the end': '9999-12-31T23:59:59Z',
  'time beyond': '+275760-09-13T00:00:00.000Z',
  'time that is none': '2026-02-30T00:00:00Z',
  'time long ago': '0001-01-01T00:00:00Z',
  'later today': '2026-11-21T20:00:00+14:00',
  'regular expression': '^/(a+)+$',
  'order by': 'name,asc',
  'order by SQL': 'name,asc; DROP TABLE nodes',
}

const OTHERS: Readonly<Record<string, unknown>> = {
  absent: undefined,
  null: null,
  empty: '',
  true: true,
  false: false,
  zero: 0,
  one: 1,
  'minus one': -1,
  'a fraction': 1.5,
  'more than a port': 65_536,
  'more than an integer': 2 ** 53,
  'very large': 1e308,
  'an empty list': [],
  'a list of null': [null],
  'a list of lists': [[[]]],
  'a list of text': ['a', 'a'],
  'a list of hostile text': ['../../etc/passwd', "' OR 1=1 --", 'a\nb'],
  'a long list': Array.from({ length: 2000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`),
  'a list of objects': [{}],
  'an empty object': {},
  'an object with a prototype': JSON.parse('{"__proto__":{"role":"admin"},"constructor":{"name":"x"}}'),
  'an object without a text': JSON.parse('{"toString":1,"valueOf":1,"toJSON":1,"length":3}'),
  'a list without a text': [JSON.parse('{"toString":1,"valueOf":1}')],
  'a deep object': deep(200),
  'an object of a list': { 0: 'a', length: 1 },
}

export const HOSTILE: readonly Hostile[] = [...Object.entries(OTHERS), ...Object.entries(TEXTS)].map(
  ([name, value]) => ({ name, value }),
)

/** For places where everything is text: paths and queries. */
export const HOSTILE_TEXTS: readonly Hostile[] = [
  { name: 'absent', value: undefined },
  { name: 'empty', value: '' },
  ...Object.entries(TEXTS).map(([name, value]) => ({ name, value })),
]

function deep(levels: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}
