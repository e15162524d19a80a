import { LIMITS } from '@postern/contract/limits'
import type { Publication } from '@postern/contract/services/publishing'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { port, startPublishingLab, web, wordsOf } from '../../../test/publishing-lab.ts'

const lab = fresh(() => startPublishingLab({ POSTERN_PORT_RANGE: '32700-32729' }))
const raise = (shares: object) => lab.client.patch(`/api/nodes/${lab.node.id}`, shares)
const many = (count: number, make: (key: string) => object) =>
  Array.from({ length: count }, (_, i) => make(`k${i}`))
const publishedOf = (answers: readonly Publication[]) =>
  answers.filter(({ state }) => state === 'published').length

describe('the share of a node', () => {
  it.each([
    [
      'ports',
      LIMITS.agentPorts,
      port,
      { agentMaxPorts: 25 },
      "port goes beyond this node's limit of 20 ports",
    ],
    [
      'domains',
      LIMITS.agentPublishedDomains,
      web,
      { agentMaxDomains: 60 },
      "domain goes beyond this node's limit of 50 domains",
    ],
    [
      'services',
      2,
      (key: string) => web(key, { domain: 'a.example.com', pathLocation: `/${key}` }),
      { agentMaxServices: 7 },
      "key goes beyond this node's limit of 2 services",
    ],
    [
      'IP list entries',
      2,
      (key: string) => port(key, { allowedIps: ['10.0.0.0/8', '192.0.2.1'] }),
      { agentMaxEntries: 14 },
      "allowedIps goes beyond this node's limit of 4 IP list entries",
    ],
  ] as const)(
    'of %s is %i, over all sources, until a person raises it',
    async (what, share, make, raised, words) => {
      if (what === 'services') await raise({ agentMaxServices: share })
      if (what === 'IP list entries') await raise({ agentMaxEntries: 2 * share })
      expect(publishedOf(await lab.publish(many(share - 1, make)))).toBe(share - 1)
      const [one, two] = await lab.publish([make('x'), make('y')], { source: 'file' })
      expect([one?.state, two?.state]).toEqual(['published', 'refused'])
      expect(wordsOf(two)[0]).toContain(words)
      expect((await raise(raised)).statusCode).toBe(200)
      expect(
        publishedOf(
          await lab.publish(
            many(6, (key) => make(`f${key}`)),
            { source: 'file' },
          ),
        ),
      ).toBe(6)
    },
  )

  it('does not count what people publish there, and does not limit them', async () => {
    await raise({ agentMaxPorts: 0 })
    for (let i = 0; i < 3; i++)
      expect(
        (await lab.client.post(`/api/services/${lab.node.id}/tcp`, { name: 'mine', backendPort: 1 }))
          .statusCode,
      ).toBe(201)
    expect(wordsOf((await lab.publish([port('x')]))[0])[0]).toContain("this node's limit of 0 ports")
  })

  it('that is reduced removes the newest, and the agent is informed', async () => {
    await lab.publish(many(4, port))
    await raise({ agentMaxPorts: 2 })
    expect(await lab.published()).toEqual(['k0', 'k1'])
    expect((await lab.publish(many(4, port))).map(({ state }) => state)).toEqual([
      'published',
      'published',
      'refused',
      'refused',
    ])
  })

  it('removes nothing when an existing service changes', async () => {
    await raise({ agentMaxPorts: 1 })
    await lab.publish([port('a')])
    expect(publishedOf(await lab.publish([port('a', { backendPort: 99, port: 32_720 })]))).toBe(1)
  })

  it.each([{ agentMaxPorts: -1 }, { agentMaxServices: 1001 }, { agentMaxEntries: 1.5 }])(
    'cannot be %j',
    async (share) => {
      const answer = await raise(share)
      expect([answer.statusCode, answer.json().errors]).toEqual([
        422,
        [
          {
            field: Object.keys(share)[0],
            message: expect.stringMatching(/^Enter a number from 0 to \d+\.$/),
          },
        ],
      ])
    },
  )
})

describe('a port that was freed', () => {
  const free = async (name: string) => lab.remove(await lab.get(name))

  it('goes to its own node first, to a person last, and to another agent a day later', async () => {
    const other = await lab.createNode('two')
    await lab.client.post(`/api/services/${other.id}/tcp`, { name: 'broker', backendPort: 1883 })
    expect(await lab.get('broker')).toMatchObject({ port: 32_700 })
    await free('broker')
    const [taken] = await lab.publish([port('hostile')])
    expect(taken).toMatchObject({ port: 32_701 })
    await lab.client.post(`/api/services/${other.id}/tcp`, { name: 'again', backendPort: 1883 })
    expect(await lab.get('again')).toMatchObject({ port: 32_700 })
    await free('again')
    await raise({ agentMaxPorts: 100 })
    const set = many(30, port)
    expect(wordsOf((await lab.publish(set)).at(-1))).toEqual([
      'port Every free TCP port belonged to another node within the last day: delete a service, or widen POSTERN_PORT_RANGE',
    ])
    // A person can have it at once, an agent a day later.
    await lab.client.post(`/api/services/${lab.node.id}/tcp`, { name: 'of a person', backendPort: 1 })
    expect(await lab.get('of a person')).toMatchObject({ port: 32_700 })
    await free('of a person')
    expect((await lab.publish(set)).at(-1)).toMatchObject({ port: 32_700 })
    await lab.publish([])
    await lab.client.post(`/api/services/${other.id}/tcp`, { name: 'last', port: 32_700, backendPort: 1883 })
    await free('last')
    lab.server.now += 86_400_001
    expect((await lab.publish(set)).at(-1)).toMatchObject({ port: 32_700 })
  })

  it('is kept for as many as a node may use, the newest: none keeps more by going through them', async () => {
    const other = await lab.createNode('two')
    await raise({ agentMaxPorts: 10 })
    for (const from of [32_700, 32_710, 32_720])
      await lab.publish(Array.from({ length: 10 }, (_, i) => port(`k${from + i}`, { port: from + i })))
    await lab.publish([port('newest', { port: 32_729 })])
    const answers = await lab.publish(many(20, port), { from: other })
    expect(publishedOf(answers)).toBe(20)
    expect(answers.at(-1)).toMatchObject({ port: 32_719 })
    expect(
      wordsOf((await lab.publish([port('x', { port: 32_728 })], { from: other, source: 'file' }))[0])[0],
    ).toContain('port belonged to another node within the last day')
  })

  it('cannot be chosen by number within a day, except by its own node and by a person', async () => {
    const other = await lab.createNode('two')
    await lab.client.post(`/api/services/${other.id}/tcp`, {
      name: 'broker',
      port: 32_710,
      backendPort: 1883,
    })
    await free('broker')
    expect(wordsOf((await lab.publish([port('hostile', { port: 32_710 })]))[0])).toEqual([
      'port belonged to another node within the last day: leave the port out, or choose another one',
    ])
    expect(publishedOf(await lab.publish([port('own', { port: 32_710 })], { from: other }))).toBe(1)
    await lab.publish([], { from: other })
    const form = { name: 'moved', port: 32_710, backendPort: 1 }
    expect((await lab.client.post(`/api/services/${lab.node.id}/tcp`, form)).statusCode).toBe(201)
  })
})

