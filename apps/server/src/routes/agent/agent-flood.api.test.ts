import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { HttpService } from '@postern/contract/services/services'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'

/** A hostile node with a valid token, which speaks WebSocket byte by byte. */
let port: number
let token: string
const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  port = Number(new URL(await server.listen()).port)
  token = (await client.post('/api/nodes', { name: 'hostile' })).json().token
})

/** Reads nothing once it is upgraded, unless told to. */
async function openSilent(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  // The server may disconnect it at any moment, which is what is tested.
  socket.on('error', () => undefined)
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET /api/agent/socket HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
      `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  )
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 101/)
  socket.pause()
  return socket
}

/** A frame with a mask of zeros. */
function frame(opcode: number, payload: Buffer, isLast = true): Buffer {
  return Buffer.concat([
    Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]),
    payload,
  ])
}

const many = (one: Buffer) => Buffer.concat(Array.from({ length: 500 }, () => one))
const FLOODS: [string, Buffer[]][] = [
  ['pings', [many(frame(9, Buffer.alloc(125)))]],
  ['unsolicited pongs', [many(frame(10, Buffer.alloc(125)))]],
  [
    'a message in endless pieces of one byte',
    [frame(1, Buffer.alloc(1), false), many(frame(0, Buffer.alloc(1), false))],
  ],
  [
    'a message in endless pieces of nothing',
    [frame(1, Buffer.alloc(1), false), many(frame(0, Buffer.alloc(0), false))],
  ],
  [
    'a frame that announces 4 MB',
    [Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x3f, 0xff, 0xff, 0, 0, 0, 0]), Buffer.alloc(60_000)],
  ],
]

test.each(FLOODS)(
  '%s end the socket within a few kB, however fast they come',
  async (_what, [first, more]) => {
    const socket = await openSilent()
    let sent = 0
    const open = () => !socket.destroyed && socket.writable
    const write = () => {
      while (open() && sent < 64_000_000 && socket.write(more ?? first ?? ''))
        sent += (more ?? first ?? '').length
    }
    socket.on('drain', write)
    if (more) socket.write(first ?? '')
    write()
    await until('the server to drop it', () => !open())
    // What the kernel's buffers took; the server itself reads a few chunks.
    expect(sent).toBeLessThan(16_000_000)
  },
)

test('many sockets of one node leave four, and the console answers meanwhile', async () => {
  const sockets: Socket[] = []
  const times: number[] = []
  for (let round = 0; round < 20; round++) {
    sockets.push(...(await Promise.all(Array.from({ length: 10 }, openSilent))))
    const start = performance.now()
    expect((await client.get('/api/nodes')).statusCode).toBe(200)
    times.push(performance.now() - start)
  }
  for (const socket of sockets) socket.resume()
  await until('the rest to be dropped', () => sockets.filter((socket) => !socket.destroyed).length <= 4)
  expect(sockets.filter((socket) => !socket.destroyed)).toHaveLength(4)
  // At least half of them: the machine may be busy meanwhile.
  expect(times.sort((a, b) => a - b)[10]).toBeLessThan(1000)
  for (const socket of sockets) socket.destroy()
})

/** Values that a hostile node may put into any field of a service. */
const HOSTILE: readonly unknown[] = [
  ...[
    '',
    ' ',
    '*',
    '.',
    '..',
    '/',
    '//',
    '\0',
    '\r\nX: y',
    `\${jndi:x}`,
    '$(id)',
    '`id`',
    "'; DROP TABLE services;--",
  ],
  ...[
    '%00',
    '../../../etc/passwd',
    '\u202egnp.exe',
    '\ud800',
    'xn--a',
    'a'.repeat(5000),
    'localhost',
    '127.0.0.1',
  ],
  ...[
    '0',
    '00000080',
    '1e3',
    '-1',
    '65536',
    'http://x',
    'x:80',
    '[::1]',
    '::ffff:127.0.0.1',
    '.example.com',
    'a b',
  ],
  ...[null, true, false, 0, -1, 1.5, 65_536, 1e300, [], ['x'], [[]], {}, { toString: 'x' }, { length: 5 }],
]
const FIELDS = [
  ...['type', 'name', 'domain', 'pathLocation', 'backendProto', 'backendHost', 'backendPort', 'port', 'ssl'],
  ...[
    'allowedIps',
    'blockedIps',
    'enabled',
    'skipValidation',
    'requireAuth',
    'skipAuthRoutes',
    'nodeId',
    'id',
  ],
  ...['source', 'system', 'constructor', 'toString', 'hasOwnProperty'],
]

test('a hostile set publishes nothing against the rules, and hides no valid service', async () => {
  const { token } = (
    await client.post('/api/nodes', {
      name: 'liar',
      agentMayPublish: true,
      agentDomains: ['right.example.com'],
    })
  ).json()
  const put = (payload: string) =>
    server.call({
      ...{ method: 'PUT', url: '/api/agent/services', payload },
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
  for (const field of FIELDS) {
    const right = { type: 'http', name: 'right', domain: 'right.example.com', backendPort: 80 }
    const services = HOSTILE.map((value, index) => ({
      ...{ ...right, key: `k${index}`, pathLocation: `/p${index}`, [field]: value },
    }))
    const good = { ...right, key: 'good', pathLocation: '/good' }
    const answer = await put(JSON.stringify({ source: 'docker', services: [...services, good] }))
    expect(answer.statusCode, field).toBe(200)
    expect(answer.json().services.at(-1), field).toMatchObject({ key: 'good', state: 'published' })
    const rows: HttpService[] = (await client.get('/api/services/http')).json()
    for (const row of rows.filter(({ source }) => source !== null)) {
      expect(row, field).toMatchObject({
        requireAuth: false,
        skipAuthRoutes: null,
        system: false,
        source: 'docker',
      })
      expect(row.name, field).not.toMatch(/[\p{Cc}\p{Cs}\u202e]/u)
      expect(row.domain, field).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
      expect(row.pathLocation, field).toMatch(/^\/[\w/.~-]*$/)
      expect(row.backendHost, field).toBeNull()
    }
    // The edge, too, can read the resulting state.
    await fetchState(server)
  }
})

test.each([
  ['no object', '[]'],
  ['no JSON', '{"source":"docker","services":['],
  ['no list', '{"source":"docker","services":{"length":1}}'],
  ['no services', '{"source":"docker","services":[null,1,"x",[]]}'],
  ['another prototype', '{"__proto__":{"source":"docker","services":[]}}'],
  ['a list without end', `{"source":"docker","services":[${'{},'.repeat(9000)}{}]}`],
  ['a body without end', `{"source":"${'x'.repeat(300_000)}","services":[]}`],
  ['a deep nest', `{"source":"docker","services":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
])('a set that is %s is refused with a short message', async (_what, payload) => {
  const { token } = (await client.post('/api/nodes', { name: 'liar', agentMayPublish: true })).json()
  const answer = await server.call({
    ...{ method: 'PUT', url: '/api/agent/services', payload },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  expect([400, 413, 422]).toContain(answer.statusCode)
  expect(answer.body.length).toBeLessThan(4000)
})
