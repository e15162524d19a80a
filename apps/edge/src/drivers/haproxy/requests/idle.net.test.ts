import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { visit } from '../../../../test/visitor.ts'

const HOST = 'a.example.com'
/** Longer than the five seconds after which HAProxy by itself begins to close idle connections. */
const IDLE_MS = 12_000

let lab: HaproxyLab
let service: Server
let dialled = 0
const asked: string[] = []

beforeAll(async () => {
  service = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    asked.push(request.method ?? '')
    request.resume().on('end', () => response.end('ok'))
  })
  service.on('connection', () => dialled++)
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  lab = await makeHaproxyLab()
  const { port } = service.address() as AddressInfo // it listens on TCP
  expect(await lab.apply([makeLabRoute(2, port, { domain: HOST })])).toEqual([])
})

afterAll(async () => {
  await lab.close()
  service.closeAllConnections()
  await new Promise((resolve) => service.close(resolve))
})

const ask = (method: string) => visit({ port: lab.httpsPort, host: HOST, path: '/', method })

test('a page that is asked for now and then needs no new connection to its service', {
  timeout: 40_000,
}, async () => {
  expect((await ask('GET')).status).toBe(200)
  expect(dialled).toBe(1)
  // Idleness itself is what is tested here.
  await delay(IDLE_MS)
  expect((await ask('GET')).status).toBe(200)
  expect(dialled).toBe(1)
  expect((await ask('POST')).status).toBe(200)
  expect(dialled).toBe(2)
  expect(asked).toEqual(['GET', 'GET', 'POST'])
})
