import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = shared(startTestServer)
const client = shared(() => server.signIn())

const send = (payload: string, type = 'application/json') =>
  server.call({
    method: 'POST',
    url: '/api/nodes',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': type },
    payload,
  })

test('all errors of a form come at once, with dotted paths', async () => {
  const answer = await client.post('/api/nodes', {
    keepalive: 'often',
    isGateway: true,
    gatewayNetworks: [{ interface: '', subnet: '10.1.0.0' }],
    rights: 'all',
  })
  expect(answer.statusCode).toBe(422)
  const body = answer.json()
  expect(body.message).toBe('Validation failed')
  expect(body.requestId).toBe(body.requestId.trim())
  const fields = body.errors.map((error: { field: string }) => error.field).sort()
  expect(fields).toEqual([
    'gatewayNetworks.0.interface',
    'gatewayNetworks.0.subnet',
    'keepalive',
    'name',
    'rights',
  ])
})

test('an empty JSON body is an empty form', async () => {
  expect((await send('')).statusCode).toBe(422)
  const enable = await server.call({
    method: 'PATCH',
    url: '/api/nodes/99/enable',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
  })
  expect(enable.statusCode).toBe(404)
})

test("a malformed request gets 400, without the parser's message", async () => {
  const answer = await send('{"name": ')
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ message: 'The request cannot be read', code: 'unreadable' })
  expect((await send('{"__proto__": {"a": 1}, "name": "x"}')).statusCode).toBe(400)
  expect((await send('name=x', 'application/x-www-form-urlencoded')).statusCode).toBe(415)
  expect((await send(`{"name": "${'x'.repeat(300_000)}"}`)).statusCode).toBe(413)
  expect((await send('[]')).statusCode).toBe(422)
})

test('unknown query keys, and a bad order or page, are 422', async () => {
  const queries = [
    'colour=red',
    'orderBy=name',
    'orderBy=token_hash,asc',
    'orderBy=name,asc;DROP%20TABLE%20nodes',
    'limit=0',
    'limit=101',
    'page=1.5',
    'limit=5&limit=6',
  ]
  for (const query of queries) expect((await client.get(`/api/nodes?${query}`)).statusCode).toBe(422)
  expect((await client.get('/api/nodes/1?colour=red')).statusCode).toBe(422)
})

test('a malformed id does not exist', async () => {
  for (const id of ['0', '-1', 'abc', '1e3', '99999999999999999999', '%00', '2%20or%201=1']) {
    const answer = await client.get(`/api/nodes/${id}`)
    expect(answer.statusCode).toBe(404)
    expect(answer.json().message).toBe('Node not found')
  }
})

test('an unknown path below /api is 404 in JSON, also for a browser', async () => {
  const answer = await server.call({ method: 'GET', url: '/api/nothing', headers: { accept: 'text/html' } })
  expect(answer.statusCode).toBe(404)
  expect(answer.json().message).toBe('Page not found')
})

test('an internal error shows only a request id', async () => {
  const broken = await startTestServer()
  const { token } = await broken.signIn()
  await broken.context.db.schema.dropTable('node_tokens').execute()
  const answer = await broken.call({
    method: 'POST',
    url: '/api/nodes',
    headers: { authorization: `Bearer ${token}` },
    payload: { name: 'x' },
  })
  expect(answer.statusCode).toBe(500)
  expect(Object.keys(answer.json()).sort()).toEqual(['code', 'message', 'requestId'])
  expect(answer.body).not.toMatch(/node_tokens|sqlite|\.ts/i)
  expect(broken.logged()).toContain(answer.json().requestId)
  await broken.close()
})

test('an id in the body that is no id is refused at its field', async () => {
  const { id } = await client.createNode({ name: 'with an id' })
  for (const wrong of [null, [id], { toString: 1, valueOf: 1 }, id + 1])
    expect((await client.patch(`/api/nodes/${id}`, { id: wrong })).json().errors).toEqual([
      { field: 'id', message: 'cannot be changed' },
    ])
  expect((await client.patch(`/api/nodes/${id}`, { id })).statusCode).toBe(200)
})

test('pages may run no inline script and be in no frame', async () => {
  const answer = await server.call({ method: 'GET', url: '/', headers: { accept: 'text/html' } })
  const policy = String(answer.headers['content-security-policy'])
  expect(policy).toContain("default-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toMatch(/, script-src \*:\*\/assets\/$/)
  expect(policy).not.toMatch(/script-src[^,]*unsafe|unsafe-eval|upgrade-insecure/)
  expect(answer.headers['x-frame-options']).toBe('DENY')
})
