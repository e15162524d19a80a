import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { DomainForm } from './domains.ts'
import { Backend, PortRoute, Route } from './edge/desired-state.ts'
import * as f from './fields.ts'
import { NodeForm } from './nodes.ts'
import { PatForm } from './pats.ts'
import { HttpServiceForm } from './services/http-service-form.ts'
import { TcpServiceForm } from './services/services.ts'

const ok = <T>(schema: z.ZodMiniType<T>, value: unknown): T | undefined => {
  const result = schema.safeParse(value)
  return result.success ? result.data : undefined
}

describe('blank', () => {
  it('null, "" and absence mean the same', () => {
    const form = z.strictObject({ field: f.blankable(f.ipv4) })
    for (const value of [{}, { field: null }, { field: '' }, { field: undefined }])
      expect(ok(form, value)).toEqual({ field: null })
    expect(ok(form, { field: '10.0.0.1' })).toEqual({ field: '10.0.0.1' })
    expect(ok(form, { field: 0 })).toBeUndefined()
  })

  it('or the default, where there is one', () => {
    const form = z.strictObject({ field: f.withDefault(z.boolean(), true) })
    for (const value of [{}, { field: null }, { field: '' }, { field: undefined }])
      expect(ok(form, value)).toEqual({ field: true })
    expect(ok(form, { field: false })).toEqual({ field: false })
    expect(ok(form, { field: 0 })).toBeUndefined()
  })

  it.each<[string, z.ZodMiniObject, object]>([
    ['a node', NodeForm, { name: 'x' }],
    ['a domain', DomainForm, { domain: 'x.example.com' }],
    ['an HTTP service', HttpServiceForm, { name: 'x', domain: 'x.example.com' }],
    ['a TCP service', TcpServiceForm, { name: 'x', backendPort: 1883 }],
    ['a token', PatForm, { name: 'x' }],
  ])('so it is for every field that %s need not have', (_, form, needed) => {
    const absent = ok(form, needed)
    expect(absent).toBeDefined()
    for (const field of Object.keys(form.shape).filter((key) => !(key in needed)))
      for (const blank of [null, ''])
        expect(ok(form, { ...needed, [field]: blank }), `${field}: ${blank}`).toEqual(absent)
  })

  it('a list too', () => {
    const form = z.strictObject({ list: f.listOf(f.ipOrCidr, 2) })
    for (const value of [{}, { list: null }, { list: '' }, { list: [] }])
      expect(ok(form, value)).toEqual({ list: [] })
    expect(ok(form, { list: ['1.1.1.1', '1.1.1.1', '1.1.1.1'] })).toBeUndefined()
    expect(ok(form, { list: '1.1.1.1' })).toBeUndefined()
  })
})

describe('a name', () => {
  it.each(['Büro 2. Stock', '事務所', 'مكتب', 'नमस्ते', 'family 👨‍👩‍👧', 'x', '/', '日本-1'])(
    '%j is one',
    (name) => {
      expect(ok(f.name, name)).toBe(name)
    },
  )

  it.each([
    ['turned around', 'evil\u202Egnp.exe'],
    ['isolated', 'a\u2066b'],
    ['marked as right to left', 'a\u200Fb'],
    ['with a blank of no width', 'of\u200Bfice'],
    ['with a mark of byte order', 'of\uFEFFfice'],
    ['of two lines', 'a\u2028b'],
    ['that is half a character', 'a\uD800'],
    ['with a control character', 'a\u0007'],
    ['invisible', '\u200D\u200C'],
    ['blank', ' \u3000 '],
  ])('%s is none', (_, name) => {
    expect(ok(f.name, name)).toBeUndefined()
  })

  it('that is typed in two Unicode forms is the same', () => {
    expect(ok(f.name, 'Bu\u0308ro')).toBe('B\u00FCro')
  })
})

