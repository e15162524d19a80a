import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  echo,
  echoTwo,
  gatewayPeer,
  makeUdpRoute,
  onService,
  PUBLIC4,
  plain,
  startUdpEcho,
  startUdpLab,
  untilAnswered,
} from '../../../test/udp-lab.ts'
import type { NftablesDriver } from './driver.ts'

/** Ports of UDP services that other programs of the machine open. */
let driver: NftablesDriver
const settings = makeSettings()

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startUdpEcho(lab.node, 'one', 7001)
  await startUdpEcho(lab.node, 'two', 7002)
  driver = lab.open()
})

const apply = (...udp: ResolvedPortRoute[]) => driver.apply({ settings, peers: [plain, gatewayPeer], udp })

test('leaves a port to another program that holds it, and says so, until it is free', async () => {
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
  const kept = lab.keep(32_671)
  await untilAnswered(lab.keep(32_672))
  expect(kept.answered()).toBe(0)
  expect(await driver.isAsLeft()).toBe(true)
  other.stop()
  await until('the port to be free', async () => !(await isHeld()))
  expect(await driver.isAsLeft()).toBe(false)
  expect((await apply(echo(), echoTwo())).problems).toEqual([])
  await untilAnswered(kept)
})

test('does not give the port of an active service to another user who opens it later, except to root', async () => {
  await apply(echo())
  const kept = lab.keep(32_671)
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
  const later = lab.keep(32_671, '198.51.100.10')
  await untilAnswered(later)
  // A restarted edge finds the service in the kernel.
  expect(
    (await lab.open().apply({ settings, peers: [plain, gatewayPeer], udp: [echo()] })).problems,
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

test('forwarding that somebody switches off is noticed at the next check, and switched on again', async () => {
  await apply(echo())
  await untilAnswered(lab.keep(32_671))
  expect(await driver.isAsLeft()).toBe(true)
  await lab.edge.must('sysctl', '-qw', 'net.ipv4.ip_forward=0')
  expect(await driver.isAsLeft()).toBe(false)
  await apply(echo())
  expect(await driver.isAsLeft()).toBe(true)
  await untilAnswered(lab.keep(32_671, '198.51.100.10'))
})
