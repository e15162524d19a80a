import type { TcpService, TcpServiceFormInput } from '@postern/contract/services'
import { connectEdgeClient, fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it } from 'vitest'

let plain: number
let gateway: number
const LOCAL = 1
const server = shared(() =>
  startTestServer({
    settings: { POSTERN_TUNNEL_PORT: '32670', POSTERN_HTTPS_PORT: '32671' },
    world: { resolver: { resolve: async () => ['198.51.100.1'] } },
  }),
)
const client = shared(() => server.signIn())
beforeAll(async () => {
  plain = (await client.post('/api/nodes', { name: 'plain' })).json().id
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  gateway = (await client.post('/api/nodes', { name: 'office', isGateway: true, gatewayNetworks })).json().id
})

type Sent = Partial<Record<keyof TcpServiceFormInput | 'pathLocation' | 'updated_at', unknown>>
const create = (form: Sent, node = plain) =>
  client.post(`/api/services/${node}/tcp`, { name: 'mqtt', backendPort: 1883, ...form })
const urlOf = ({ nodeId, id }: TcpService) => `/api/services/${nodeId}/tcp/${id}`
const errorsOf = (answer: { json(): { errors?: { field: string; message: string }[] } }) =>
  answer.json().errors ?? []
const fieldsOf = (answer: { json(): { errors?: { field: string; message: string }[] } }) =>
  errorsOf(answer)
    .map(({ field }) => field)
    .sort()
const portRouteOf = async (id: number) =>
  (await fetchState(server)).sections.ports.find((route) => route.id === id)

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
        ...{ type: 'tcp', nodeId: plain, nodeName: 'plain', name: 'mqtt', domain: null, proto: 'tcp' },
        ...{ port, ssl: false, backendHost: null, backendPort: 1883, allowedIps: [], blockedIps: [] },
        ...{ enabled: true, system: false, publicAccess: `tcp://203.0.113.1:${port}` },
      })
      expect((await client.get(urlOf(answer.json()))).json()).toEqual(answer.json())
    }
    const ports = ((await client.get('/api/services/tcp')).json() as TcpService[]).map(({ port }) => port)
    expect(ports).toEqual([32_660, 32_661, 32_662])
  })

  it('reaches the edges with what they need and no more', async () => {
    const lists = { allowedIps: ['203.0.113.9/24'], blockedIps: ['2001:db8::1'] }
    const form = {
      domain: 'mqtt.example.com',
      skipValidation: true,
      ssl: true,
      backendHost: '192.168.7.2',
      ...lists,
    }
    const made: TcpService = (await create(form, gateway)).json()
    expect(made).toMatchObject({ ssl: true, publicAccess: `tcp://mqtt.example.com:${made.port}` })
    expect(await portRouteOf(made.id)).toEqual({
      ...{ id: made.id, proto: 'tcp', port: made.port, tls: { domain: 'mqtt.example.com' }, enabled: true },
      node: { kind: 'gateway', id: gateway, address4: '10.64.0.3', subnets: ['192.168.7.0/24'] },
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
      node: { kind: 'plain', id: plain, address4: '10.64.0.2' },
      backend: { host: null, port: 1883 },
    })
    expect((await fetchState(server)).sections.routes.map(({ id }) => id)).toEqual([1])
  })

  it('makes its domain when that is new, checked like the form of domains', async () => {
    const wrong = await create({ domain: 'elsewhere.example.com' })
    expect(wrong.statusCode).toBe(422)
    expect(errorsOf(wrong)).toMatchObject([{ field: 'domain' }])
    expect((await client.get('/api/domains?search=elsewhere')).json()).toEqual([])
    expect((await create({ domain: 'Elsewhere.example.com', skipValidation: true })).statusCode).toBe(201)
    const [domain] = (await client.get('/api/domains?search=elsewhere')).json()
    expect(domain).toMatchObject({
      domain: 'elsewhere.example.com',
      ssl: 'self-signed',
      skipValidation: true,
    })
    expect((await create({ domain: 'elsewhere.example.com' })).statusCode).toBe(201)
  })

  it('goes where a service of its node may go', async () => {
    expect(fieldsOf(await create({ backendHost: '192.168.7.2' }))).toEqual(['backendHost'])
    expect(fieldsOf(await create({}, gateway))).toEqual(['backendHost'])
    expect(fieldsOf(await create({}, LOCAL))).toEqual(['backendHost'])
    expect(fieldsOf(await create({ backendHost: '127.0.0.1', backendPort: 32_671 }, LOCAL))).toEqual([
      'backendHost',
    ])
    for (const backendPort of [32_660, 32_760])
      for (const backendHost of ['127.0.0.1', '203.0.113.1', 'localhost'])
        expect(fieldsOf(await create({ backendHost, backendPort }, LOCAL))).toEqual(['backendHost'])
    expect((await create({ backendHost: '127.0.0.1', backendPort: 32_761 }, LOCAL)).statusCode).toBe(201)
    expect((await create({ backendHost: 'localhost' })).json().backendHost).toBeNull()
    expect((await create({ backendHost: '127.0.0.1' }, LOCAL)).statusCode).toBe(201)
    expect((await create({}, 99_999)).statusCode).toBe(404)
  })
})

