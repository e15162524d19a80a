import type { Exec } from '@postern/host/processes/exec'
import { inSections } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  keepFlows,
  makeUdpRoute,
  PORT_RANGE,
  PUBLIC4,
  PUBLIC6,
  plain,
  startUdpEcho,
  startUdpLab,
} from '../../../test/udp-lab.ts'
import { createNftables } from './driver.ts'
import { createFlowLog } from './flow-log.ts'
import { createRefusalLog } from './refusal-log.ts'

let apply: (services: ReturnType<typeof route>[]) => Promise<void>
const lines: { service: number; text: string }[] = []
const onLine = (line: (typeof lines)[number]) => void lines.push(line)
const route = (id: number, lists: { allowedIps?: string[]; blockedIps?: string[] } = {}) =>
  makeUdpRoute(id, 32_660 + id, { backend: { host: null, port: 7001 }, ...lists })

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startUdpEcho(lab.node, 'one', 7001)
  const { exec, interface: tunnel } = lab.edge
  const driver = createNftables({ exec, interface: tunnel, httpsPort: 443, portRange: PORT_RANGE })
  apply = async (udp) => {
    expect((await driver.apply({ settings: makeSettings(), peers: [plain], udp })).problems).toEqual([])
  }
})
beforeEach(() => {
  lines.length = 0
})

test.each([
  ['198.51.100.9', PUBLIC4],
  ['2001:db8::9', PUBLIC6],
])('a flow from %s is logged at its beginning and, with its bytes, at its end', async (source, host) => {
  const { exec } = lab.edge
  const log = createFlowLog({ exec, now: Date.now, random: Math.random, onLine })
  onTestFinished(() => log.close())
  const services = [route(11), route(12)]
  await apply(services)
  log.setRoutes(inSections(services))
  // A socket of the netfilter family in the groups of new and of ended flows.
  const isListening = async () =>
    /^\S+ +12 +\d+ +0*5 /m.test((await exec.readFile('/proc/net/netlink')) ?? '')
  await until('conntrack to listen', isListening)
  const kept = keepFlows(lab.world, host, 32_671, source)
  await until('answers', () => kept.answered() === 1)
  kept.stop()
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
  await until('the first line', () => lines.length === 1)
  await apply(services.slice(1))
  await until('the last line', () => lines.length === 2)
  expect(lines).toEqual([
    { service: 11, text: expect.stringMatching(`^\\[INFO\\] ${time} ${source} "udp 32671" opened$`) },
    {
      service: 11,
      text: expect.stringMatching(
        `^\\[INFO\\] ${time} ${source} "udp 32671" closed [\\d.]+K?B in [\\d.]+K?B out [\\d.]+m?s$`,
      ),
      kept: expect.objectContaining({
        ...{ type: 'udp', service: 11, source, total: expect.any(Number), reason: null },
        target: source.includes(':') ? '[fd00:1:2::2]:7001' : '10.64.0.2:7001',
      }),
    },
  ])
})

test("each visitor that a UDP service's lists refuse gets one line a minute, and nobody else does", async () => {
  const { exec, interface: tunnel } = lab.edge
  const services = [
    route(11, { blockedIps: ['198.51.100.9'] }),
    route(12, { allowedIps: ['2001:db8::/120'], blockedIps: ['2001:db8::9'] }),
    route(13),
  ]
  await apply(services)
  let time = Date.now()
  /** One set each. */
  let looks = 0
  const counting: Exec = {
    ...exec,
    run: (...args) => {
      looks++
      return exec.run(...args)
    },
  }
  const log = createRefusalLog({ exec: counting, interface: tunnel, now: () => time, onLine })
  onTestFinished(() => log.close())
  log.setRoutes(inSections(services))
  const kept = [
    keepFlows(lab.world, PUBLIC4, 32_671, '198.51.100.9'),
    keepFlows(lab.world, PUBLIC4, 32_672, '198.51.100.9'),
    keepFlows(lab.world, PUBLIC6, 32_672, '2001:db8::9'),
    keepFlows(lab.world, PUBLIC4, 32_671, '198.51.100.10'),
    keepFlows(lab.world, PUBLIC4, 32_673, '198.51.100.9'),
  ]
  await until(
    'the admitted ones to be answered',
    () => kept[3]?.answered() === 1 && kept[4]?.answered() === 1,
  )
  const about = (source: string, port: number) =>
    `[WARN] ${source} "udp ${port}" refused the IP list of the service does not allow this address`
  const logged = () => lines.map(({ service, text }) => `${service} ${text.replace(/\] \S+/, ']')}`).sort()
  const expected = [
    `11 ${about('198.51.100.9', 32_671)}`,
    `12 ${about('198.51.100.9', 32_672)}`,
    `12 ${about('2001:db8::9', 32_672)}`,
  ]
  await until('the lines', () => lines.length >= 3)
  expect(logged()).toEqual(expected)
  // The packets continue, and the kernel's entries are read again.
  const before = looks
  await until('two more looks', () => looks >= before + 4)
  expect(logged()).toEqual(expected)
  // The kernel forgets them, and records them again.
  for (const name of ['refused4', 'refused6'])
    await lab.edge.must('nft', 'flush', 'set', 'inet', table(), name)
  time += 60_000
  await until('the next minute', () => lines.length === 6)
  for (const one of kept) one.stop()
})

const table = () => `postern_${lab.edge.interface.replaceAll('-', '_')}`
