import type { RequestPage, ShownRequest } from '@postern/contract/requests/query'
import { connectEdgeClient } from '@postern/testkit/edge-client'
import { followStream } from '@postern/testkit/event-stream'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

const NOW = Date.parse('2026-11-26T12:00:00Z')
let edge: FakeEdge
let node: number
let other: number
let web: number
let api: number
const server = shared(startTestServer)
const client = shared(() => server.signIn())

beforeAll(async () => {
  await server.listen()
  await server.listenOnSocket()
  node = (await client.post('/api/nodes', { name: 'site' })).json().id
  other = (await client.post('/api/nodes', { name: 'elsewhere' })).json().id
  web = await publish(node, 'web.example.com')
  api = await publish(other, 'api.example.com')
  edge = await connectFakeEdge(server.context.config.paths)
  edge.keep([
    { at: NOW, service: web, path: '/old', status: 200 },
    { at: NOW + 1000, service: web, path: '/login', method: 'POST', status: 401, reason: 'sign-in' },
    { at: NOW + 2000, service: api, path: '/v1/users', status: 503, reason: 'refused', total: 4000 },
    { at: NOW + 3000, service: web, path: '/new', person: 'ann@example.com', source: '2001:db8::7' },
    { at: NOW + 4000, service: 999_999, type: 'tcp', path: null, method: null, status: null },
  ])
})

const publish = async (on: number, domain: string): Promise<number> => {
  const form = { name: domain.split('.')[0], domain, skipValidation: true }
  return (await client.post(`/api/services/${on}/http`, form)).json().id
}
const ask = async (query = '') => (await client.get(`/api/requests?${query}`)).json<RequestPage>()
const marks = ({ data }: { data: ShownRequest[] }) => data.map(({ path }) => path ?? 'tcp')

describe('the list', () => {
  it('is the newest first, with what services are called now', async () => {
    const page = await ask()
    expect(marks(page)).toEqual(['tcp', '/new', '/v1/users', '/login', '/old'])
    expect(page).toMatchObject({ next: null, silent: [] })
    expect(page.data[0]).toMatchObject({ serviceId: 999_999, service: null, edge: 'Local' })
    expect(page.data[1]?.service).toEqual({
      id: web,
      name: 'web',
      type: 'http',
      nodeId: node,
      nodeName: 'site',
      domain: 'web.example.com',
    })
  })

  it.each<[() => string, string[]]>([
    [() => `service=${api}`, ['/v1/users']],
    [() => 'service=999999', ['tcp']],
    [() => `node=${node}`, ['/new', '/login', '/old']],
    [() => `node=${node}&service=${api}`, []],
    [() => 'domain=API.example.com', ['/v1/users']],
    [() => 'status=401', ['/login']],
    [() => 'status=5xx', ['/v1/users']],
    [() => 'method=post', ['/login']],
    [() => 'path=ew', ['/new']],
    [() => 'source=2001:db8::/32', ['/new']],
    [() => 'person=Ann%40example.com', ['/new']],
    [() => 'reason=any', ['/v1/users', '/login']],
    [() => 'reason=refused', ['/v1/users']],
    [() => 'minTime=4000', ['/v1/users']],
    [() => 'type=tcp', ['tcp']],
    [() => 'from=2026-11-26T12:00:01Z&to=2026-11-26T13:00:03%2B01:00', ['/v1/users', '/login']],
  ])('finds what %s asks for', async (query, expected) => {
    expect(marks(await ask(query()))).toEqual(expected)
  })

  it('goes on page by page', async () => {
    const seen: string[] = []
    let next: string | null = ''
    for (let pages = 0; next !== null && pages < 9; pages++) {
      const page: RequestPage = await ask(`limit=2${next && `&before=${next}`}`)
      expect(page.data.length).toBeLessThanOrEqual(2)
      seen.push(...marks(page))
      next = page.next
    }
    expect(seen).toEqual(['tcp', '/new', '/v1/users', '/login', '/old'])
  })

  it.each([
    ['status=600', 'status'],
    ['status=4x', 'status'],
    ['source=203.0.113.0/33', 'source'],
    ['path=', 'path'],
    [`path=${'x'.repeat(201)}`, 'path'],
    ['reason=none', 'reason'],
    ['minTime=-1', 'minTime'],
    ['limit=201', 'limit'],
    ['limit=0', 'limit'],
    ['before=1-2-3;DROP', 'before'],
    ['from=yesterday', 'from'],
    ['from=2026-11-26T12:00:00Z&to=2026-11-26T12:00:00Z', 'to'],
    ['method=GET%20/', 'method'],
    ['service=0', 'service'],
    ['domain=..', 'domain'],
    ['colour=red', 'colour'],
    ['status=200&status=404', 'status'],
  ])('refuses %s at its field', async (query, field) => {
    for (const path of ['/api/requests', '/api/requests/export']) {
      if (path.endsWith('export') && /^(limit|before)/.test(query)) continue
      const more = path.endsWith('export') ? '&format=csv' : ''
      const answer = await client.get(`${path}?${query}${more}`)
      expect(answer.statusCode).toBe(422)
      expect(answer.json().errors).toMatchObject([{ field }])
    }
  })

  it.each([
    ['node=4711', 'Node not found'],
    ['domain=absent.example.com', 'Domain not found'],
  ])('says that %s is not there', async (query, message) => {
    const answer = await client.get(`/api/requests?${query}`)
    expect([answer.statusCode, answer.json().message]).toEqual([404, message])
  })

  it('is for who is signed in alone', async () => {
    for (const path of ['', '/stream', '/export?format=csv'])
      expect((await server.call({ method: 'GET', url: `/api/requests${path}` })).statusCode).toBe(401)
  })
})

