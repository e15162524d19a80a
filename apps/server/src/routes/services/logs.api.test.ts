import { connectEdgeClient, type EdgeClient } from '@postern/testkit/edge-client'
import { type FollowedStream, followStream } from '@postern/testkit/event-stream'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

let edge: EdgeClient
let node: number
const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  await server.listen()
  await server.listenOnSocket()
  edge = await connectEdgeClient(server.context.config.paths)
  node = (await client.post('/api/nodes', { name: 'site' })).json().id
})

const publish = async (domain: string, pathLocation = '/'): Promise<number> => {
  const form = { name: 's', domain, pathLocation, skipValidation: true }
  return (await client.post(`/api/services/${node}/http`, form)).json().id
}

async function open(query: string, { token = client.token, lastEventId = '' } = {}) {
  const headers: Record<string, string> = lastEventId === '' ? {} : { 'last-event-id': lastEventId }
  const stream = await followStream(`${server.origin}/api/logs/stream?${query}&token=${token}`, headers)
  onTestFinished(() => stream.close())
  return stream
}
/** The lines that a stream has brought. */
const linesOf = (stream: FollowedStream) => stream.listData().flat()

let seq = 0
const numbers = new Map<number, number>()
const log = (service: number, text: string, skipped = 0) => {
  const number = (numbers.get(service) ?? 0) + 1 + skipped
  numbers.set(service, number)
  edge.send({ type: 'logs', lines: [{ service, seq: ++seq, number, text }] })
}
const watched = () => edge.hints.findLast((hint) => hint.type === 'watch')?.services ?? []

describe('a stream', () => {
  it('tells the edge what is watched, and sends the kept lines, then the new ones', async () => {
    const service = await publish('kept.example.com')
    const first = await open(`type=http&id=${service}`)
    expect(first.headers.get('content-type')).toContain('text/event-stream')
    await until('the hint', () => watched().includes(service))
    log(service, 'one')
    await until('one', () => linesOf(first).length === 1)
    const second = await open('domain=Kept.example.com')
    log(service, 'two')
    await until('both', () => linesOf(first).length === 2 && linesOf(second).length === 2)
    expect(linesOf(second)).toEqual(['one', 'two'])
    expect(second.lastId()).toBe(`e1-${seq}`)
    first.close()
    second.close()
    await until('the end of watching', () => !watched().includes(service))
  })

  it('repeats nothing to a reader that reconnects, and says what is missing', async () => {
    const service = await publish('back.example.com')
    const first = await open(`type=http&id=${service}`)
    await until('the hint', () => watched().includes(service))
    log(service, 'one')
    log(service, 'two')
    await until('two', () => linesOf(first).length === 2)
    const back = await open(`type=http&id=${service}`, { lastEventId: first.lastId() })
    log(service, 'three', 4)
    await until('three', () => linesOf(back).includes('three'))
    expect(linesOf(back)).toHaveLength(2)
    expect(linesOf(back)[0]).toMatch(/^\[WARN\] \S+ 4 lines are missing$/)
  })

  it('of a domain also follows new services there, and ends with the domain', async () => {
    const first = await publish('grow.example.com')
    const stream = await open('domain=grow.example.com')
    const second = await publish('grow.example.com', '/api')
    await until('the second one', () => watched().includes(second))
    log(second, 'from the second')
    await until('its line', () => linesOf(stream).length === 1)
    for (const id of [first, second]) await client.delete(`/api/services/${node}/http/${id}`)
    const [domain] = (await client.get('/api/domains?search=grow')).json()
    expect(stream.isEnded).toBe(false)
    await client.delete(`/api/domains/${domain.id}`)
    await until('the end', () => stream.isEnded)
  })

  it('ends with its service', async () => {
    const service = await publish('gone.example.com')
    const stream = await open(`type=http&id=${service}`)
    await client.delete(`/api/services/${node}/http/${service}`)
    await until('the end', () => stream.isEnded)
  })

  it('ends with the session', async () => {
    const other = await server.signIn()
    const service = await publish('session.example.com')
    const stream = await open(`type=http&id=${service}`, { token: other.token })
    await until('the hint', () => watched().includes(service))
    await other.post('/api/auth/logout')
    await until('the end', () => stream.isEnded)
    await until('the end of watching', () => !watched().includes(service))
  })

  it('needs a session, and an existing domain or service', async () => {
    const service = await publish('auth.example.com')
    expect((await open(`type=http&id=${service}`, { token: 'x' })).status).toBe(401)
    expect((await open('type=http&id=99999')).status).toBe(404)
    expect((await open('domain=none.example.com')).status).toBe(404)
    expect((await open('type=tcp&id=1')).status).toBe(404)
    expect((await open('type=udp&id=1')).status).toBe(422)
    expect((await open('')).status).toBe(422)
    expect(server.logged()).not.toContain(client.token)
  })
})

describe('the edge', () => {
  it('gets the watched services when it reconnects, and lines that it sends again are not shown twice', async () => {
    const service = await publish('again.example.com')
    const stream = await open(`type=http&id=${service}`)
    await until('the hint', () => watched().includes(service))
    log(service, 'one')
    await until('one', () => linesOf(stream).length === 1)
    edge.close()
    edge = await connectEdgeClient(server.context.config.paths)
    await until('the hint again', () => watched().includes(service))
    edge.send({ type: 'logs', lines: [{ service, seq, number: 1, text: 'one' }] })
    log(service, 'two')
    await until('two', () => linesOf(stream).includes('two'))
    expect(linesOf(stream)).toEqual(['one', 'two'])
  })
})
