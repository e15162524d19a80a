import type { TcpService, TcpServiceFormInput } from '@postern/contract/services/services'
import { fetchState } from '@postern/testkit/edge-client'
import { duringTest, shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { errorsOf, fieldsOf, startServiceLab } from '../../../test/service-lab.ts'

const SETTINGS = { POSTERN_TUNNEL_PORT: '32670', POSTERN_HTTPS_PORT: '32671' }
const lab = shared(() => startServiceLab(SETTINGS))

type Sent = Partial<Record<keyof TcpServiceFormInput | 'pathLocation' | 'updated_at', unknown>>
const create = (form: Sent, node = lab.plain) =>
  lab.client.post(`/api/services/${node}/tcp`, { name: 'mqtt', backendPort: 1883, ...form })
const urlOf = ({ nodeId, id }: TcpService) => `/api/services/${nodeId}/tcp/${id}`
const portRouteOf = async (id: number) =>
  (await fetchState(lab.server)).sections.ports.find((route) => route.id === id)

describe('a new TCP service', () => {
  it('needs a name and a backend port: the rest is by default, and the lowest free port', async () => {
    for (const blank of [undefined, null, '']) {
      const answer = await create({
        ...{ domain: blank, port: blank, proto: blank, ssl: blank, backendHost: blank },
        ...{ allowedIps: blank, blockedIps: blank, skipValidation: blank },
      })
      expect(answer.statusCode).toBe(201)
      const cleared = await create({ backendPort: blank })
      expect([cleared.statusCode, errorsOf(cleared)]).toEqual([
        422,
        [{ field: 'backendPort', message: 'This field is required' }],
      ])
      const { port } = answer.json()
      expect(answer.json()).toMatchObject({
        ...{ type: 'tcp', nodeId: lab.plain, nodeName: 'plain', name: 'mqtt', domain: null, proto: 'tcp' },
        ...{ port, ssl: false, backendHost: null, backendPort: 1883, allowedIps: [], blockedIps: [] },
        ...{ enabled: true, system: false, publicAccess: `tcp://203.0.113.1:${port}` },
      })
      expect((await lab.client.get(urlOf(answer.json()))).json()).toEqual(answer.json())
    }
    const ports = ((await lab.client.get('/api/services/tcp')).json() as TcpService[]).map(({ port }) => port)
    expect(ports).toEqual([32_660, 32_661, 32_662])
  })

  it('reaches the edges with only the fields that they need', async () => {
    const lists = { allowedIps: ['203.0.113.9/24'], blockedIps: ['2001:db8::1'] }
    const form = {
      domain: 'mqtt.example.com',
      skipValidation: true,
      ssl: true,
      backendHost: '192.168.7.2',
      ...lists,
    }
    const made: TcpService = (await create(form, lab.gateway)).json()
    expect(made).toMatchObject({ ssl: true, publicAccess: `tcp://mqtt.example.com:${made.port}` })
    expect(await portRouteOf(made.id)).toEqual({
      ...{ id: made.id, proto: 'tcp', port: made.port, tls: { domain: 'mqtt.example.com' }, enabled: true },
      node: { kind: 'gateway', id: lab.gateway, address4: '10.64.0.3', subnets: ['192.168.7.0/24'] },
      backend: { host: '192.168.7.2', port: 1883 },
      ...{ allowedIps: ['203.0.113.0/24'], blockedIps: ['2001:db8::1'] },
    })
    const own: TcpService = (await create({ ssl: true, confirmSharedCookies: true })).json()
    expect(await portRouteOf(own.id)).toMatchObject({ proto: 'tcp', tls: { domain: null } })
    const bare: TcpService = (await create({})).json()
    expect(await portRouteOf(bare.id)).toMatchObject({ proto: 'tcp', tls: null })
    const udp: TcpService = (await create({ proto: 'udp', domain: 'mqtt.example.com' })).json()
    expect(udp.publicAccess).toBe(`udp://mqtt.example.com:${udp.port}`)
    expect(await portRouteOf(udp.id)).toEqual({
      ...{ id: udp.id, proto: 'udp', port: 32_660, enabled: true, allowedIps: [], blockedIps: [] },
      node: { kind: 'plain', id: lab.plain, address4: '10.64.0.2' },
      backend: { host: null, port: 1883 },
    })
    expect((await fetchState(lab.server)).sections.routes.map(({ id }) => id)).toEqual([1])
  })

  it('creates its domain if it is new, checked like the form of domains', async () => {
    const wrong = await create({ domain: 'elsewhere.example.com' })
    expect(wrong.statusCode).toBe(422)
    expect(errorsOf(wrong)).toMatchObject([{ field: 'domain' }])
    expect((await lab.client.get('/api/domains?search=elsewhere')).json()).toEqual([])
    expect((await create({ domain: 'Elsewhere.example.com', skipValidation: true })).statusCode).toBe(201)
    const [domain] = (await lab.client.get('/api/domains?search=elsewhere')).json()
    expect(domain).toMatchObject({
      domain: 'elsewhere.example.com',
      ssl: 'self-signed',
      skipValidation: true,
    })
    expect((await create({ domain: 'elsewhere.example.com' })).statusCode).toBe(201)
  })

  it('leads where services of its node may lead', async () => {
    expect(fieldsOf(await create({ backendHost: '192.168.7.2' }))).toEqual(['backendHost'])
    expect(fieldsOf(await create({}, lab.gateway))).toEqual(['backendHost'])
    expect(fieldsOf(await create({}, lab.local))).toEqual(['backendHost'])
    expect(fieldsOf(await create({ backendHost: '127.0.0.1', backendPort: 32_671 }, lab.local))).toEqual([
      'backendHost',
    ])
    for (const backendPort of [32_660, 32_760])
      for (const backendHost of ['127.0.0.1', '203.0.113.1', 'localhost'])
        expect(fieldsOf(await create({ backendHost, backendPort }, lab.local))).toEqual(['backendHost'])
    expect((await create({ backendHost: '127.0.0.1', backendPort: 32_761 }, lab.local)).statusCode).toBe(201)
    expect((await create({ backendHost: 'localhost' })).json().backendHost).toBeNull()
    expect((await create({ backendHost: '127.0.0.1' }, lab.local)).statusCode).toBe(201)
    expect((await create({}, 99_999)).statusCode).toBe(404)
  })
})

describe('the form', () => {
  it('shows all errors at once, including those that need the database', async () => {
    const held: TcpService = (await create({ name: 'first one' })).json()
    const answer = await create(
      {
        ...{ name: ' ', domain: 'not here.example', port: held.port, ssl: 'yes', backendHost: '10.9.9.9' },
        ...{ backendPort: 0, allowedIps: ['x'], blockedIps: ['203.0.113.1', 'y'] },
      },
      lab.gateway,
    )
    expect(answer.statusCode).toBe(422)
    expect(errorsOf(answer)).toEqual(
      expect.arrayContaining([
        { field: 'name', message: 'This field is required' },
        { field: 'domain', message: 'The domain must be in a valid format' },
        { field: 'port', message: `tcp port ${held.port} already belongs to “first one”` },
        { field: 'ssl', message: 'must be a boolean' },
        { field: 'backendHost', message: 'must be inside the networks of office: 192.168.7.0/24' },
        { field: 'backendPort', message: 'Enter a port from 1 to 65535.' },
        { field: 'allowedIps.0', message: expect.stringMatching(/^Enter an IP address or network/) },
        { field: 'blockedIps.1', message: expect.stringMatching(/^Enter an IP address or network/) },
      ]),
    )
    expect(errorsOf(answer)).toHaveLength(8)
  })

  it.each(['127.0.0.1', '::1', 'localhost'])(
    'explains how to reach the gateway itself, which is not %s',
    async (host) => {
      const answer = await create({ backendHost: host }, lab.gateway)
      expect(errorsOf(answer)).toEqual([
        {
          field: 'backendHost',
          message:
            'must be inside the networks of office: 192.168.7.0/24. For a program on office itself, use its address there',
        },
      ])
    },
  )

  it.each([
    [{ name: undefined }, 'name', 'This field is required'],
    [{ name: 7 }, 'name', 'must be a valid string'],
    [{ domain: '*.example.com' }, 'domain', 'Wildcards are not supported. Add each domain.'],
    [{ proto: 'sctp' }, 'proto', 'must be one of the allowed values'],
    [{ ssl: 1 }, 'ssl', 'must be a boolean'],
    [{ ssl: true, proto: 'udp' }, 'ssl', 'UDP has no TLS: choose tcp://, or switch SSL termination off'],
    [{ port: '32700' }, 'port', 'Enter a port from 1 to 65535.'],
    [{ port: 32_700.5 }, 'port', 'Enter a port from 1 to 65535.'],
    [{ port: 32_761 }, 'port', 'must be a port from 32660 to 32760'],
    [{ port: 443 }, 'port', 'must be a port from 32660 to 32760'],
    [{ port: 32_670 }, 'port', 'belongs to Postern itself'],
    [{ port: 32_671, proto: 'udp' }, 'port', 'belongs to Postern itself'],
    [{ backendPort: 65_536 }, 'backendPort', 'Enter a port from 1 to 65535.'],
    [{ allowedIps: 'x' }, 'allowedIps', 'must be an array'],
    [{ pathLocation: '/' }, 'pathLocation', 'Unknown field'],
    [{ updated_at: 'x' }, 'updated_at', 'Unknown field'],
  ])('refuses %j under %s', async (wrong, field, message) => {
    const answer = await create(wrong)
    expect([answer.statusCode, errorsOf(answer)]).toEqual([422, [{ field, message }]])
  })
})

it('the log of a TCP service has its type in the address', async () => {
  const { id } = (await create({})).json()
  const stream = (query: string) => lab.client.get(`/api/logs/stream?${query}`)
  for (const query of [`type=http&id=${id}`, 'type=tcp&id=999999', 'type=tcp&id=1'])
    expect((await stream(query)).statusCode, query).toBe(404)
  expect((await stream(`type=udp&id=${id}`)).statusCode).toBe(422)
})

it("without a domain uses the public host's name, if it has one", async () => {
  const { client, plain } = await duringTest(() =>
    startServiceLab({ POSTERN_PUBLIC_HOST: 'postern.example.com' }),
  )
  for (const form of [{}, { ssl: true, confirmSharedCookies: true }, { proto: 'udp' }]) {
    const made = await client.post(`/api/services/${plain}/tcp`, { name: 'x', backendPort: 1883, ...form })
    const { proto, port, publicAccess } = made.json()
    expect(publicAccess).toBe(`${proto}://postern.example.com:${port}`)
  }
})
