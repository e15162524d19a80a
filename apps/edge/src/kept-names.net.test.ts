import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makePeer, makeRoute, makeState } from '../test/factories.ts'
import { startLab } from '../test/lab.ts'
import { pathsIn, startEdge, type TestEdge } from '../test/start-edge.ts'
import type { Lookups } from './names.ts'

const subnets = ['192.168.7.0/24']
const peer = makePeer(2, { subnets })
const node = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets } as const
const route = makeRoute(1, { node, backend: { proto: 'http', host: 'app.lan.test', port: 80 } })
const silent: Lookups = {
  system: () => new Promise(() => undefined),
  at: () => new Promise(() => undefined),
}

let server: FakeServer
let running: TestEdge | undefined
const lab = fresh(startLab)
beforeEach(async () => {
  const routed = makeState({ peers: [peer], routes: [route, makeRoute(2, { node })] })
  server = await startFakeServer(pathsIn(lab), routed)
})
afterEach(async () => {
  await running?.edge.close()
  await server.close()
})

const start = async (lookups: Lookups) => {
  await running?.edge.close()
  running = await startEdge(lab, lab.exec, lookups)
  return running
}
const addressesOf = ({ haproxy }: TestEdge) =>
  haproxy.applied.map(({ wanted }) => wanted.routes.find(({ id }) => id === 1)?.address)

test('a restarted edge goes on with the addresses of names while their name server is silent', async () => {
  const first = await start({ ...silent, at: async () => ['192.168.7.9'] })
  await until('the name is looked up', () => addressesOf(first).at(-1) === '192.168.7.9')
  const file = pathsIn(lab).names
  await until('it is on disk', () => readFileSync(file, 'utf8').includes('192.168.7.9'))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const second = await start(silent)
  await second.ready
  await until('the name server was given up', () => addressesOf(second).length > 1)
  expect(new Set(addressesOf(second))).toEqual(new Set(['192.168.7.9']))
})

test('a new answer after the restart is used, and after damage to the file names are looked up again', async () => {
  const first = await start({ ...silent, at: async () => ['192.168.7.9'] })
  await until('the name is looked up', () => addressesOf(first).at(-1) === '192.168.7.9')
  await first.edge.close()
  const second = await start({ ...silent, at: async () => ['192.168.7.10'] })
  await until('the new address', () => addressesOf(second).at(-1) === '192.168.7.10')
  await second.edge.close()
  writeFileSync(pathsIn(lab).names, '{"query"')
  const third = await start({ ...silent, at: async () => ['192.168.7.11'] })
  await until('the newest address', () => addressesOf(third).at(-1) === '192.168.7.11')
})

test('nodes with internet access are kept from the public host after a restart, too, while the name server is silent', async () => {
  server.state = makeState({ peers: [makePeer(2, { allowInternet: true })] })
  const addressesOfHost = async () => (await lab.run('nft', 'list', 'ruleset')).stdout
  await start({ ...silent, system: async () => ['203.0.113.50'] })
  await until('its address in the firewall', async () => (await addressesOfHost()).includes('203.0.113.50'))
  await running?.edge.close()
  await lab.must('nft', 'flush', 'ruleset')
  const second = await start(silent)
  await second.ready
  expect(await addressesOfHost()).toContain('203.0.113.50')
})
