import type { Exec } from '@postern/host/exec'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
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

const settings = makeSettings()

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startUdpEcho(lab.node, 'one', 7001)
  await startUdpEcho(lab.node, 'two', 7002)
  driver = open()
})
beforeEach(() => lab.edge.must('conntrack', '-F'))

/** The edge's, which lives as long as the edge. */
let driver: NftablesDriver
const open = (exec: Exec = lab.edge.exec) =>
  createNftables({ exec, interface: lab.edge.interface, httpsPort: 443, portRange: PORT_RANGE })
const apply = (...udp: ResolvedPortRoute[]) => driver.apply({ settings, peers: [plain, gatewayPeer], udp })

const dns = (changes: Partial<ResolvedPortRoute> = {}) => makeUdpRoute(10, 32_670, changes)
const echo = (changes: Partial<ResolvedPortRoute> = {}) =>
  makeUdpRoute(11, 32_671, { backend: { host: null, port: 7001 }, ...changes })
const echoTwo = () => makeUdpRoute(12, 32_672, { backend: { host: null, port: 7002 } })
const onService = (id: number, message: unknown) => ({ scope: { kind: 'service', id }, message })

function keep(port: number): Kept {
  const kept = keepFlows(lab.world, PUBLIC4, port, '198.51.100.9')
  onTestFinished(kept.stop)
  return kept
}
const untilAnswered = (kept: Kept) => until('answers', () => kept.answered() === 1)
const untilSilent = (kept: Kept) => until('silence', () => kept.answered() === 0)

describe('what the firewall cannot do', () => {
  const table = () => ['inet', `postern_${lab.edge.interface}`]
  /** Refuses each change that says so. */
  const refusing = (refused: RegExp): Exec => ({
    ...lab.edge.exec,
    run: async (program, args, options) =>
      program === 'nft' && refused.test(options?.input ?? '')
        ? { code: 1, stdout: '', stderr: 'Error: Could not process rule' }
        : lab.edge.exec.run(program, args, options),
  })

  test('keeps nothing from being taken away', async () => {
    const guest = { ...plain, allowInternet: true }
    await driver.apply({ settings, peers: [guest], udp: [echo(), echoTwo()] })
    const kept = keep(32_671)
    await untilAnswered(kept)
    const wanted = { settings, peers: [plain], udp: [echoTwo(), dns()] }
    await expect(open(refusing(/32670/)).apply(wanted)).rejects.toThrow('Could not process rule')
    await untilSilent(kept)
    expect(await lab.edge.must('nft', 'list', 'set', ...table(), 'internet4')).not.toContain(plain.address4)
    await untilAnswered(keep(32_672))
  })

  test('leaves the part that isolates nodes, which says whether it is in force', async () => {
    await driver.remove()
    const poor = open(refusing(/hook prerouting/))
    await expect(poor.apply({ settings, peers: [plain], udp: [echo()] })).rejects.toThrow('Could not process')
    expect(poor.isIsolating()).toBe(true)
    const listed = await lab.edge.must('nft', 'list', 'table', ...table())
    expect(listed.match(/hook \w+/g)).toEqual(['hook input', 'hook forward'])
    await expect(open(refusing(/table/)).apply({ settings, peers: [], udp: [] })).rejects.toThrow()
    await lab.edge.must('nft', 'delete', 'table', ...table())
    const none = open(refusing(/table/))
    await expect(none.apply({ settings, peers: [plain], udp: [] })).rejects.toThrow('Could not process')
    expect(none.isIsolating()).toBe(false)
    await driver.apply({ settings, peers: [plain], udp: [echo()] })
    expect(driver.isIsolating()).toBe(true)
  })

  test('is a table that grew too large to be read: it is made again', async () => {
    await apply(echo())
    const small: Exec = {
      ...lab.edge.exec,
      run: (program, args, options) =>
        lab.edge.exec.run(program, args, { ...options, maxOutput: program === 'nft' ? 60_000 : undefined }),
    }
    const many = Array.from({ length: 3000 }, (_, index) => `10.77.${index >> 8}.${index & 255} . 53`)
    const full = ['add', 'element', ...table(), 'targets4', `{ ${many.join(', ')} }`]
    await lab.edge.exec.run('nft', ['-f', '-'], { input: full.join(' ') })
    await expect(open(small).apply({ settings, peers: [plain], udp: [echo()] })).resolves.toMatchObject({
      part: { state: 'ok' },
    })
    await untilAnswered(keep(32_671))
  })

  test('is more in the lists of all services than it can read back: the later service is left out', async () => {
    const listOf = (first: number) =>
      Array.from({ length: 10_001 }, (_, index) => `${first}.${index >> 8}.${index & 255}.0/25`)
    const { problems } = await apply(
      echo({ blockedIps: listOf(11) }),
      echoTwo(),
      dns({ blockedIps: listOf(12) }),
    )
    expect(problems).toEqual([
      onService(10, 'The IP lists of all UDP services together have more than 20000 entries.'),
    ])
    await untilAnswered(keep(32_672))
    await apply()
  })
})