describe('one spelling', () => {
  it.each([
    [f.ipOrCidr, ' 10.1.2.3/8 ', '10.0.0.0/8'],
    [f.ipOrCidr, '10.1.2.3/32', '10.1.2.3'],
    [f.ipOrCidr, 'FD00:0::1', 'fd00::1'],
    [f.subnet, '192.168.7.9/24', '192.168.7.0/24'],
    [f.subnet, '10.0.0.1/32', '10.0.0.1/32'],
    [f.backendHost, ' Printer.LAN ', 'printer.lan'],
    [f.backendHost, 'FD00::0:1', 'fd00::1'],
    [f.servicePath, '/a/', '/a'],
    [f.domainName, 'APP.example.com.', 'app.example.com'],
  ])('%# of %j is %j', (schema, typed, spelt) => {
    expect(ok(schema as z.ZodMiniType<string>, typed)).toBe(spelt)
  })

  it.each([
    [f.subnet, '192.168.7.9'],
    [f.ipOrCidr, 'x'],
    [f.backendHost, '1.2.3'],
    [f.backendHost, 'a b'],
    [f.backendHost, 'fe80::1%eth0'],
    [f.interfaceName, 'eth0; id'],
    [f.interfaceName, '-x'],
    [f.name, 'a\nb'],
    [f.name, '   '],
    [f.port, 0],
    [f.port, 65_536],
    [f.port, '80'],
    [f.idText, '0'],
    [f.idText, '1e3'],
    [f.idText, '9'.repeat(16)],
  ])('%# refuses %j', (schema, typed) => expect(ok(schema as z.ZodMiniType<unknown>, typed)).toBeUndefined())
})

describe('a form', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60, unit: 'binary' }),
    fc.domain(),
    fc.webPath(),
    fc.ipV4(),
    fc.ipV6(),
    fc.constant(null),
  )

  it('that is accepted can always be sent to an edge', () => {
    let accepted = 0
    fc.assert(
      fc.property(text, text, text, fc.array(text, { maxLength: 3 }), (domain, path, host, list) => {
        const form = ok(HttpServiceForm, {
          ...{ name: 'x', domain, pathLocation: path, backendHost: host },
          allowedIps: list.filter((entry) => entry !== null && /^[0-9a-f.:]+$/.test(entry)),
        })
        if (!form) return
        accepted++
        const backend = { proto: form.backendProto, host: form.backendHost, port: form.backendPort }
        expect(Backend.safeParse(backend).success, JSON.stringify(backend)).toBe(true)
        const route = {
          ...{ id: 1, domain: form.domain, path: form.pathLocation ?? '/', node: { kind: 'local' }, backend },
          ...{ enabled: true, system: false, signIn: null, allowedIps: form.allowedIps, blockedIps: [] },
        }
        expect(Route.safeParse(route).success, JSON.stringify(route)).toBe(true)
      }),
      { numRuns: 5000 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('of a TCP service too, and TLS never goes with UDP', () => {
    let accepted = 0
    const port = fc.oneof(fc.integer({ min: -1, max: 66_000 }), fc.double(), text)
    const choice = fc.constantFrom('tcp', 'udp', true, false, null, '', 'x')
    fc.assert(
      fc.property(text, text, port, port, choice, choice, (domain, host, from, to, proto, ssl) => {
        const form = ok(TcpServiceForm, {
          ...{ name: 'x', domain, port: from, proto, ssl, backendHost: host, backendPort: to },
        })
        if (!form) return
        accepted++
        expect(form.ssl && form.proto === 'udp').toBe(false)
        const route = {
          ...{ id: 1, node: { kind: 'local' }, enabled: true, allowedIps: [], blockedIps: [] },
          ...{ port: form.port ?? 1, proto: form.proto, tls: form.ssl ? { domain: form.domain } : null },
          backend: { host: form.backendHost, port: form.backendPort },
        }
        expect(PortRoute.safeParse(route).success, JSON.stringify(route)).toBe(true)
      }),
      { numRuns: 20_000 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('that is parsed again stays the same', () => {
    const form = HttpServiceForm.parse({ name: ' web ', domain: 'A.example.com', allowedIps: ['10.0.0.9/8'] })
    expect(HttpServiceForm.parse(form)).toEqual(form)
  })
})

describe('what an edge takes', () => {
  const route = {
    ...{
      id: 1,
      domain: 'app.example.com',
      path: '/a',
      node: { kind: 'local' },
      enabled: true,
      system: false,
      signIn: null,
    },
    ...{ backend: { proto: 'http', host: 'printer.lan', port: 80 }, allowedIps: [], blockedIps: [] },
  }

  it.each(['a\nb', 'a b', 'a;b', 'a|b', 'a\0', '$(id)', "a'", '"', '', 'ü'])('is never %j', (bad) => {
    expect(Route.safeParse(route).success).toBe(true)
    expect(Route.safeParse({ ...route, backend: { ...route.backend, host: bad } }).success).toBe(false)
    expect(Route.safeParse({ ...route, domain: bad }).success).toBe(false)
    expect(Route.safeParse({ ...route, path: `/${bad || '/'}` }).success).toBe(false)
    expect(Route.safeParse({ ...route, node: { kind: 'plain', id: 2, address4: bad } }).success).toBe(false)
  })
})
