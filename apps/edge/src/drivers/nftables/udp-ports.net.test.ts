import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  gatewayPeer,
  type Kept,
  keepFlows,
  makeUdpRoute,
  PORT_RANGE,
  PUBLIC4,
  plain,
  startUdpEcho,
  startUdpLab,
} from '../../../test/udp-lab.ts'
import { createNftables, type NftablesDriver } from './driver.ts'

/** Ports of UDP services that other programs of the machine open. */
let driver: NftablesDriver
const settings = makeSettings()

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startUdpEcho(lab.node, 'one', 7001)
  await startUdpEcho(lab.node, 'two', 7002)
  driver = open()
})

const open = () =>
  createNftables({
    exec: lab.edge.exec,
    interface: lab.edge.interface,
    httpsPort: 443,
    portRange: PORT_RANGE,
  })
const apply = (...udp: ResolvedPortRoute[]) => driver.apply({ settings, peers: [plain, gatewayPeer], udp })
const echo = (changes: Partial<ResolvedPortRoute> = {}) =>
  makeUdpRoute(11, 32_671, { backend: { host: null, port: 7001 }, ...changes })
const echoTwo = () => makeUdpRoute(12, 32_672, { backend: { host: null, port: 7002 } })
const onService = (id: number, message: unknown) => ({ scope: { kind: 'service', id }, message })

function keep(port: number, source = '198.51.100.9'): Kept {
  const kept = keepFlows(lab.world, PUBLIC4, port, source, 1)
  onTestFinished(kept.stop)
  return kept
}
const untilAnswered = (kept: Kept) => until('answers', () => kept.answered() === 1)

test('keeps a port that another program holds, and says so, until it is free', async () => {
  const other = lab.edge.exec.stream(
    process.execPath,
    ['-e', `require('node:dgram').createSocket('udp4').bind(32671, '127.0.0.1')`],
    { onLine: () => undefined, onExit: () => undefined },
  )
  const isHeld = async () => (await lab.edge.must('ss', '-Hlun', 'sport = :32671')) !== ''
  await until('the port to be held', isHeld)
  await apply()
  const outside = makeUdpRoute(14, 32_800)
  expect((await apply(echo(), echoTwo(), outside)).problems).toEqual([
    onService(11, 'Port 32671 is held by another program on this machine'),
    onService(
      14,
      'Port 32800 is outside the range of this server, 32660-32760. Give the service another port.',
    ),
  ])
  const kept = keep(32_671)
  await untilAnswered(keep(32_672))
  expect(kept.answered()).toBe(0)
  expect(await driver.isAsLeft()).toBe(true)
  other.stop()
  await until('the port to be free', async () => !(await isHeld()))
  expect(await driver.isAsLeft()).toBe(false)
  expect((await apply(echo(), echoTwo())).problems).toEqual([])
  await untilAnswered(kept)
})

test('leaves no port of a service in force to another user who opens it later, but to root', async () => {
  await apply(echo())
  const kept = keep(32_671)
  await untilAnswered(kept)
  const script = ['-e', `require('node:dgram').createSocket('udp4').bind(32671, '${PUBLIC4}')`]
  const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--', process.execPath]
  const [first = '', ...rest] = user
  const events = { onLine: () => undefined, onExit: () => undefined }
  const thief = lab.edge.exec.stream(first, [...rest, ...script], events)
  onTestFinished(thief.stop)
  const holders = async () => (await lab.edge.must('ss', '-Hlun', 'sport = :32671')).split('\n').length - 1
  await until('the port to be held', async () => (await holders()) === 1)
  expect(await driver.isAsLeft()).toBe(false)
  expect((await apply(echo())).problems).toEqual([
    {
      scope: { kind: 'edge' },
      message:
        'A program of user 65534 has opened UDP port 32671 on this machine, which belongs to a service. ' +
        'Visitors still reach the service.',
    },
  ])
  expect(await driver.isAsLeft()).toBe(true)
  const later = keep(32_671, '198.51.100.10')
  await untilAnswered(later)
  // An edge that starts anew finds the service in the kernel.
  expect(
    (await open().apply({ settings, peers: [plain, gatewayPeer], udp: [echo()] })).problems,
  ).toHaveLength(1)
  // A service that is enabled when the port is held does not have it.
  await apply(echo({ enabled: false }))
  expect((await apply(echo())).problems).toEqual([
    onService(11, 'Port 32671 is held by another program on this machine'),
  ])
  thief.stop()
  await until('the port to be free', async () => (await holders()) === 0)
  await apply(echo())
  const root = lab.edge.exec.stream(process.execPath, script, events)
  onTestFinished(root.stop)
  await until('the port to be held', async () => (await holders()) === 1)
  expect((await apply(echo())).problems).toEqual([
    onService(11, 'Port 32671 is held by another program on this machine'),
  ])
  root.stop()
  await until('the port to be free', async () => (await holders()) === 0)
})

test('the ports of the range that other programs hold are known before a service wants one', async () => {
  const script = "for (const port of [32690, 40000]) require('node:dgram').createSocket('udp4').bind(port)"
  const holder = lab.edge.start([process.execPath, '-e', script], { logFile: '/dev/null' })
  onTestFinished(() => holder.stop())
  await until('the port to be held', async () => {
    await apply()
    return driver.facts().held.join() === '32690'
  })
})

test('forwarding that somebody switches off is seen at the next look, and switched on again', async () => {
  await apply(echo())
  await untilAnswered(keep(32_671))
  expect(await driver.isAsLeft()).toBe(true)
  await lab.edge.must('sysctl', '-qw', 'net.ipv4.ip_forward=0')
  expect(await driver.isAsLeft()).toBe(false)
  await apply(echo())
  expect(await driver.isAsLeft()).toBe(true)
  await untilAnswered(keep(32_671, '198.51.100.10'))
})
