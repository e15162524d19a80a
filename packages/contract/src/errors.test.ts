import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { DomainForm } from './domains.ts'
import { toFieldErrors } from './errors.ts'
import { MESSAGES } from './messages.ts'
import { NodeForm, NodeQuery } from './nodes.ts'
import { HttpServiceForm } from './services/http-service-form.ts'
import { LoginForm } from './sign-in/auth.ts'

function errorsOf(schema: z.ZodMiniType, value: unknown): Record<string, string> {
  const result = schema.safeParse(value)
  if (result.success) throw new Error('it was accepted')
  return Object.fromEntries(
    toFieldErrors(result.error.issues, value).map(({ field, message }) => [field, message]),
  )
}

describe('the words under a field', () => {
  it('come all at once, with dotted paths', () => {
    const networks = [
      { interface: 'eth0', subnet: '192.168.1.0/24' },
      { interface: '', subnet: '10.0.0.1' },
    ]
    expect(
      errorsOf(NodeForm, {
        isGateway: true,
        gatewayNetworks: networks,
        address: '1.2.3',
        keepalive: -1,
        x: 1,
      }),
    ).toEqual({
      name: MESSAGES.required,
      address: MESSAGES.ipv4,
      keepalive: MESSAGES.keepalive,
      'gatewayNetworks.1.interface': MESSAGES.required,
      'gatewayNetworks.1.subnet': MESSAGES.subnet,
      x: MESSAGES.unknownField,
    })
  })

  it.each([
    [z.url(), 'x', 'must be a valid uri'],
    [z.email(), 'x', 'must be a valid email'],
    [z.iso.date(), 'x', 'must be a valid date'],
    [z.iso.datetime(), 'x', 'must be a valid date'],
    [z.number().check(z.positive()), 0, 'must be a positive number'],
    [z.number().check(z.negative()), 0, 'must be a negative number'],
    [z.number().check(z.gte(5)), 4, 'must be greater than or equal to 5'],
    [z.number().check(z.lte(5)), 6, 'must be less than or equal to 5'],
    [z.int(), 1.5, 'must be an integer'],
    [z.string().check(z.regex(/a/)), 'b', 'is not valid'],
  ])('are the generic ones for each kind of issue', (schema, value, words) => {
    expect(errorsOf(z.object({ field: schema }), { field: value })).toEqual({ field: words })
  })

  it('say it also when a rule is about several fields', () => {
    expect(errorsOf(HttpServiceForm, { name: '' })).toEqual({
      name: MESSAGES.required,
      domain: MESSAGES.domainOrPath,
    })
    expect(errorsOf(NodeForm, { name: 'x', isGateway: true })).toEqual({
      gatewayNetworks: MESSAGES.gatewayNetworks,
    })
  })

  it('are those of the specification', () => {
    expect(errorsOf(DomainForm, {})).toEqual({ domain: 'The domain field is required' })
    expect(errorsOf(DomainForm, { domain: 'x' })).toEqual({ domain: 'The domain must be in a valid format' })
    expect(errorsOf(DomainForm, { domain: '*.a.com' })).toEqual({ domain: MESSAGES.wildcard })
    expect(errorsOf(LoginForm, {})).toEqual({ username: MESSAGES.required, password: MESSAGES.required })
    expect(errorsOf(HttpServiceForm, { name: 'x', pathLocation: 'x', backendPort: 0 })).toEqual({
      pathLocation: MESSAGES.servicePath,
      backendPort: MESSAGES.port,
    })
    expect(errorsOf(NodeForm, { name: 'x'.repeat(101), isGateway: 'yes', dns: 5, advanced: 0 })).toEqual({
      name: 'must be less than or equal to 100 characters long',
      isGateway: 'must be a boolean',
      dns: 'must be a valid string',
      advanced: 'must be a boolean',
      gatewayNetworks: MESSAGES.gatewayNetworks,
    })
    expect(errorsOf(NodeForm, { name: null, gatewayNetworks: 'x', keepalive: '5' })).toEqual({
      name: MESSAGES.required,
      gatewayNetworks: MESSAGES.array,
      keepalive: MESSAGES.keepalive,
    })
    expect(
      errorsOf(HttpServiceForm, { name: 'x', domain: 'a.com', blockedIps: Array(1001).fill('1.1.1.1') }),
    ).toEqual({ blockedIps: 'must have at most 1000 entries' })
    expect(errorsOf(LoginForm, { username: 'x'.repeat(101), password: 5 })).toEqual({
      username: 'must be less than or equal to 100 characters long',
      password: 'must be a valid string',
    })
    expect(errorsOf(DomainForm, { domain: 'a.com', ssl: 'x' })).toEqual({
      ssl: 'must be one of the allowed values',
    })
    expect(errorsOf(HttpServiceForm, { name: 'x', domain: 'a.com', allowedIps: ['1.1.1.1', 'x'] })).toEqual({
      'allowedIps.1': MESSAGES.ipOrCidr,
    })
  })

  it('never show a parser to a person', () => {
    for (const value of [null, [], 'x', 5, { name: {} }, { name: 'x', gatewayNetworks: [null] }])
      for (const message of Object.values(errorsOf(NodeForm, value)))
        expect(message).not.toMatch(/Invalid|expected|zod/i)
  })
})

describe('a query', () => {
  it('knows its keys and fields, and nothing else', () => {
    expect(NodeQuery.parse({ page: '2', limit: '100', orderBy: 'name,desc' })).toEqual({
      page: 2,
      limit: 100,
      orderBy: { field: 'name', direction: 'desc' },
    })
    for (const query of [
      { limit: '101' },
      { limit: '0' },
      { limit: '1.5' },
      { page: '-1' },
      { orderBy: 'name' },
      { orderBy: 'id,asc' },
      { orderBy: 'name;drop table nodes,asc' },
      { orderBy: 'name,asc,desc' },
      { type: 'all' },
      { other: '1' },
    ])
      expect(NodeQuery.safeParse(query).success, JSON.stringify(query)).toBe(false)
  })

  it('of a body of very many unknown fields are few', () => {
    const body = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`field${i}`, 1]))
    const fields = Object.keys(errorsOf(LoginForm, body))
    expect(fields).toEqual(expect.arrayContaining(['username', 'password', 'field0', 'field99']))
    expect(fields.length).toBeLessThan(110)
  })
})
