import { createSocket, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { openDnsForwarder } from './forwarder.ts'
import { findQuery, isAnswerTo, renderFailure, withId } from './message.ts'

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** `spoil` can turn the right answer into one that must be refused. */
async function startUpstream(spoil: (answer: Buffer) => Buffer[]) {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 192, 0, 2, 7])
    const answer = Buffer.concat([header, query.subarray(12, end), record])
    for (const packet of spoil(answer)) socket.send(packet, from.port, from.address)
  })
  return { address: '127.0.0.1', port: await listen(socket) }
}

async function listen(socket: Socket): Promise<number> {
  open.push(socket)
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket.address().port
}

async function startForwarder(upstreams: { address: string; port: number }[], clients = ['127.0.0.1']) {
  const free = createSocket('udp4')
  free.bind(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address()
  await new Promise<void>((resolve) => free.close(resolve))
  const random = (limit: number) => Math.floor(Math.random() * limit)
  const options = { address: '127.0.0.1', port, clients, listUpstreams: async () => upstreams, random }
  open.push(await openDnsForwarder(options))
  const resolver = new Resolver({ timeout: 5000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return { port, resolve: () => resolver.resolve4('printer.lan') }
}

test('a silent name server is skipped', async () => {
  const silent = await startUpstream(() => [])
  const good = await startUpstream((answer) => [answer])
  expect(await (await startForwarder([silent, good])).resolve()).toEqual(['192.0.2.7'])
})

test('ignores answers with another id or another question', async () => {
  const upstream = await startUpstream((answer) => {
    const other = Buffer.from(answer)
    other.write('q', 13)
    const wrongNumber = withId(answer, answer.readUInt16BE(0) ^ 1)
    return [wrongNumber, other, Buffer.from('x'), answer]
  })
  expect(await (await startForwarder([upstream])).resolve()).toEqual(['192.0.2.7'])
})

test('without any name server it fails at once instead of staying silent', async () => {
  const { resolve } = await startForwarder([])
  await expect(resolve()).rejects.toMatchObject({ code: 'ESERVFAIL' })
})

test('a taken port is an error, not a crash', async () => {
  const { port } = await startForwarder([])
  const options = { address: '127.0.0.1', port, clients: ['127.0.0.1'], random: () => 0 }
  await expect(openDnsForwarder({ ...options, listUpstreams: async () => [] })).rejects.toThrow(/EADDRINUSE/)
})

test('any packet is read without harm', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const packet = Buffer.from(bytes)
      const query = findQuery(packet)
      if (query) expect(isAnswerTo(renderFailure(query), query.id, query.question)).toBe(true)
    }),
  )
})
