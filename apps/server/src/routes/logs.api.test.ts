import { connectEdgeClient, type EdgeClient } from '@postern/testkit/edge-client'
import { type Client, startTestServer, type TestServer } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

let server: TestServer
let client: Client
let origin: string
let edge: EdgeClient
let node: number
const aborts: AbortController[] = []
beforeAll(async () => {
  server = await startTestServer()
  client = await server.signIn()
  origin = await server.listen()
  await server.listenOnSocket()
  edge = await connectEdgeClient(server.context.config.paths)
  node = (await client.post('/api/nodes', { name: 'site' })).json().id
})
afterEach(() => {
  for (const abort of aborts.splice(0)) abort.abort()
})
afterAll(() => server.close())

const publish = async (domain: string, pathLocation = '/'): Promise<number> => {
  const form = { name: 's', domain, pathLocation, skipValidation: true }
  return (await client.post(`/api/services/${node}/http`, form)).json().id
}

/** A stream as a browser's EventSource reads it. */
async function open(query: string, { token = client.token, lastEventId = '' } = {}) {
  const abort = new AbortController()
  aborts.push(abort)
  const response = await fetch(`${origin}/api/logs/stream?${query}&token=${token}`, {
    headers: lastEventId === '' ? {} : { 'last-event-id': lastEventId },
    signal: abort.signal,
  })
  const stream = { status: response.status, response, lines: [] as string[], lastId: '', ended: false, abort }
  if (response.ok) void read(response, stream)
  return stream
}

async function read(response: Response, stream: { lines: string[]; lastId: string; ended: boolean }) {
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (data !== undefined) stream.lines.push(...JSON.parse(data))
        stream.lastId = /^id: (.*)$/m.exec(event)?.[1] ?? stream.lastId
      }
    }
  } catch {
    // The test ended the stream itself.
  }
  stream.ended = true
}

let seq = 0
const numbers = new Map<number, number>()
const log = (service: number, text: string, skipped = 0) => {
  const number = (numbers.get(service) ?? 0) + 1 + skipped
  numbers.set(service, number)
  edge.send({ type: 'logs', lines: [{ service, seq: ++seq, number, text }] })
}
const watched = () => edge.hints.findLast((hint) => hint.type === 'watch')?.services ?? []

describe('a stream', () => {
  it('tells the edge what is watched, and sends what is kept, then what comes', async () => {
    const service = await publish('kept.example.com')
    const first = await open(`type=http&id=${service}`)
    expect(first.response.headers.get('content-type')).toContain('text/event-stream')
    await until('the hint', () => watched().includes(service))
    log(service, 'one')
    await until('one', () => first.lines.length === 1)
    const second = await open('domain=Kept.example.com')
    log(service, 'two')
    await until('both', () => first.lines.length === 2 && second.lines.length === 2)
    expect(second.lines).toEqual(['one', 'two'])
    expect(second.lastId).toBe(`e1-${seq}`)
    first.abort.abort()
    second.abort.abort()
    await until('the end of watching', () => !watched().includes(service))
  })

  it('repeats nothing to a reader that comes back, and says what is missing', async () => {
    const service = await publish('back.example.com')
    const first = await open(`type=http&id=${service}`)
    await until('the hint', () => watched().includes(service))
    log(service, 'one')
    log(service, 'two')
    await until('two', () => first.lines.length === 2)
    const back = await open(`type=http&id=${service}`, { lastEventId: first.lastId })
    log(service, 'three', 4)
    await until('three', () => back.lines.includes('three'))
    expect(back.lines).toHaveLength(2)
    expect(back.lines[0]).toMatch(/^\[WARN\] \S+ 4 lines are missing$/)
  })

  it('of a domain follows services that come to it, and ends with the domain', async () => {
    const first = await publish('grow.example.com')
    const stream = await open('domain=grow.example.com')
    const second = await publish('grow.example.com', '/api')
    await until('the second one', () => watched().includes(second))
    log(second, 'from the second')
    await until('its line', () => stream.lines.length === 1)
    for (const id of [first, second]) await client.delete(`/api/services/${node}/http/${id}`)
    const [domain] = (await client.get('/api/domains?search=grow')).json()
    expect(stream.ended).toBe(false)
    await client.delete(`/api/domains/${domain.id}`)
    await until('the end', () => stream.ended)
  })

  it('ends with its service', async () => {
    const service = await publish('gone.example.com')
    const stream = await open(`type=http&id=${service}`)
    await client.delete(`/api/services/${node}/http/${service}`)
    await until('the end', () => stream.ended)
  })

  it('ends with the session', async () => {
    const other = await server.signIn()
    const service = await publish('session.example.com')
    const stream = await open(`type=http&id=${service}`, { token: other.token })
    await until('the hint', () => watched().includes(service))
    await other.post('/api/auth/logout')
    await until('the end', () => stream.ended)
    await until('the end of watching', () => !watched().includes(service))
  })

  it('is only for who is signed in, and about what there is', async () => {
    const service = await publish('auth.example.com')
    expect((await open(`type=http&id=${service}`, { token: 'x' })).status).toBe(401)
    expect((await open('type=http&id=99999')).status).toBe(404)
    expect((await open('domain=none.example.com')).status).toBe(404)
    expect((await open('type=tcp&id=1')).status).toBe(422)
    expect((await open('')).status).toBe(422)
    expect(server.logged()).not.toContain(client.token)
  })
})

describe('the edge', () => {
  it('hears what is watched when it comes back, and what it sends again is not shown again', async () => {
    const service = await publish('again.example.com')
    const stream = await open(`type=http&id=${service}`)
    await until('the hint', () => watched().includes(service))
    log(service, 'one')
    await until('one', () => stream.lines.length === 1)
    edge.close()
    edge = await connectEdgeClient(server.context.config.paths)
    await until('the hint again', () => watched().includes(service))
    edge.send({ type: 'logs', lines: [{ service, seq, number: 1, text: 'one' }] })
    log(service, 'two')
    await until('two', () => stream.lines.includes('two'))
    expect(stream.lines).toEqual(['one', 'two'])
  })
})