describe('a stream', () => {
  it('brings what comes after the page, by the same filters', async () => {
    const { newest } = await ask()
    const url = `${server.origin}/api/requests/stream?after=${newest}&status=2xx&token=${client.token}`
    const stream = await followStream(url)
    onTestFinished(() => stream.close())
    edge.keep([
      { service: web, path: '/live', status: 204 },
      { service: web, path: '/broken', status: 500 },
    ])
    const batches = () => stream.listData() as { data: ShownRequest[] }[]
    await until('the first', () => batches().length === 1)
    edge.keep([{ service: web, path: '/later', status: 200 }])
    await until('the second', () => batches().length === 2)
    expect(batches().flatMap(marks)).toEqual(['/live', '/later'])
  })
})

describe('an export', () => {
  it('is all that the filters show, as JSON lines', async () => {
    const answer = await client.get('/api/requests/export?format=jsonl&to=2026-11-26T12:00:03Z')
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="requests-[\d-]+\.jsonl"$/)
    const [line, ...others] = answer.body.trimEnd().split('\n')
    expect(others).toHaveLength(2)
    expect(JSON.parse(line ?? '')).toMatchObject({
      time: '2026-11-26T12:00:02.000Z',
      service: 'api',
      node: 'elsewhere',
      path: '/v1/users',
      status: 503,
      reason: 'refused',
      why: 'the service refused the connection',
    })
  })

  it('is CSV that no spreadsheet runs', async () => {
    edge.keep([{ service: web, path: '/a,"b"', person: '=cmd()@example.com', method: 'EXPORTED' }])
    const answer = await client.get('/api/requests/export?format=csv&method=EXPORTED')
    const [head, line, ...rest] = answer.body.split('\r\n')
    expect(head).toMatch(/^time,type,service,/)
    expect(line).toContain(`,'=cmd()@example.com,EXPORTED,"/a,""b""",`)
    expect(rest).toEqual([''])
  })

  it('has more than fits into one answer of an edge', async () => {
    edge.keep(Array.from({ length: 2500 }, (_, n) => ({ service: web, method: 'MANY', path: `/${n}` })))
    const answer = await client.get('/api/requests/export?format=csv&method=MANY')
    expect(answer.body.trimEnd().split('\r\n')).toHaveLength(2501)
  })
})

describe('an edge that gives no answer', () => {
  it('is named, and does not keep the others waiting for long', async () => {
    edge.close()
    const mute = await connectEdgeClient(server.context.config.paths, { epoch: 'mute' })
    const began = performance.now()
    const page = await ask()
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(page).toMatchObject({ data: [], silent: ['Local'] })
    await until('that it may forget', () => mute.hints.some(({ type }) => type === 'forget'))
    const forgotten = () => mute.hints.filter(({ type }) => type === 'forget').length
    const before = forgotten()
    const leave = new AbortController()
    const headers = { authorization: `Bearer ${client.token}` }
    const left = fetch(`${server.origin}/api/requests`, { headers, signal: leave.signal })
    await until('its search', () => mute.hints.filter(({ type }) => type === 'search').length === 2)
    leave.abort()
    await expect(left).rejects.toThrow()
    const patience = { timeoutMs: 4000 }
    await until('that nobody waits', () => forgotten() > before, patience)
    const asked = mute.hints.filter(({ type }) => type === 'search').length
    const leaving = ask()
    await until('the search', () => mute.hints.filter(({ type }) => type === 'search').length > asked)
    mute.close()
    expect(await leaving).toMatchObject({ silent: ['Local'] })
  })

  it('keeps no more than two exports of a person waiting, however many are begun at once', async () => {
    const mute = await connectEdgeClient(server.context.config.paths, { epoch: 'mute2' })
    onTestFinished(() => mute.close())
    const headers = { authorization: `Bearer ${client.token}` }
    const begin = async () => {
      const answer = await fetch(`${server.origin}/api/requests/export?format=jsonl&node=${node}`, {
        headers,
      })
      return [answer.status, await answer.text().catch(() => 'broken off')]
    }
    // Asking for the head alone holds no place.
    const heads = Array.from({ length: 9 }, () =>
      fetch(`${server.origin}/api/requests/export?format=csv`, { method: 'HEAD', headers }),
    )
    expect((await Promise.all(heads)).map(({ status }) => status)).toEqual(Array(9).fill(200))
    const ends = await Promise.all(Array.from({ length: 9 }, begin))
    expect(mute.hints.filter(({ type }) => type === 'search')).toHaveLength(2)
    expect(
      ends.filter(([status, text]) => status === 503 && text?.toString().includes('Too many')),
    ).toHaveLength(7)
  })
})
