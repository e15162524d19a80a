import type { TcpService, TcpServiceFormInput } from '@postern/contract/services/services'
import { connectEdgeClient, fetchState } from '@postern/testkit/edge-client'
import { duringTest, shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, it } from 'vitest'
import { errorsOf, fieldsOf, startServiceLab } from '../../../test/service-lab.ts'

const SETTINGS = { POSTERN_TUNNEL_PORT: '32670', POSTERN_HTTPS_PORT: '32671' }
const lab = shared(() => startServiceLab(SETTINGS))

type Sent = Partial<Record<keyof TcpServiceFormInput | 'pathLocation' | 'updated_at', unknown>>
const create = (form: Sent, node = lab.plain) =>
  lab.client.post(`/api/services/${node}/tcp`, { name: 'mqtt', backendPort: 1883, ...form })
const urlOf = ({ nodeId, id }: TcpService) => `/api/services/${nodeId}/tcp/${id}`

describe('a public port', () => {
  it('is one per protocol, which a disabled service keeps', async () => {
    const held: TcpService = (await create({ name: 'broker', port: 32_700 })).json()
    expect((await lab.client.patch(`${urlOf(held)}/disable`)).json()).toMatchObject({
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
    expect((await lab.client.patch(`${urlOf(held)}/enable`)).json()).toMatchObject({
      enabled: true,
      port: 32_700,
    })
    await lab.client.delete(urlOf(held))
    expect((await create({ port: 32_700 })).statusCode).toBe(201)
  })

  it('stays when the form omits or empties it, and changes with the protocol if it must', async () => {
    const a: TcpService = (await create({ name: 'a', port: 32_710 })).json()
    await create({ name: 'b', port: 32_710, proto: 'udp' })
    for (const port of [undefined, null, ''])
      expect((await lab.client.patch(urlOf(a), { name: 'c', port })).json()).toMatchObject({
        name: 'c',
        port: 32_710,
      })
    expect((await lab.client.patch(urlOf(a), { port: 32_711 })).json().port).toBe(32_711)
    expect((await lab.client.patch(urlOf(a), { proto: 'udp', port: 32_710 })).statusCode).toBe(409)
    await lab.client.patch(urlOf(a), { port: 32_710 })
    const moved = await lab.client.patch(urlOf(a), { proto: 'udp', port: null })
    expect(moved.json()).toMatchObject({ proto: 'udp' })
    expect(moved.json().port).not.toBe(32_710)
  })

  it('that the settings no longer allow is reported, and another one is assigned instead', async () => {
    const { server, client } = await duringTest(startServiceLab)
    const form = { name: 'a', backendHost: '::1', backendPort: 1883 }
    const url = urlOf((await client.post('/api/services/1/tcp', form)).json())
    await server.restart({ settings: { POSTERN_PORT_RANGE: '40000-40001' } })
    expect(fieldsOf(await client.patch(url, { name: 'x' }))).toEqual(['port'])
    expect((await client.patch(url, { name: 'x', port: null })).json().port).toBe(40_000)
  })
})

describe('what an edge knows about ports', () => {
  it('keeps a port that another program holds from being assigned, but not from being chosen', async () => {
    const { server: own, client: user, plain: site } = await duringTest(startServiceLab)
    const post = async (form: object) =>
      (await user.post(`/api/services/${site}/tcp`, { name: 'a', backendPort: 1883, ...form })).json()
    await own.listenOnSocket()
    const edge = await connectEdgeClient(own.context.config.paths)
    const held = { tcp: [32_660, 32_661], udp: [32_662] }
    edge.report(1, { ports: { ipv4Only: [], ipv6Only: [], held } })
    await until('the report', () => own.context.edges.views()[0]?.held.tcp.length === 2)
    expect((await post({})).port).toBe(32_662)
    expect((await post({ proto: 'udp' })).port).toBe(32_660)
    expect((await post({ port: 32_661 })).port).toBe(32_661)
    edge.close()
  })

  it('shows in the row of a UDP service that only IPv4 visitors can use it, with a hint', async () => {
    const { server: own, client: user } = await duringTest(startServiceLab)
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
  })
})

describe('50 writers at once', () => {
  it('get 50 ports, the lowest ones first, until the range is full', async () => {
    const settings = { POSTERN_PORT_RANGE: '32660-32729', POSTERN_HTTP_PORT: '32661' }
    const { client: user } = await duringTest(() => startServiceLab(settings))
    const form = { backendHost: '::1', backendPort: 1883, domain: 'a.example.com', skipValidation: true }
    const post = (proto: string, n: number) =>
      user.post('/api/services/1/tcp', { name: `s${n}`, proto, ...form })
    const many = (proto: string) => Promise.all(Array.from({ length: 50 }, (_, n) => post(proto, n)))
    const made = await many('udp')
    expect(made.map(({ statusCode }) => statusCode)).toEqual(made.map(() => 201))
    const ports = made.map((answer) => answer.json().port).sort((a, b) => a - b)
    expect(ports).toEqual([32_660, ...Array.from({ length: 49 }, (_, n) => 32_662 + n)])
    const rest = await many('udp')
    const refused = rest.filter(({ statusCode }) => statusCode !== 201)
    const message =
      'All udp ports from 32660 to 32729 are taken: delete a service, or widen POSTERN_PORT_RANGE'
    expect(rest.length - refused.length).toBe(19)
    for (const answer of refused)
      expect([answer.statusCode, errorsOf(answer)]).toEqual([409, [{ field: 'port', message }]])
    expect((await many('tcp')).every(({ statusCode }) => statusCode === 201)).toBe(true)
    expect((await user.get('/api/domains')).json()).toHaveLength(1)
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
