import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { createResolver, findDnsProblem } from './dns-check.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close()
})

/** A name server that answers A with an address and AAAA with nothing, or nothing at all. @returns `address:port` */
async function serve(address: string | undefined): Promise<string> {
  const socket = createSocket('udp4')
  sockets.push(socket)
  socket.on('message', (query, from) => {
    if (address !== undefined) socket.send(answerTo(query, address), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

function answerTo(query: Buffer, address: string): Buffer {
  const end = query.indexOf(0, 12) + 5
  const isA = query.readUInt16BE(end - 4) === 1
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(isA ? 1 : 0, 6)
  header.fill(0, 8)
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
  return Buffer.concat([header, query.subarray(12, end), isA ? record : Buffer.alloc(0)])
}

it('finds the addresses of a name', async () => {
  const resolver = createResolver([await serve('203.0.113.1')])
  expect(await resolver.resolve('app.example.com')).toEqual(['203.0.113.1'])
  expect(await findDnsProblem(resolver, 'app.example.com', '203.0.113.1', [])).toBeUndefined()
  const problem = await findDnsProblem(resolver, 'app.example.com', '198.51.100.1', [])
  expect(problem).toBe('app.example.com points to 203.0.113.1, not to 198.51.100.1')
  expect(await findDnsProblem(resolver, 'app.example.com', '198.51.100.1', ['203.0.113.1'])).toBeUndefined()
})

it('compares with the addresses of the public host when that is a name', async () => {
  const resolver = {
    resolve: async (name: string) => (name === 'away.example.com' ? ['2001:db8::9'] : ['2001:DB8:0::1']),
  }
  expect(await findDnsProblem(resolver, 'app.example.com', 'postern.example.com', [])).toBeUndefined()
  const problem = await findDnsProblem(resolver, 'away.example.com', 'postern.example.com', [])
  expect(problem).toBe('away.example.com points to 2001:db8::9, not to 2001:db8::1')
})

it('gives up after three seconds, in words', async () => {
  const resolver = createResolver([await serve(undefined)])
  const start = performance.now()
  const problem = await findDnsProblem(resolver, 'app.example.com', '203.0.113.1', [])
  expect(problem).toContain('the name servers did not answer')
  expect(performance.now() - start).toBeLessThan(6000)
})
