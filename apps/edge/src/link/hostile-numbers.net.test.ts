import type { DesiredState } from '@postern/contract/edge/desired-state'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makePeer, makeSettings, makeState } from '../../test/factories.ts'
import { startLab } from '../../test/lab.ts'
import { pathsIn, startEdge, type TestEdge } from '../../test/start-edge.ts'

const settings = makeSettings()
const [site, mine] = [makePeer(1), makePeer(2, { address4: '10.64.255.3', address6: 'fd00:1:2::a40:ff03' })]

let server: FakeServer
let running: TestEdge
const lab = fresh(startLab)
beforeEach(async () => {
  server = await startFakeServer(pathsIn(lab), stateOf(1, 1))
  running = await startEdge(lab)
  await running.ready
})
afterEach(async () => {
  await running.edge.close()
  await server.close()
})

function stateOf(revision: number, number: number, changes: Partial<DesiredState> = {}): DesiredState {
  const edge = { number, servesConsole: false, isDrained: false }
  const state = makeState({ settings: { ...settings, edge }, peers: [site, mine], ...changes, revision })
  return { ...state, hashes: { ...state.hashes, settings: `s${revision}`, 'peers:0': `p${revision}` } }
}

async function send(revision: number, number: number) {
  server.state = stateOf(revision, number)
  server.hint({ type: 'changed', revision })
  return await until('the report', () => {
    const reports = server.messages.flatMap((message) => (message.type === 'report' ? message.report : []))
    return reports.find((report) => report.applied === revision)
  })
}

async function addresses(): Promise<string[]> {
  const text = await lab.must('ip', '-o', 'addr', 'show', 'dev', lab.interface, 'scope', 'global')
  return [...text.matchAll(/inet6? (\S+)/g)].map(([, address = '']) => address).sort()
}
const peers = async () => (await lab.must('wg', 'show', lab.interface, 'peers')).trim().split('\n').sort()

test('a server that gives an edge the address of a node, or a number out of range, breaks nothing else', async () => {
  expect((await send(2, 3)).problems).toEqual([
    { scope: { kind: 'node', id: 2 }, message: 'Its address is that of this edge.' },
  ])
  const own = ['10.64.255.3/32', 'fd00:1:2::a40:ff03/128']
  expect([await addresses(), await peers()]).toEqual([own, [site.publicKey]])
  let revision = 3
  for (const number of [0, 251, -1, 1.5, 1e9]) {
    const { problems } = await send(revision++, number)
    expect(problems).toContainEqual({
      scope: { kind: 'edge' },
      message: expect.stringContaining("doesn't understand the server's description of the tunnel"),
    })
    expect([await addresses(), await peers()]).toEqual([own, [site.publicKey]])
  }
  expect((await send(revision, 1)).problems).toEqual([])
  expect(await addresses()).toContain('10.64.255.1/24')
  expect(await peers()).toEqual([site.publicKey, mine.publicKey].sort())
})
