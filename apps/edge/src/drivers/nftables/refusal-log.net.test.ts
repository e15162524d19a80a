import type { Exec } from '@postern/host/exec'
import { inSections } from '@postern/render/resolved-route'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  type UdpLab,
} from '../../../test/udp-lab.ts'
import { createNftables } from './driver.ts'
import { createRefusalLog, type RefusalLog } from './refusal-log.ts'

let lab: UdpLab
let log: RefusalLog
let time = Date.now()
/** Of one set each. */
let looks = 0
const lines: { service: number; text: string }[] = []
const route = (id: number, lists: { allowedIps?: string[]; blockedIps?: string[] }) =>
  makeUdpRoute(id, 32_660 + id, { backend: { host: null, port: 7001 }, ...lists })
const services = [
  route(11, { blockedIps: ['198.51.100.9'] }),
  route(12, { allowedIps: ['2001:db8::/120'], blockedIps: ['2001:db8::9'] }),
  route(13, {}),
]

beforeAll(async () => {
  lab = await startUdpLab()
  await startUdpEcho(lab.node, 'one', 7001)
  const { exec, interface: tunnel } = lab.edge
  const driver = createNftables({ exec, interface: tunnel, httpsPort: 443, portRange: PORT_RANGE })
  const apply = () => driver.apply({ settings: makeSettings(), peers: [plain], udp: services })
  expect((await apply()).problems).toEqual([])
  const counting: Exec = {
    ...exec,
    run: (...args) => {
      looks++
      return exec.run(...args)
    },
  }
  log = createRefusalLog({
    exec: counting,
    interface: tunnel,
    now: () => time,
    onLine: (line) => lines.push(line),
  })
  log.setRoutes(inSections(services))
})
afterAll(async () => {
  log?.close()
  await lab?.close()
})

test('whom the lists of a UDP service turn away has one line a minute, and nobody else has', async () => {
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
  const said = () => lines.map(({ service, text }) => `${service} ${text.replace(/\] \S+/, ']')}`).sort()
  const expected = [
    `11 ${about('198.51.100.9', 32_671)}`,
    `12 ${about('198.51.100.9', 32_672)}`,
    `12 ${about('2001:db8::9', 32_672)}`,
  ]
  await until('the lines', () => lines.length >= 3)
  expect(said()).toEqual(expected)
  // The packets go on: what the kernel noted has been read again, and says nothing new.
  // The packets go on, and what the kernel noted is read again.
  const before = looks
  await until('two more looks', () => looks >= before + 4)
  expect(said()).toEqual(expected)
  // The kernel forgets them, and notes them anew.
  for (const name of ['refused4', 'refused6'])
    await lab.edge.must('nft', 'flush', 'set', 'inet', table(), name)
  time += 60_000
  await until('the next minute', () => lines.length === 6)
  for (const one of kept) one.stop()
})

const table = () => `postern_${lab.edge.interface.replaceAll('-', '_')}`
