import type { TraceSight } from '@postern/contract/why/trace'
import type { Why, WhyStep, WhyStepName } from '@postern/contract/why/why'
import { callApi } from '@postern/testkit/api'
import { connectEdgeClient, edgeToken } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { startTestServer, TEST_NETWORK } from '@postern/testkit/server'
import { fresh, shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LookupError } from '../../core/domains/resolver.ts'

/** What DNS says; other names do not exist. */
const NAMES: Record<string, string[]> = {
  'web.example.com': ['203.0.113.1'],
  'moved.example.com': ['203.0.113.1'],
  'docs.example.com': ['203.0.113.1'],
}
const asked: string[] = []
const visited: string[] = []
const resolver = {
  async resolve(name: string) {
    asked.push(name)
    const found = NAMES[name]
    if (!found) throw new LookupError('absent')
    return found
  },
}
const visit = async (address: string) => {
  visited.push(address)
  return { kind: 'refused' as const }
}
const network = () => ({ ...TEST_NETWORK, addresses: ['203.0.113.1'] })

const server = shared(() =>
  startTestServer({
    settings: { POSTERN_PUBLIC_HOST: '203.0.113.1' },
    world: { resolver, visit, network },
    trustForwarded: true,
  }),
)
const client = shared(() => server.signIn())
const node = shared(() => client.createNode({ name: 'office' }))
async function publish(name: string, changes: object = {}, on = node.id): Promise<number> {
  const form = { name, domain: 'web.example.com', ...changes }
  return (await client.post(`/api/services/${on}/http`, form)).json().id
}
let web: number
beforeAll(async () => {
  await server.listenOnSocket()
  web = await publish('web')
})
const edge = fresh(() => connectFakeEdge(server.context.config.paths))
beforeEach(() => {
  asked.length = visited.length = 0
})

type Sight<Step> = Extract<TraceSight, { step: Step }>
const OPEN: Sight<'port'> = { step: 'port', port: 443, closed: null, wall: null }
const found = (service: number, path = '/', over: object = {}): TraceSight => ({
  step: 'route',
  found: { service, node: node.id, path, isDisabled: false, isConsole: false, ...over },
})
const IN: Sight<'access'> = { step: 'access', list: 'everyone', signIn: 'none' }
const peer = {
  isThere: true,
  latestHandshake: Date.now() - 12_000,
  endpoint: '198.51.100.7:51820',
  isUp: true,
}
const DOWN = { isThere: false, latestHandshake: null, endpoint: null, isUp: false }
const UP: Sight<'tunnel'> = { step: 'tunnel', peer }
const REACHED: Sight<'target'> = {
  step: 'target',
  address: '10.64.0.2',
  port: 80,
  result: 'connected',
  ms: 3,
}
const ANSWERED: Sight<'answer'> = { step: 'answer', status: 200, path: '/', result: 'answered', ms: 9 }
const all = () => [OPEN, found(web), IN, UP, REACHED, ANSWERED]
const ORDER: TraceSight['step'][] = ['port', 'certificate', 'route', 'access', 'tunnel', 'target', 'answer']
const placeOf = ({ step }: TraceSight) => ORDER.indexOf(step)

async function finish(begun: Why): Promise<Why> {
  return await until('the end', async () => {
    const now: Why = (await client.get(`/api/why/${begun.id}`)).json()
    return now.state !== 'looking' && now
  })
}
async function why(address: string, visitor?: string): Promise<Why> {
  const begun = await client.post('/api/why', { address, ...(visitor && { visitor }) })
  expect(begun.statusCode).toBe(201)
  return await finish(begun.json())
}
const stepOf = ({ steps }: Why, name: WhyStepName) => steps.find(({ step }) => step === name) as WhyStep // all are there
const stopOf = ({ steps }: Why) => steps.find(({ state }) => state === 'stop')
const states = ({ steps }: Why) => steps.map(({ state }) => state)

