import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  inSections,
  type ResolvedHttpRoute,
  type ResolvedPortRoute,
  type ResolvedRoute,
} from '../../resolved-route.ts'
import { type Digest, isAllowed, renderList } from './lists.ts'
import { createRouteTable } from './route-table.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)
const HOST = 'gate.example.com'

function makeRoute(id: number, changes: Partial<ResolvedHttpRoute> = {}): ResolvedHttpRoute {
  return {
    id,
    domain: `s${id}.example.com`,
    path: '/',
    node: { kind: 'plain', id: 9, address4: '10.64.0.9' },
    backend: { proto: 'http', host: null, port: 8080 },
    enabled: true,
    system: false,
    signIn: null,
    stripPath: false,
    allowedIps: [],
    blockedIps: [],
    address: '10.64.0.9',
    ...changes,
  }
}

function makePort(id: number, changes: Partial<ResolvedPortRoute> = {}): ResolvedPortRoute {
  const tcp: ResolvedPortRoute = {
    id,
    proto: 'tcp',
    port: 32660 + id,
    tls: null,
    node: { kind: 'plain', id: 9, address4: '10.64.0.9' },
    backend: { host: null, port: 1883 },
    enabled: true,
    allowedIps: [],
    blockedIps: [],
    address: '10.64.0.9',
  }
  return Object.assign(tcp, changes)
}

const gateway = { kind: 'gateway' as const, id: 4, address4: '10.64.0.4', subnets: ['192.168.7.0/24'] }
const console = makeRoute(1, { domain: null, system: true, node: { kind: 'local' }, address: null })
/** All lines at once, from nothing. */
const renderRoutes = (all: readonly ResolvedRoute[], publicHost: string, digest: Digest) =>
  createRouteTable(digest).update(inSections(all), [publicHost])
const lines = (...routes: ResolvedRoute[]) => Object.fromEntries(renderRoutes(routes, HOST, digest).routes)

test('a route that is still the same object is not rendered again, unless the public host is another', () => {
  let digests = 0
  const table = createRouteTable((text) => digest(`${text}${++digests}`))
  const listed = [makeRoute(2, { allowedIps: ['10.0.0.0/8'] }), makeRoute(3, { blockedIps: ['10.0.0.1'] })]
  const first = new Map(table.update(inSections(listed), [HOST]).lists)
  expect(table.update(inSections([...listed, makeRoute(4)]), [HOST]).lists).toEqual(first)
  expect(digests).toBe(2)
  table.update(inSections(listed), ['s9.example.com'])
  expect(digests).toBe(4)
})

describe('beside the console', () => {
  const domain = 'c.example.com'
  const withDomain = { ...console, domain }
  const beside = makeRoute(2, { domain, path: '/tool' })

  test('a service is told apart at every host of the console, and follows it when it moves', () => {
    expect(lines(withDomain, beside)['c.example.com/tool/']).toBe('2|9|10.64.0.9|8080|x|')
    expect(lines(console, beside)['c.example.com/tool/']).toBe('2|9|10.64.0.9|8080||')
    expect(lines(withDomain, makeRoute(3, { domain: null, path: '/t' }))['*/t/']).toContain('|x|')
  })

  test.each([
    [null, '/api'],
    [HOST, '/api/auth'],
    [HOST, '/'],
    [domain, '/'],
    [domain, '/assets/x'],
    [domain, '/LOGIN'],
  ])('a service at %s never gets %s', (at, path) => {
    const { routes, refused } = renderRoutes([withDomain, makeRoute(2, { domain: at, path })], HOST, digest)
    expect([...routes.values()].filter((line) => line.startsWith('2|'))).toEqual([])
    expect(refused).toMatchObject([{ service: 2 }])
  })

  test('nor does it while the route of the console is missing; elsewhere it may', () => {
    const paths = [makeRoute(2, { domain: null, path: '/api' }), makeRoute(3, { domain, path: '/api' })]
    const { routes, refused } = renderRoutes(paths, HOST, digest)
    expect([...routes.keys()]).toEqual(['c.example.com/api/'])
    expect(refused).toEqual([
      {
        service: 2,
        message: '/api belongs to the console at this host. Give the service another path or domain.',
      },
    ])
  })
})

