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
import { createFlowLog, type FlowLog } from './flow-log.ts'

let lab: UdpLab
let log: FlowLog
const lines: { service: number; text: string }[] = []
const services = [11, 12].map((id) => makeUdpRoute(id, 32_660 + id, { backend: { host: null, port: 7001 } }))

beforeAll(async () => {
  lab = await startUdpLab()
  await startUdpEcho(lab.node, 'one', 7001)
  log = createFlowLog({
    exec: lab.edge.exec,
    now: Date.now,
    random: Math.random,
    onLine: (line) => lines.push(line),
  })
})
afterAll(async () => {
  log.close()
  await lab.close()
})

test.each([
  ['198.51.100.9', PUBLIC4],
  ['2001:db8::9', PUBLIC6],
])('a flow from %s is said at its beginning and, with its bytes, at its end', async (source, host) => {
  const { exec, interface: tunnel } = lab.edge
  const driver = createNftables({ exec, interface: tunnel, httpsPort: 443, portRange: PORT_RANGE })
  const apply = (...udp: typeof services) => driver.apply({ settings: makeSettings(), peers: [plain], udp })
  await apply(...services)
  log.setRoutes(inSections(services))
  // A socket of the netfilter family in the groups of new and of ended flows.
  const isListening = async () =>
    /^\S+ +12 +\d+ +0*5 /m.test((await exec.readFile('/proc/net/netlink')) ?? '')
  await until('conntrack to listen', isListening)
  lines.length = 0
  const kept = keepFlows(lab.world, host, 32_671, source)
  await until('answers', () => kept.answered() === 1)
  kept.stop()
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
  await until('the first line', () => lines.length === 1)
  await apply(...services.slice(1))
  await until('the last line', () => lines.length === 2)
  expect(lines).toEqual([
    { service: 11, text: expect.stringMatching(`^\\[INFO\\] ${time} ${source} "udp 32671" opened$`) },
    {
      service: 11,
      text: expect.stringMatching(
        `^\\[INFO\\] ${time} ${source} "udp 32671" closed [\\d.]+K?B in [\\d.]+K?B out [\\d.]+m?s$`,
      ),
    },
  ])
})
