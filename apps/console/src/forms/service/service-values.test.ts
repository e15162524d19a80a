import { toFieldErrors } from '@postern/contract/errors'
import { HttpServiceForm } from '@postern/contract/services/http-service-form'
import { TcpServiceForm } from '@postern/contract/services/services'
import { describe, expect, it } from 'vitest'
import {
  findHostError,
  NEW_HTTP_SERVICE,
  NEW_TCP_SERVICE,
  plainHint,
  previewHttpRoute,
  previewTcpRoute,
  readAddress,
  schemaForNode,
  serviceValues,
} from './service-values.ts'

const plain = { isGateway: false, isLocal: false }
const gateway = { isGateway: true, isLocal: false }
const local = { isGateway: false, isLocal: true }
/** What a saved service has besides its form. */
const SAVED = {
  ...{ id: 1, nodeName: 'n', nodeId: 2, enabled: true, dnsUnchecked: false, system: false, source: null },
  ...{ state: { phase: 'live' as const, problem: null }, created_at: '', updated_at: '' },
}

describe('the values of the service form', () => {
  it('of a new service are http, port 80 and path /', () => {
    expect(HttpServiceForm.parse({ ...NEW_HTTP_SERVICE, name: 'web', domain: 'a.example.com' })).toEqual({
      name: 'web',
      domain: 'a.example.com',
      pathLocation: '/',
      stripPath: false,
      backendProto: 'http',
      requireAuth: false,
      skipAuthRoutes: null,
      backendHost: null,
      backendPort: 80,
      allowedIps: [],
      blockedIps: [],
      endsAt: null,
      ttl: null,
      skipValidation: false,
      confirmUsedName: false,
    })
  })

  it('of an existing one go through the contract and come back as they were', () => {
    const form = {
      ...{ name: 'web', domain: null, pathLocation: '/app', stripPath: true },
      ...{ backendProto: 'https' as const, backendHost: '10.0.0.1', backendPort: 8443 },
      ...{ requireAuth: false, skipAuthRoutes: null, allowedIps: ['10.0.0.0/8'], blockedIps: [] },
      endsAt: '2030-01-01T00:00:00.000Z',
    }
    const service = {
      ...form,
      ...SAVED,
      type: 'http' as const,
      ssl: true,
      selfSigned: true,
      publicAccess: null,
    }
    expect(HttpServiceForm.parse(serviceValues(NEW_HTTP_SERVICE, service))).toEqual({
      ...form,
      ttl: null,
      skipValidation: false,
      confirmUsedName: false,
    })
  })
})

describe('the values of the form of a TCP service', () => {
  it('of a new one are tcp, no TLS, backend port 1883 and a port that the server assigns', () => {
    const { port, ...values } = NEW_TCP_SERVICE
    expect(port).toBeNull()
    expect(TcpServiceForm.parse({ ...values, name: 'mqtt' })).toMatchObject({
      domain: null,
      proto: 'tcp',
      ssl: false,
      backendHost: null,
      backendPort: 1883,
    })
  })

  it('of an existing one go through the contract and come back as they were', () => {
    const form = {
      name: 'dns',
      domain: 'dns.example.com',
      port: 32700,
      proto: 'udp' as const,
      ssl: false,
      backendHost: null,
      backendPort: 53,
      allowedIps: [],
      blockedIps: ['203.0.113.66'],
      endsAt: null,
    }
    const publicAccess = 'udp://dns.example.com:32700'
    const service = { ...form, ...SAVED, type: 'tcp' as const, selfSigned: false, publicAccess }
    expect(TcpServiceForm.parse(serviceValues(NEW_TCP_SERVICE, service))).toEqual({
      ...form,
      ttl: null,
      skipValidation: false,
      confirmSharedCookies: false,
    })
  })
})