describe('a route becomes a line', () => {
  test.each<[string, Partial<ResolvedHttpRoute>, string, string]>([
    ['of its own domain', {}, 's2.example.com/', '2|9|10.64.0.9|8080||'],
    ['with a path', { path: '/a/b' }, 's2.example.com/a/b/', '2|9|10.64.0.9|8080||'],
    ['of the installation', { domain: null, path: '/x' }, '*/x/', '2|9|10.64.0.9|8080|x|'],
    ['of the public host', { domain: HOST, path: '/x' }, '*/x/', '2|9|10.64.0.9|8080|x|'],
    [
      'to https',
      { backend: { proto: 'https', host: null, port: 8443 } },
      's2.example.com/',
      '2|9|10.64.0.9|8443|s|',
    ],
    ['over IPv6', { node: gateway, address: 'fd00::7' }, 's2.example.com/', '2|4|fd00::7|8080||'],
    [
      'on this machine',
      { node: { kind: 'local' }, address: '127.0.0.1' },
      's2.example.com/',
      '2|0|127.0.0.1|8080||',
    ],
    ['that is disabled', { enabled: false, address: null }, 's2.example.com/', '2|9|-|8080|du|'],
    ['without an address', { address: null }, 's2.example.com/', '2|9|-|8080|u|'],
    ['with what is no address', { address: '10.0.0.1|1||;' }, 's2.example.com/', '2|9|-|8080|u|'],
  ])('%s', (_, changes, key, value) => {
    expect(lines(makeRoute(2, changes))).toEqual({ [key]: value })
  })

  test('the console keeps its own host, and the way of the agents free of lists', () => {
    const open = '1|0|-|8080|ca|'
    expect(lines(console)).toEqual({
      '*/': '1|0|-|8080|c|',
      '*/api/agent/': open,
      '*/install/': open,
      '*/.postern/': open,
    })
    const restricted = lines({ ...console, domain: 'c.example.com', allowedIps: ['10.0.0.0/8'] })
    const list = renderList({ allowedIps: ['10.0.0.0/8'], blockedIps: [] }, digest).name
    expect(restricted).toEqual({
      'c.example.com/': `1|0|-|8080|c|${list}`,
      'c.example.com/api/agent/': open,
      'c.example.com/install/': open,
      'c.example.com/.postern/': open,
      '*/': `1|0|-|8080|c|${list}`,
      '*/api/agent/': open,
      '*/install/': open,
      '*/.postern/': open,
    })
  })

  test('an upper-case public host is the same host', () => {
    const beside = makeRoute(2, { domain: HOST, path: '/x' })
    const { routes } = renderRoutes([beside], HOST.toUpperCase(), digest)
    expect([...routes.keys()]).toEqual(['*/x/'])
  })
})

describe('a route that cannot become a line is left out, alone', () => {
  test.each<[string, Partial<ResolvedHttpRoute>]>([
    ['a command in the domain', { domain: 'a.example.com;del' }],
    ['a blank in the domain', { domain: 'a.example.com b' }],
    ['a newline in the domain', { domain: 'a.example.com\nb' }],
    ['a bar in the path', { path: '/a|b' }],
    ['a blank in the path', { path: '/a b' }],
    ['a path that does not begin with a slash', { path: 'a' }],
    ['a slash at the end', { path: '/a/' }],
    ['a port that is none', { backend: { proto: 'http', host: null, port: 70000 } }],
    ['an id that is none', { id: -1 }],
  ])('%s', (_, changes) => {
    const { routes, refused } = renderRoutes([makeRoute(2, changes), makeRoute(3)], HOST, digest)
    expect([...routes.keys()]).toEqual(['s3.example.com/'])
    expect(refused).toEqual([{ service: changes.id ?? 2, message: 'The service is malformed' }])
  })

  test('of two at one address the console wins, then the older', () => {
    const routes = [
      makeRoute(7, { domain: 'a.example.com' }),
      makeRoute(5, { domain: 'a.example.com' }),
      makeRoute(3, { domain: HOST }),
      { ...console, id: 8 },
    ]
    const rendered = renderRoutes(routes, HOST, digest)
    expect(rendered.routes.get('a.example.com/')).toMatch(/^5\|/)
    expect(rendered.routes.get('*/')).toMatch(/^8\|/)
    expect(rendered.refused).toEqual([
      { service: 3, message: expect.stringContaining('belongs to the console') },
      { service: 7, message: 'The address is taken by service 5' },
    ])
  })
})

