import type { Exec } from '@postern/host/processes/exec'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { shared } from '@postern/testkit/shared'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeSettings } from '../../../test/factories.ts'
import {
  dns,
  echo,
  echoTwo,
  gatewayPeer,
  makeUdpRoute,
  onService,
  plain,
  startUdpEcho,
  startUdpLab,
  untilAnswered,
  untilSilent,
} from '../../../test/udp-lab.ts'
import type { NftablesDriver } from './driver.ts'

const settings = makeSettings()

const lab = shared(startUdpLab)
beforeAll(async () => {
  await startUdpEcho(lab.node, 'one', 7001)
  await startUdpEcho(lab.node, 'two', 7002)
  driver = lab.open()
})
beforeEach(() => lab.edge.must('conntrack', '-F'))

/** The edge's, which lives as long as the edge. */
let driver: NftablesDriver
const apply = (...udp: ResolvedPortRoute[]) => driver.apply({ settings, peers: [plain, gatewayPeer], udp })

describe('what the firewall cannot do', () => {
  const table = () => ['inet', `postern_${lab.edge.interface}`]
  /** Refuses each change that contains this text. */
  const refusing = (refused: RegExp): Exec => ({
    ...lab.edge.exec,
    run: async (program, args, options) =>
      program === 'nft' && refused.test(options?.input ?? '')
        ? { code: 1, stdout: '', stderr: 'Error: Could not process rule' }
        : lab.edge.exec.run(program, args, options),
  })

  test('does not keep anything from being removed', async () => {
    const guest = { ...plain, allowInternet: true }
    await driver.apply({ settings, peers: [guest], udp: [echo(), echoTwo()] })
    const kept = lab.keep(32_671)
    await untilAnswered(kept)
    const wanted = { settings, peers: [plain], udp: [echoTwo(), dns()] }
    await expect(lab.open(refusing(/32670/)).apply(wanted)).rejects.toThrow('Could not process rule')
    await untilSilent(kept)
    expect(await lab.edge.must('nft', 'list', 'set', ...table(), 'internet4')).not.toContain(plain.address4)
    await untilAnswered(lab.keep(32_672))
  })

  test('leaves the isolation of nodes, and reports whether it is in force', async () => {
    await driver.remove()
    const poor = lab.open(refusing(/hook prerouting/))
    await expect(poor.apply({ settings, peers: [plain], udp: [echo()] })).rejects.toThrow('Could not process')
    expect(poor.isIsolating()).toBe(true)
    const listed = await lab.edge.must('nft', 'list', 'table', ...table())
    expect(listed.match(/hook \w+/g)).toEqual(['hook input', 'hook forward', 'hook output'])
    await expect(lab.open(refusing(/table/)).apply({ settings, peers: [], udp: [] })).rejects.toThrow()
    await lab.edge.must('nft', 'delete', 'table', ...table())
    const none = lab.open(refusing(/table/))
    await expect(none.apply({ settings, peers: [plain], udp: [] })).rejects.toThrow('Could not process')
    expect(none.isIsolating()).toBe(false)
    await driver.apply({ settings, peers: [plain], udp: [echo()] })
    expect(driver.isIsolating()).toBe(true)
  })

  test('is not switched on in the kernel, either: it would be without its guards', async () => {
    const local = makeUdpRoute(13, 32_673, {
      node: { kind: 'local' },
      backend: { host: '127.0.0.1', port: 7003 },
      address: '127.0.0.1',
    })
    await driver.apply({ settings, peers: [plain], udp: [echo(), local] })
    const switches = ['ip_forward', 'conf/all/route_localnet'].map((name) => `/proc/sys/net/ipv4/${name}`)
    const read = async () => (await lab.edge.must('cat', ...switches)).split('\n').slice(0, 2)
    expect(await read()).toEqual(['2', '2'])
    await lab.edge.must('nft', 'flush', 'chain', ...table(), 'prerouting_loopback')
    const poor = lab.open(refusing(/hook prerouting/))
    await expect(poor.apply({ settings, peers: [plain], udp: [local] })).rejects.toThrow('Could not process')
    expect(await read()).toEqual(['0', '0'])
    await driver.apply({ settings, peers: [plain], udp: [echo(), local] })
    expect(await read()).toEqual(['2', '2'])
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
    await expect(lab.open(small).apply({ settings, peers: [plain], udp: [echo()] })).resolves.toMatchObject({
      part: { state: 'ok' },
    })
    await untilAnswered(lab.keep(32_671))
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
    await untilAnswered(lab.keep(32_672))
    await apply()
  })
})