describe('a name that was freed', () => {
  const shop = web('shop', { domain: 'shop.example.net' })
  const refusal = [
    'domain belonged to another node within the last day: give it to this one under “Domains Its Agent May Use” in its form, or choose another domain',
  ]
  const createOther = () => lab.createNode('two', { agentDomains: [] })

  it('is within a day its own node’s alone, unless a person gives it to another or deletes the node', async () => {
    const other = await createOther()
    await lab.publish([shop])
    await lab.publish([])
    expect(wordsOf((await lab.publish([shop], { from: other }))[0])).toEqual(refusal)
    expect(publishedOf(await lab.publish([shop]))).toBe(1)
    await lab.publish([{ ...shop, domain: 'moved.example.net' }])
    expect(wordsOf((await lab.publish([shop], { from: other }))[0])).toEqual(refusal)
    const given = { agentDomains: ['shop.example.net'] }
    await lab.client.patch(`/api/nodes/${other.id}`, given)
    expect(publishedOf(await lab.publish([shop], { from: other }))).toBe(1)
    await lab.publish([], { from: other })
    expect(wordsOf((await lab.publish([shop]))[0])).toEqual(refusal)
    await lab.client.delete(`/api/nodes/${other.id}`)
    expect(publishedOf(await lab.publish([shop]))).toBe(1)
  })

  it('is anybody’s a day later, and a person’s at once', async () => {
    const other = await createOther()
    await lab.publish([shop])
    await lab.publish([])
    const form = { name: 'mine', domain: 'shop.example.net', backendPort: 80 }
    const made = await lab.client.post(`/api/services/${other.id}/http`, form)
    expect(made.statusCode).toBe(201)
    await lab.publish([web('late', { domain: 'late.example.net' })])
    await lab.publish([])
    const late = web('late', { domain: 'late.example.net' })
    expect(publishedOf(await lab.publish([late], { from: other }))).toBe(0)
    lab.server.now += 86_400_001
    expect(publishedOf(await lab.publish([late], { from: other }))).toBe(1)
  })

  it('is kept for as many as a node may use, the newest: none keeps more by going through them', async () => {
    const other = await createOther()
    await raise({ agentMaxDomains: 2 })
    const names = ['a', 'b', 'c'].map((key) => web(key, { domain: `${key}.example.net` }))
    for (const each of names) await lab.publish([each])
    await lab.publish([])
    const answers = await lab.publish(names, { from: other })
    expect(answers.map(({ state }) => state)).toEqual(['published', 'refused', 'refused'])
  })

  it('is not reserved while another service of people or of the node uses it', async () => {
    const other = await createOther()
    await lab.publish([shop])
    const form = { name: 'beside', domain: 'shop.example.net', pathLocation: '/p', backendPort: 80 }
    await lab.client.post(`/api/services/${other.id}/http`, form)
    await lab.publish([])
    expect(publishedOf(await lab.publish([shop], { from: other }))).toBe(1)
  })
})

describe('what a person disabled', () => {
  it.each([
    ['a path', web, { domain: 'a.example.com', pathLocation: '/p' }],
    ['a port', port, { port: 32_705 }],
  ] as const)('stays disabled by %s, whatever key or source asks for it', async (_, make, address) => {
    await lab.publish([make('k1', address)])
    await lab.toggle(await lab.get('k1'), 'disable')
    const [again] = await lab.publish([make('k2', address)])
    expect(again).toMatchObject({ state: 'published', enabled: false, disabledByPerson: true })
    await lab.publish([])
    const [elsewhere] = await lab.publish([make('k3', address)], { source: 'other' })
    expect(elsewhere).toMatchObject({ state: 'published', enabled: false, disabledByPerson: true })
    const moved = make('k3', _ === 'a path' ? { ...address, pathLocation: '/q' } : { port: 32_706 })
    expect((await lab.publish([moved], { source: 'other' }))[0]).toMatchObject({ enabled: false })
    await lab.publish([make('k3', address)], { source: 'other' })
    await lab.toggle(await lab.get('k3'), 'enable')
    await lab.publish([], { source: 'other' })
    expect((await lab.publish([make('k4', address)]))[0]).toMatchObject({
      enabled: true,
      disabledByPerson: false,
    })
  })
})