describe('the way to a service', () => {
  test('is one list of steps, each with what was seen and when', async () => {
    edge.setSights(all())
    const done = await why('https://web.example.com/?token=pts_secret')
    expect(done).toMatchObject({
      address: 'https://web.example.com/',
      state: 'works',
      service: { id: web, type: 'http', nodeId: node.id, nodeName: 'office', name: 'web' },
    })
    expect(states(done)).toEqual(['ok', 'ok', 'ok', 'none', 'ok', 'ok', 'ok', 'ok', 'ok'])
    expect(done.steps.every(({ at, seen }) => at !== null && seen !== '')).toBe(true)
    expect(stepOf(done, 'dns').seen).toBe('web.example.com has A 203.0.113.1.')
    expect(stepOf(done, 'tunnel').seen).toMatch(
      /^The last handshake of office was \d+ s ago, from 198.51.100.7:51820\.$/,
    )
    expect(stepOf(done, 'answer').seen).toBe('The program answered 200 for / after 9 ms.')
    expect(JSON.stringify(done) + server.logged()).not.toContain('pts_secret')
  })

  test.each<[TraceSight, RegExp, RegExp]>([
    [{ ...OPEN, closed: 'refused' }, /Nothing answers on port 443/, /home page/],
    [{ ...OPEN, wall: 'Visitors cannot reach anything until …' }, /Visitors cannot/, /Let port 443 in/],
    [{ step: 'certificate', served: null, isTrusted: false, problem: 'gone' }, /gone/, /./],
    [{ step: 'route', found: null }, /“web” is published here/, /Try again|row/],
    [{ ...IN, list: 'blocked' }, /among the blocked IPs of “web”/, /Remove/],
    [{ ...IN, signIn: 'needed' }, /no provider is set up/, /Set one up/],
    [{ step: 'tunnel', peer: DOWN }, /office is not in the tunnel/, /postern connect/],
    [{ ...REACHED, result: 'refused' }, /10.64.0.2:80: The service refused the connection/, /running/],
    [{ ...REACHED, address: null, port: null, result: 'no address' }, /./, /host of the backend|./],
    [{ ...ANSWERED, status: 502 }, /answered 502/, /program's own log/],
    [{ ...ANSWERED, status: null, result: 'silent', ms: 4000 }, /no answer in time/, /hangs/],
  ])(
    'stops where a visitor stops, with what to do, and nobody looks at what comes later: %j',
    async (last, seen, next) => {
      edge.setSights([...all().filter((sight) => placeOf(sight) < placeOf(last)), last, ...all()])
      const done = await why('web.example.com')
      expect(done.state).toBe('stopped')
      expect(stopOf(done)).toMatchObject({
        step: last.step,
        seen: expect.stringMatching(seen),
        next: expect.stringMatching(next),
      })
      const later = done.steps.slice(done.steps.findIndex(({ state }) => state === 'stop') + 1)
      expect(later.every(({ state, seen, at }) => state === 'waiting' && seen === '' && at === null)).toBe(
        true,
      )
    },
  )

  test('that is disabled, or taken by a longer path, says so', async () => {
    await client.patch(`/api/services/${node.id}/http/${web}/disable`, {})
    edge.setSights([OPEN, found(web, '/', { isDisabled: true })])
    expect(stopOf(await why('web.example.com'))).toMatchObject({
      step: 'route',
      next: 'Enable “web” in its row.',
    })
    await client.patch(`/api/services/${node.id}/http/${web}/enable`, {})
    const api = await publish('api', { pathLocation: '/api' })
    edge.setSights([OPEN, found(api, '/api'), IN, UP, REACHED, ANSWERED])
    const done = await why('web.example.com/api/users')
    expect(stepOf(done, 'route')).toMatchObject({
      state: 'note',
      seen: '“api” on office answers here, at /api. Its path is longer than /, so it takes this address from “web”.',
    })
    edge.setSights([OPEN, found(web)])
    expect(stopOf(await why('web.example.com/api/users'))?.seen).toContain(
      '“api” should answer here and does not',
    )
    await client.delete(`/api/services/${node.id}/http/${api}`)
  })

  test('is that of the person who asks, or of an address that was typed', async () => {
    edge.setSights([OPEN, found(web), { step: 'access', list: 'not allowed', signIn: 'none' }])
    expect(stopOf(await why('web.example.com', '198.51.100.9'))?.seen).toBe(
      '198.51.100.9 is not among the allowed IPs of “web”.',
    )
    const headers = { authorization: `Bearer ${client.token}`, 'x-forwarded-for': '198.51.100.77' }
    const payload = { address: 'web.example.com' }
    const begun = await server.call({ method: 'POST', url: '/api/why', headers, payload })
    expect((await finish(begun.json())).visitor).toBe('198.51.100.77')
  })
})

describe('DNS', () => {
  test('is asked about names of this installation only, and only its addresses are visited', async () => {
    edge.setSights([OPEN, { step: 'route', found: null }])
    const done = await why('https://stranger.example.org/')
    expect(stepOf(done, 'dns')).toMatchObject({ state: 'note' })
    expect(stopOf(done)?.seen).toBe('No service is published at https://stranger.example.org/.')
    await why('http://192.168.7.1/')
    await why('tcp://169.254.169.254:80')
    expect([asked, visited]).toEqual([[], []])
  })

  test('stops a visitor whose name leads elsewhere, but for a domain that was saved without it', async () => {
    await publish('moved', { domain: 'moved.example.com' })
    NAMES['moved.example.com'] = ['198.51.100.20']
    edge.setSights(all())
    const moved = await why('moved.example.com')
    expect(stopOf(moved)).toMatchObject({
      step: 'address',
      seen: expect.stringContaining(
        'moved.example.com points to 198.51.100.20 (A), which refuses connections',
      ),
      next: expect.stringContaining('Point it to 203.0.113.1.'),
    })
    const id = await publish('hidden', { domain: 'hidden.example.com', skipValidation: true })
    edge.setSights([OPEN, found(id), IN, UP, REACHED, ANSWERED])
    const done = await why('hidden.example.com')
    expect(done.state).toBe('works')
    expect(stepOf(done, 'dns')).toMatchObject({
      state: 'note',
      seen: 'hidden.example.com has no DNS record.',
    })
  })
})

describe('input', () => {
  test.each<[object, string]>([
    [{}, 'address'],
    [{ address: '' }, 'address'],
    [{ address: 'ftp://x.example.com' }, 'address'],
    [{ address: 'https://user:secret@web.example.com/' }, 'address'],
    [{ address: `https://web.example.com/${'x'.repeat(3000)}` }, 'address'],
    [{ address: 7 }, 'address'],
    [{ address: 'web.example.com', visitor: 'nobody' }, 'visitor'],
    [{ address: 'web.example.com', visitor: '10.0.0.0/8' }, 'visitor'],
    [{ address: 'web.example.com', target: '10.0.0.1' }, 'target'],
  ])('%j is refused at %s', async (body, field) => {
    const refused = await client.post('/api/why', body)
    expect(refused.statusCode).toBe(422)
    expect(refused.json().errors).toEqual([{ field, message: expect.any(String) }])
    expect(refused.body).not.toContain('secret')
  })
})

describe('who may ask', () => {
  const ask = (token: string, address: string) => server.as(token).post('/api/agent/why', { address })

  test('is who is signed in, and reads the own questions alone', async () => {
    const url = '/api/why'
    const payload = { address: 'web.example.com' }
    expect((await server.call({ method: 'POST', url, payload })).statusCode).toBe(401)
    expect((await server.as(node.token).post(url, payload)).statusCode).toBe(403)
    const mine = await why('web.example.com')
    expect((await (await server.signIn()).get(`/api/why/${mine.id}`)).statusCode).toBe(404)
    expect((await client.get('/api/why/999')).statusCode).toBe(404)
    expect((await client.get('/api/why/x')).statusCode).toBe(404)
  })

  test('is a node about services of its own', async () => {
    edge.setSights(all())
    const own = await ask(node.token, 'web.example.com')
    expect([own.statusCode, own.json().state]).toEqual([200, 'works'])
    const other = await client.createNode({ name: 'other' })
    const refused = await ask(other.token, 'web.example.com')
    expect(refused.statusCode).toBe(409)
    expect(refused.body).not.toContain('office')
    expect((await ask(client.token, 'web.example.com')).statusCode).toBe(403)
    const id = await publish('deep', { pathLocation: '/deep' }, other.id)
    edge.setSights([OPEN, found(id, '/deep', { node: other.id })])
    const taken = await ask(node.token, 'web.example.com/deep/x')
    expect(stopOf(taken.json())?.seen).toBe('A service of another node answers at this address.')
    expect(taken.json().service).toBeNull()
    expect(taken.body).not.toMatch(/“deep”|other"/)
  })

  test('is told of no other node’s service, also where one has a shorter or a longer path', async () => {
    const other = await client.createNode({ name: 'neighbour' })
    const id = await publish('own', { pathLocation: '/own' }, other.id)
    await publish('longer', { pathLocation: '/own/longer' })
    for (const route of [found(id, '/own', { node: other.id }), { step: 'route' as const, found: null }]) {
      edge.setSights([OPEN, route, IN, UP, REACHED, ANSWERED])
      const told = await ask(other.token, 'web.example.com/own/longer')
      expect(told.statusCode).toBe(200)
      expect(told.body).not.toMatch(/“web”|“longer”|office/)
    }
  })

  test('is root on the machine, who has the token of the edge', async () => {
    edge.setSights(all())
    const { paths } = server.context.config
    const answer = await callApi(paths.serverSocket, edgeToken(paths), 'POST', '/api/edge/why', {
      address: 'web.example.com',
    })
    expect(answer.json).toMatchObject({ state: 'works', visitor: null })
    expect((await client.post('/api/edge/why', { address: 'web.example.com' })).statusCode).toBe(401)
  })
})

describe('an edge', () => {
  const askWhy = () => client.post('/api/why', { address: 'web.example.com' })
  const connectOther = async (options: object = {}) => {
    const other = await connectEdgeClient(server.context.config.paths, options)
    await until('it to be known', async () => (await client.get('/api/edges')).json()[0].version !== null)
    return other
  }

  test('that is away, too old or silent is a step that says so', async () => {
    edge.close()
    await until('it to be away', () => server.context.edges.views().length === 0)
    expect(stopOf(await why('web.example.com'))).toMatchObject({
      step: 'port',
      seen: expect.stringContaining('No edge is connected'),
    })
    const old = await connectOther()
    expect(stopOf(await why('web.example.com'))).toMatchObject({ step: 'port', next: 'Update the edge.' })
    expect(old.hints.some(({ type }) => type === 'trace')).toBe(false)
    old.close()
  })

  test('that goes meanwhile ends the question', async () => {
    edge.close()
    const quiet = await connectOther({ can: ['trace'] })
    const begun = (await askWhy()).json()
    await until('the question', () => quiet.hints.some(({ type }) => type === 'trace'))
    expect(quiet.hints.find(({ type }) => type === 'trace')).toMatchObject({
      question: { kind: 'http', host: 'web.example.com', path: '/', isPlain: false },
      node: null,
    })
    expect((await askWhy()).statusCode).toBe(201)
    const third = await askWhy()
    expect([third.statusCode, Boolean(third.headers['retry-after'])]).toEqual([429, true])
    quiet.close()
    expect(stopOf(await finish(begun))?.seen).toContain('lost its connection meanwhile')
  })
})
