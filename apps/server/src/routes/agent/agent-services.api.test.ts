import { LIMITS } from '@postern/contract/limits'
import { fetchState } from '@postern/testkit/edge-client'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { port, refusal, startPublishingLab, web } from '../../../test/publishing-lab.ts'

const lab = fresh(() => startPublishingLab({ POSTERN_PORT_RANGE: '32700-32710' }, '198.51.100.1'))

describe('a set', () => {
  it('is published in one change, each service as if by its form', async () => {
    const before = await lab.revision()
    const answer = await lab.publish([
      web('grafana', { pathLocation: '/g', backendProto: 'https', allowedIps: ['203.0.113.7/24'] }),
      port('db', { port: 32705, domain: 'db.example.com', ssl: true }),
      { ...port('dns'), type: 'udp' },
    ])
    expect(answer).toEqual([
      {
        ...{ key: 'grafana', state: 'published', type: 'http', id: expect.any(Number) },
        ...{ address: 'https://grafana.example.com/g', enabled: true, disabledByPerson: false },
      },
      {
        ...{ key: 'db', state: 'published', type: 'tcp', id: expect.any(Number), port: 32705 },
        ...{ address: 'tcp://db.example.com:32705', enabled: true, disabledByPerson: false },
      },
      {
        ...{ key: 'dns', state: 'published', type: 'udp', id: expect.any(Number), port: 32700 },
        ...{ address: 'udp://203.0.113.1:32700', enabled: true, disabledByPerson: false },
      },
    ])
    expect(await lab.revision()).toBe(before + 1)
    expect(await lab.find('grafana')).toMatchObject({
      ...{ nodeId: lab.node.id, source: 'docker', system: false, backendPort: 8080, backendProto: 'https' },
      ...{ allowedIps: ['203.0.113.0/24'], requireAuth: false, enabled: true },
    })
    expect(await lab.find('db')).toMatchObject({ ssl: true, source: 'docker', port: 32705, proto: 'tcp' })
    const { routes } = (await fetchState(lab.server)).sections
    expect(routes).toContainEqual(expect.objectContaining({ domain: 'grafana.example.com', path: '/g' }))
  })

  it('that is sent again changes nothing, and gets the same answer', async () => {
    const set = [web('a'), port('b'), web('bad', { backendPort: 0 }), port('c', { port: 32700 })]
    const first = await lab.publish(set)
    const before = await lab.revision()
    expect(await lab.publish(set)).toEqual(first)
    expect(await lab.publish([...set])).toEqual(first)
    expect(await lab.revision()).toBe(before)
  })

  it('changes only what differs, and keeps ids and ports', async () => {
    const [a, b] = await lab.publish([web('a'), port('b')])
    const before = await lab.get('a')
    const [sameA, newB] = await lab.publish([web('a'), port('b', { backendPort: 5433, name: 'postgres' })])
    expect([sameA, newB]).toEqual([a, b])
    expect(await lab.get('a')).toEqual({ ...before, state: expect.anything() })
    expect(await lab.get('postgres')).toMatchObject({ backendPort: 5433 })
  })

  it('publishes the other services of a set with a bad one', async () => {
    const answer = await lab.publish([
      web('ok'),
      web('unnamed', { name: ' ' }),
      web('star', { domain: '*.example.com' }),
      web('without', { domain: undefined }),
      { key: 'odd', type: 'ftp' },
      port('low', { port: 22 }),
      port('wide', { backendPort: 70_000 }),
      web('strange', { backendHost: '192.168.7.9' }),
      web('ok'),
      web('lost', { domain: 'elsewhere.example.org' }),
      port('last'),
    ])
    expect(answer).toMatchObject([
      { key: 'ok', state: 'published' },
      { key: 'unnamed', ...refusal('name', 'This field is required') },
      { key: 'star', ...refusal('domain', 'Wildcards are not supported. Add each domain.') },
      { key: 'without', ...refusal('domain', 'The domain field is required') },
      { key: 'odd', ...refusal('type', 'must be http, tcp or udp') },
      { key: 'low', ...refusal('port', 'must be a port from 32700 to 32710') },
      { key: 'wide', ...refusal('backendPort', 'Enter a port from 1 to 65535.') },
      {
        key: 'strange',
        ...refusal('backendHost', 'This node can only expose its own services. Leave the host empty.'),
      },
      { key: 'ok', ...refusal('key', 'is used twice') },
      { key: 'lost', ...refusal('domain', /198\.51\.100\.1/) },
      { key: 'last', state: 'published' },
    ])
    expect(await lab.published()).toEqual(['ok', 'last'])
    expect(await lab.domains()).toEqual(['ok.example.com'])
  })

  it("lets services swap addresses, and a new one take another's", async () => {
    const at = (key: string, pathLocation: string) => web(key, { domain: 'one.example.com', pathLocation })
    const first = await lab.publish([
      at('a', '/a'),
      at('b', '/b'),
      port('p', { port: 32701 }),
      port('q', { port: 32702 }),
    ])
    const second = await lab.publish([
      at('a', '/b'),
      at('b', '/a'),
      port('p', { port: 32702 }),
      port('q', { port: 32701 }),
    ])
    expect(second).toMatchObject(first.map(({ key }) => ({ key, state: 'published' })))
    expect(await lab.get('a')).toMatchObject({ pathLocation: '/b' })
    expect(await lab.publish([at('c', '/b'), { ...port('p', { port: 32702 }), type: 'udp' }])).toMatchObject([
      { key: 'c', state: 'published' },
      { key: 'p', state: 'published', type: 'udp' },
    ])
    expect(await lab.published()).toEqual(['c', 'p'])
  })

  it('gives an address to one of two, always the same', async () => {
    const set = [port('first', { port: 32703 }), port('second', { port: 32703 })]
    const answer = await lab.publish(set)
    expect(answer).toMatchObject([
      { key: 'first', state: 'published' },
      { key: 'second', ...refusal('port', 'tcp port 32703 already belongs to “first”') },
    ])
    expect(await lab.publish(set.toReversed())).toMatchObject([{ state: 'refused' }, { state: 'published' }])
  })

  it('assigns ports after those that are named', async () => {
    expect(await lab.publish([port('any'), port('own', { port: 32700 })])).toMatchObject([
      { key: 'any', port: 32701 },
      { key: 'own', port: 32700 },
    ])
  })

  it('that no longer contains a service ends it; an empty one ends all', async () => {
    await lab.publish([web('a'), web('b'), port('c')])
    await lab.publish([web('b')])
    expect(await lab.published()).toEqual(['b'])
    expect(await lab.publish([])).toEqual([])
    expect(await lab.published()).toEqual([])
    const before = await lab.revision()
    await lab.publish([])
    expect(await lab.revision()).toBe(before)
  })

  it('ends a publication that is no longer valid', async () => {
    await lab.publish([web('a')])
    expect(await lab.publish([web('a', { backendPort: 0 })])).toMatchObject([{ state: 'refused' }])
    expect(await lab.published()).toEqual([])
  })

  it('holds 200 services, not more; a key is short and printable', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        web(`s${i}`, { domain: 'one.example.com', pathLocation: `/${i}` }),
      )
    expect(
      (await lab.publish(many(LIMITS.publishedServices))).every(({ state }) => state === 'published'),
    ).toBe(true)
    expect((await lab.send({ source: 'docker', services: many(201) })).json().errors).toEqual([
      { field: 'services', message: 'must have at most 200 entries' },
    ])
    for (const key of ['', ' a', 'a\n', 'ä', 'x'.repeat(201), 7, undefined]) {
      const answer = await lab.send({ source: 'docker', services: [{ ...web('x'), key }] })
      expect(answer.statusCode).toBe(422)
      expect(answer.json().errors[0].field).toBe('services.0.key')
    }
    for (const source of ['', 'Docker', '-', '../../x', 'a'.repeat(33), null])
      expect((await lab.send({ source, services: [] })).statusCode).toBe(422)
  })

  it('comes from at most five sources, and not endlessly', async () => {
    for (let i = 0; i < LIMITS.sourcesPerNode; i++) await lab.publish([web(`s${i}`)], { source: `s${i}` })
    const refused = await lab.send({ source: 'more', services: [web('more')] })
    expect(refused.statusCode).toBe(409)
    expect(refused.json().message).toMatch(/^This node already has services of “s0”, “s1”, “s2”, “s3”, “s4”/)
    await lab.publish([], { source: 's0' })
    await lab.publish([web('more')], { source: 'more' })
    const statuses = await Promise.all(
      Array.from({ length: 200 }, () => lab.send({ source: 's1', services: [] })),
    )
    const late = statuses.filter(({ statusCode }) => statusCode === 429)
    expect(late.length).toBeGreaterThan(0)
    expect(Number(late[0]?.headers['retry-after'])).toBeGreaterThan(0)
  })
})