describe('the form', () => {
  it('says all that is wrong at once, also what only the database knows', async () => {
    const held: TcpService = (await create({ name: 'first one' })).json()
    const answer = await create(
      {
        ...{ name: ' ', domain: 'not here.example', port: held.port, ssl: 'yes', backendHost: '10.9.9.9' },
        ...{ backendPort: 0, allowedIps: ['x'], blockedIps: ['203.0.113.1', 'y'] },
      },
      gateway,
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
    'says how a gateway itself is reached, and not as %s',
    async (host) => {
      const answer = await create({ backendHost: host }, gateway)
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

describe('a public port', () => {
  it('is one per protocol, which a disabled service keeps', async () => {
    const held: TcpService = (await create({ name: 'broker', port: 32_700 })).json()
    expect((await client.patch(`${urlOf(held)}/disable`)).json()).toMatchObject({
      enabled: false,
      port: 32_700,
    })
    const answer = await create({ port: 32_700 })
    const message = 'tcp port 32700 already belongs to “broker”'
    expect([answer.statusCode, answer.json()]).toMatchObject([
      409,
      { message, errors: [{ field: 'port', message }] },
    ])
    expect((await create({ port: 32_700, proto: 'udp' })).statusCode).toBe(201)
    expect((await client.patch(`${urlOf(held)}/enable`)).json()).toMatchObject({
      enabled: true,
      port: 32_700,
    })
    await client.delete(urlOf(held))
    expect((await create({ port: 32_700 })).statusCode).toBe(201)
  })

  it('stays when the form leaves it out or empties it, and changes with the protocol where it must', async () => {
    const a: TcpService = (await create({ name: 'a', port: 32_710 })).json()
    await create({ name: 'b', port: 32_710, proto: 'udp' })
    for (const port of [undefined, null, ''])
      expect((await client.patch(urlOf(a), { name: 'c', port })).json()).toMatchObject({
        name: 'c',
        port: 32_710,
      })
    expect((await client.patch(urlOf(a), { port: 32_711 })).json().port).toBe(32_711)
    expect((await client.patch(urlOf(a), { proto: 'udp', port: 32_710 })).statusCode).toBe(409)
    await client.patch(urlOf(a), { port: 32_710 })
    const moved = await client.patch(urlOf(a), { proto: 'udp', port: null })
    expect(moved.json()).toMatchObject({ proto: 'udp' })
    expect(moved.json().port).not.toBe(32_710)
  })

  it('that the settings no longer have is told, and another one is given instead', async () => {
    const first = await startTestServer()
    const { id } = (
      await (
        await first.signIn()
      ).post('/api/services/1/tcp', { name: 'a', backendHost: '::1', backendPort: 1883 })
    ).json()
    await first.close({ keepData: true })
    const second = await startTestServer({
      dataDir: first.dataDir,
      settings: { POSTERN_PORT_RANGE: '40000-40001' },
    })
    const user = await second.signIn()
    expect(fieldsOf(await user.patch(`/api/services/1/tcp/${id}`, { name: 'x' }))).toEqual(['port'])
    expect((await user.patch(`/api/services/1/tcp/${id}`, { name: 'x', port: null })).json().port).toBe(
      40_000,
    )
    await second.close()
  })
})

it('the log of a TCP service is asked for by its type', async () => {
  const { id } = (await create({})).json()
  const stream = (query: string) => client.get(`/api/logs/stream?${query}`)
  for (const query of [`type=http&id=${id}`, 'type=tcp&id=999999', 'type=tcp&id=1'])
    expect((await stream(query)).statusCode, query).toBe(404)
  expect((await stream(`type=udp&id=${id}`)).statusCode).toBe(422)
})

describe('what an edge knows of ports', () => {
  it('keeps a port that another program holds from being given, not from being chosen', async () => {
    const own = await startTestServer()
    const user = await own.signIn()
    const { id: nodeId } = (await user.post('/api/nodes', { name: 'site' })).json()
    const post = async (form: object) =>
      (await user.post(`/api/services/${nodeId}/tcp`, { name: 'a', backendPort: 1883, ...form })).json()
    await own.listenOnSocket()
    const edge = await connectEdgeClient(own.context.config.paths)
    const held = { tcp: [32_660, 32_661], udp: [32_662] }
    edge.report(1, { ports: { ipv4Only: [], ipv6Only: [], held } })
    await until('the report', () => own.context.edges.views()[0]?.held.tcp.length === 2)
    expect((await post({})).port).toBe(32_662)
    expect((await post({ proto: 'udp' })).port).toBe(32_660)
    expect((await post({ port: 32_661 })).port).toBe(32_661)
    edge.close()
    await own.close()
  })

  it('says on the row of a UDP service, and hints at it, that visitors come by IPv4 only', async () => {
    const own = await startTestServer()
    const user = await own.signIn()
    const form = { name: 'dns', proto: 'udp', backendHost: '127.0.0.1', backendPort: 53 }
    const made = (await user.post('/api/services/1/tcp', form)).json()
    await own.listenOnSocket()
    const edge = await connectEdgeClient(own.context.config.paths)
    const reported: number[] = []
    own.context.bus.listen((hint) => {
      if (hint.kind === 'reported') reported.push(...hint.services.map(({ id }) => id))
    })
    const { revision } = await fetchState(own)
    const state = async () => (await user.get(urlOf(made))).json().state
    const held = { tcp: [], udp: [] }
    edge.report(revision, { ports: { ipv4Only: [], ipv6Only: [], held } })
    await until('live', async () => (await state()).phase === 'live')
    await until('the hint', () => reported.includes(made.id))
    reported.length = 0
    edge.report(revision, { ports: { ipv4Only: [made.id], ipv6Only: [], held } })
    await until('the hint', () => reported.includes(made.id))
    expect(await state()).toEqual({
      phase: 'live',
      problem: null,
      note: 'IPv4 only: the backend has no IPv6 address. Whether a UDP service answers cannot be checked',
    })
    edge.close()
    await own.close()
  })
})

describe('50 writers at once', () => {
  it('get 50 ports, the lowest ones first, until the range is full', async () => {
    const other = await startTestServer({
      settings: { POSTERN_PORT_RANGE: '32660-32729', POSTERN_HTTP_PORT: '32661' },
    })
    const user = await other.signIn()
    const many = (proto: string) =>
      Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          user.post('/api/services/1/tcp', {
            name: `s${n}`,
            proto,
            backendHost: '::1',
            backendPort: 1883,
            domain: 'a.example.com',
            skipValidation: true,
          }),
        ),
      )
    const made = await many('udp')
    expect(made.map(({ statusCode }) => statusCode)).toEqual(made.map(() => 201))
    const ports = made.map((answer) => answer.json().port).sort((a, b) => a - b)
    expect(ports).toEqual([32_660, ...Array.from({ length: 49 }, (_, n) => 32_662 + n)])
    const rest = await many('udp')
    const refused = rest.filter(({ statusCode }) => statusCode !== 201)
    expect(rest.length - refused.length).toBe(19)
    for (const answer of refused)
      expect([answer.statusCode, errorsOf(answer)]).toEqual([
        409,
        [
          {
            field: 'port',
            message:
              'All udp ports from 32660 to 32729 are taken: delete a service, or widen POSTERN_PORT_RANGE',
          },
        ],
      ])
    expect((await many('tcp')).every(({ statusCode }) => statusCode === 201)).toBe(true)
    expect((await user.get('/api/domains')).json()).toHaveLength(1)
    await other.close()
  })

  it('of one port: one gets it, and the others hear who', async () => {
    const form = { port: 32_720 }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => create({ ...form, name: `w${n}` })),
    )
    const [winner, ...more] = answers.filter(({ statusCode }) => statusCode === 201)
    expect(more).toEqual([])
    const message = `tcp port 32720 already belongs to “${winner?.json().name}”`
    for (const answer of answers.filter((each) => each !== winner))
      expect([answer.statusCode, errorsOf(answer)]).toEqual([409, [{ field: 'port', message }]])
  })
})

it('without a domain is at the name of the public host, where that has one', async () => {
  const other = await startTestServer({ settings: { POSTERN_PUBLIC_HOST: 'postern.example.com' } })
  try {
    const admin = await other.signIn()
    const { id } = (await admin.post('/api/nodes', { name: 'n' })).json()
    for (const form of [{}, { ssl: true, confirmSharedCookies: true }, { proto: 'udp' }]) {
      const made = await admin.post(`/api/services/${id}/tcp`, { name: 'x', backendPort: 1883, ...form })
      const { proto, port, publicAccess } = made.json()
      expect(publicAccess).toBe(`${proto}://postern.example.com:${port}`)
    }
  } finally {
    await other.close()
  }
})