describe('an IP list', () => {
  const name = (allowedIps: string[], blockedIps: string[] = []) =>
    renderList({ allowedIps, blockedIps }, digest).name

  test('is named by what it says, however it is written', () => {
    expect(name([])).toBe('')
    expect(name(['10.0.0.0/9', '10.128.0.0/9'])).toBe(name(['10.0.0.0/8']))
    expect(name(['10.0.0.1', '10.0.0.2'])).toBe(name(['10.0.0.2', '10.0.0.1']))
    expect(name(['::ffff:10.0.0.1'])).toBe(name(['10.0.0.1']))
    expect(name(['10.0.0.1'])).not.toBe(name([], ['10.0.0.1']))
    expect(name(['rubbish'])).toBe('unreadable')
  })

  test('is cut into parts that fit through the socket', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `2001:db8:${(2 * i).toString(16)}::/48`)
    const { name, parts } = renderList({ allowedIps: many, blockedIps: many }, digest)
    expect(Number(name.split('.')[1])).toBe(parts.size)
    for (const part of parts.values()) expect(part.length).toBeLessThan(4100)
    expect([...parts.values()].join(',').split(',')).toHaveLength(2000)
  })

  test.each<[string[], string[], string, boolean]>([
    [[], [], '1.2.3.4', true],
    [['1.2.3.0/24'], [], '1.2.3.4', true],
    [['1.2.3.0/24'], [], '1.2.4.4', false],
    [['1.2.3.0/24'], [], '::1', false],
    [['1.2.3.0/24'], ['1.2.3.4'], '1.2.3.4', false],
    [[], ['2001:db8::/32'], '2001:db8::1', false],
    [[], ['rubbish'], '1.2.3.4', false],
    [[], [], 'rubbish', false],
  ])('%j without %j decides about %s: %s', (allowedIps, blockedIps, address, verdict) => {
    expect(isAllowed({ allowedIps, blockedIps }, address)).toBe(verdict)
  })
})

describe('a TCP service', () => {
  test('is a line at its port', () => {
    expect(lines(makePort(4))).toEqual({ ':32664/': '4|9|10.64.0.9|1883||' })
    expect(lines(makePort(5, { tls: { domain: 'a.example.com' } }))).toEqual({
      ':32665/': '5|9|10.64.0.9|1883|t||a.example.com',
    })
    expect(lines(makePort(6, { tls: { domain: null } }))[':32666/']).toContain('|t|')
    expect(lines(makePort(7, { enabled: false, address: null }))).toEqual({ ':32667/': '7|9|-|1883|du|' })
  })

  test('has the IP list of its own', () => {
    const { routes, lists } = renderRoutes([makePort(4, { blockedIps: ['10.0.0.0/8'] })], HOST, digest)
    const name = routes.get(':32664/')?.split('|')[5]
    expect(lists.get(`${name?.split('.')[0]}.0`)).toBe('b10.0.0.0/8')
  })

  test('is none of HAProxy when it is UDP', () => {
    expect(lines(makePort(4, { proto: 'udp' }))).toEqual({})
  })

  test('of two at one port the older one has it, and the other one says so', () => {
    const both = renderRoutes([makePort(9, { port: 32661 }), makePort(8, { port: 32661 })], HOST, digest)
    expect([...both.routes.values()]).toEqual(['8|9|10.64.0.9|1883||'])
    expect(both.refused).toEqual([{ service: 9, message: 'The address is taken by service 8' }])
  })

  test.each([
    { port: 0 },
    { port: 70_000 },
    { address: '10.64.0.9|1' as string },
    { backend: { host: null, port: 0 } },
  ])('is left out when it is malformed: %j', (changes) => {
    const { routes } = renderRoutes([makePort(4, changes)], HOST, digest)
    expect([...routes.values()].every((line) => line === '4|9|-|1883|u|')).toBe(true)
  })
})

test.each(['http', 'https'] as const)(
  'no line of a guarded service over %s looks like one that goes directly',
  (proto) => {
    for (const enabled of [true, false])
      for (const address of ['10.64.0.2', null])
        for (const signIn of [{ paths: [], expressions: [] }, undefined as never]) {
          const backend = { proto, host: null, port: 80 }
          const { routes } = renderRoutes([makeRoute(2, { backend, enabled, address, signIn })], HOST, digest)
          for (const line of routes.values()) {
            expect(line.split('|')[4]).toContain('g')
            expect(line).not.toMatch(/\|s?\|$/)
          }
        }
  },
)