describe('the backend host', () => {
  it('is only for gateways and the local node, and required there', () => {
    const hintOf = (node: typeof plain, usesFile: boolean) =>
      plainHint({ ...node, usesFile, address: '10.64.0.7' })
    expect(hintOf(plain, true)).toContain('The program must listen on 10.64.0.7')
    expect(hintOf(plain, false)).not.toContain('listen')
    expect([hintOf(gateway, true), hintOf(local, true)]).toEqual([undefined, undefined])
    expect(findHostError(gateway, '  ')).toBe('This field is required')
    expect(findHostError(local, '127.0.0.1')).toBeUndefined()
    expect(findHostError(plain, '')).toBeUndefined()
    expect(findHostError(plain, 'nas')).toMatch(/can only expose its own services/)
    expect(findHostError(plain, null)).toBeUndefined()
  })

  it('is checked together with everything else', () => {
    const result = schemaForNode(HttpServiceForm, gateway).safeParse({
      ...NEW_HTTP_SERVICE,
      pathLocation: '',
    })
    expect(toFieldErrors(result.error?.issues ?? []).map((error) => error.field)).toEqual([
      'name',
      'domain',
      'backendHost',
    ])
    const form = { ...NEW_HTTP_SERVICE, name: 'web', domain: 'a.example.com' }
    expect(schemaForNode(HttpServiceForm, plain).safeParse(form).success).toBe(true)
    expect(schemaForNode(HttpServiceForm, plain).safeParse({ ...form, backendHost: 'nas' }).success).toBe(
      false,
    )
    expect(schemaForNode(HttpServiceForm, local).safeParse({ ...form, backendHost: 'nas' }).success).toBe(
      true,
    )
  })
})

const on = (publicUrl: string, node = { isGateway: false, isLocal: false }) => ({ node, publicUrl })

describe('the preview of the route', () => {
  it('shows the typed address, and the resulting backend', () => {
    expect(
      previewHttpRoute(
        { ...NEW_HTTP_SERVICE, domain: ' App.example.com', pathLocation: '/v1' },
        on('https://x'),
      ),
    ).toEqual({
      from: 'https://app.example.com/v1',
      to: 'http://localhost:80',
    })
  })
  it('without a domain is the address of the installation', () => {
    const route = previewHttpRoute(
      { ...NEW_HTTP_SERVICE, pathLocation: 'app', backendHost: 'nas', backendPort: undefined },
      on('https://203.0.113.1:8443'),
    )
    expect(route).toEqual({ from: 'https://203.0.113.1:8443/app', to: 'http://nas:80' })
  })
  it('of the console itself shows its fixed path', () => {
    const place = { ...on('https://203.0.113.1:8443'), isConsole: true }
    expect(previewHttpRoute(NEW_HTTP_SERVICE, place).from).toBe('https://203.0.113.1:8443/')
  })
  it('shows no address while the domain is malformed', () => {
    const values = { ...NEW_HTTP_SERVICE, domain: 'http://foo bar/' }
    expect(previewHttpRoute(values, on('https://x')).from).toBe('https://…/')
  })
  it('carries the port of the installation', () => {
    expect(previewHttpRoute({ ...NEW_HTTP_SERVICE, domain: 'a.test' }, on('https://x:8443')).from).toBe(
      'https://a.test:8443/',
    )
  })
})

describe('an address that was pasted as a domain', () => {
  it.each([
    ['https://shop.example.com/app', { domain: 'shop.example.com', path: '/app' }],
    [' HTTP://Shop.example.com:8443 ', { domain: 'shop.example.com', path: '/' }],
    ['shop.example.com', undefined],
    ['https://', undefined],
  ])('%s', (text, read) => expect(readAddress(text)).toEqual(read))
})

describe('the backend of a previewed route', () => {
  it.each([
    [{ isGateway: false, isLocal: false }, '', 'localhost'],
    [{ isGateway: true, isLocal: false }, ' ', '…'],
    [{ isGateway: false, isLocal: true }, '', '…'],
    [{ isGateway: true, isLocal: false }, 'fd77::20', '[fd77::20]'],
  ])('on %j with the host “%s” is on %s', (node, backendHost, host) => {
    const place = on('https://x', node)
    expect(previewHttpRoute({ ...NEW_HTTP_SERVICE, backendHost }, place).to).toBe(`http://${host}:80`)
    expect(previewTcpRoute({ ...NEW_TCP_SERVICE, backendHost }, place).to).toBe(`tcp://${host}:1883`)
  })
})

describe('the preview of a TCP route', () => {
  it('shows the address and the port, and the backend', () => {
    const values = { ...NEW_TCP_SERVICE, domain: ' Mqtt.example.com', port: 32700 }
    expect(previewTcpRoute(values, on('https://203.0.113.1:8443'))).toEqual({
      from: 'tcp://mqtt.example.com:32700',
      to: 'tcp://localhost:1883',
    })
  })
  it('without a domain and a port is the host of the installation and a port to be assigned', () => {
    const values = { ...NEW_TCP_SERVICE, proto: 'udp' as const, backendHost: 'dns.lan', backendPort: 53 }
    expect(previewTcpRoute(values, on('https://203.0.113.1:8443'))).toEqual({
      from: 'udp://203.0.113.1:assigned',
      to: 'udp://dns.lan:53',
    })
  })
})
