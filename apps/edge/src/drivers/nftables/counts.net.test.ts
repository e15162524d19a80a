import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  askDns,
  gatewayPeer,
  keepFlows,
  makeUdpRoute,
  PORT_RANGE,
  PUBLIC4,
  PUBLIC6,
  plain,
  startNameServer,
  startUdpLab,
} from '../../../test/udp-lab.ts'
import { createLedger, emptyLedger, type Ledger } from '../../counts/ledger.ts'
import { addCounts, type Count, NONE } from '../../counts/reading.ts'
import type { NftablesDriver } from './driver.ts'

let driver: NftablesDriver
let ledger: Ledger
const PORT = PORT_RANGE.from
const settings = makeSettings()

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startNameServer(lab.node)
  await startNameServer(lab.edge, '--listen-address=127.0.0.1', '--bind-interfaces', '--port=5353')
})
beforeEach(() => {
  driver = lab.open()
  ledger = createLedger(emptyLedger('l'))
})

const apply = (...udp: ReturnType<typeof makeUdpRoute>[]) =>
  driver.apply({ settings: { ...settings, publicHost: PUBLIC4 }, peers: [plain, gatewayPeer], udp })

async function counted(service: number): Promise<Count> {
  const reading = await driver.readCounts()
  if (reading) ledger.take([reading], 1)
  const rows = ledger.state().waiting.flatMap(({ counts }) => counts)
  return rows.filter(([id]) => id === service).reduce((all, [, ...count]) => addCounts(all, count), NONE)
}

/** What `askDns` sends, without the headers of its packet, to ask for the address of `a.test`. */
const QUESTION = 35
const LONG_QUESTION = QUESTION + 'big'.length - 'a'.length

const dns = (changes: Parameters<typeof makeUdpRoute>[2] = {}, port = PORT) => makeUdpRoute(10, port, changes)
const local = () =>
  makeUdpRoute(13, PORT + 1, {
    node: { kind: 'local' },
    backend: { host: '127.0.0.1', port: 5353 },
    address: '127.0.0.1',
  })

/**
 * Asks until there is an answer.
 * @returns the expected count
 */
async function ask(...args: Parameters<typeof askDns>): Promise<Count> {
  const question = args[3] === 'big.test' ? LONG_QUESTION : QUESTION
  let asked = 0
  const answer = await until('the answer', async () => {
    asked++
    return (await askDns(...args)) || undefined
  })
  return [asked, asked * question, answer]
}

test('flows and bytes are counted without headers, whoever asks from wherever', async () => {
  await apply(dns(), local())
  const visits: [number, Parameters<typeof askDns>][] = [
    [10, [lab.world, PUBLIC4, PORT]],
    [10, [lab.world, PUBLIC6, PORT]],
    [10, [lab.world, PUBLIC4, PORT, 'big.test', 16]],
    [10, [lab.world, PUBLIC6, PORT, 'big.test', 16]],
    [10, [lab.edge, PUBLIC4, PORT]],
    [13, [lab.world, PUBLIC4, PORT + 1]],
    [13, [lab.edge, PUBLIC4, PORT + 1]],
  ]
  const expected = new Map<number, Count>()
  for (const [service, args] of visits) {
    const count = await ask(...args)
    expected.set(service, addCounts(expected.get(service) ?? NONE, count))
    expect(await counted(service), String(args.slice(1))).toEqual(expected.get(service))
  }
})

test('a flow that nobody answers is one, however many packets it has', async () => {
  await apply(dns({ backend: { host: null, port: 9 } }))
  const before = await counted(10)
  const kept = keepFlows(lab.world, PUBLIC4, PORT, '198.51.100.9')
  onTestFinished(kept.stop)
  await until('some packets', async () => (await counted(10))[1] >= before[1] + 5)
  expect((await counted(10))[0]).toBe(before[0] + 1)
})

test('visitors whom a list does not admit are not counted', async () => {
  await apply(dns({ blockedIps: ['198.51.100.9'] }))
  const before = await counted(10)
  expect(await askDns(lab.world, PUBLIC4, PORT)).toBe(0)
  expect(await counted(10)).toEqual(before)
})

test('nothing is lost when the port changes, the service comes back or another edge takes over', async () => {
  await apply(dns())
  const before = await counted(10)
  let expected = addCounts(before, await ask(lab.world, PUBLIC4, PORT))
  driver = lab.open()
  await apply(dns({}, PORT + 2))
  expected = addCounts(expected, await ask(lab.world, PUBLIC4, PORT + 2))
  // Its counters have not been read yet.
  await apply()
  driver = lab.open()
  await apply()
  expect(await counted(10)).toEqual(expected)
  expect(await counted(10)).toEqual(expected)
  expect(await counters()).toContain('s10_in4')
  await apply()
  expect(await counters()).not.toContain('s10_')
  await apply(dns())
  expected = addCounts(expected, await ask(lab.world, PUBLIC4, PORT))
  expect(await counted(10)).toEqual(expected)
})

test('a table that another program removed is recreated and keeps counting', async () => {
  await apply(dns())
  const expected = addCounts(await counted(10), await ask(lab.world, PUBLIC4, PORT))
  expect(await counted(10)).toEqual(expected)
  await lab.edge.must('nft', 'flush', 'ruleset')
  await apply(dns())
  await lab.edge.must('conntrack', '-F')
  const more = await ask(lab.world, PUBLIC4, PORT)
  expect(await counted(10)).toEqual(addCounts(expected, more))
})

const counters = () => lab.edge.must('nft', 'list', 'counters')
