import type { Exec } from '@postern/host/processes/exec'
import { dyingExec } from '@postern/testkit/processes/dying-exec'
import { shared } from '@postern/testkit/shared'
import { afterEach, describe, expect, test } from 'vitest'
import { makeKeys, makePeer } from '../../../test/factories.ts'
import { far, gateway, settings, site, startTunnelLab } from '../../../test/tunnel-lab.ts'
import type { WireGuardWanted } from './admission.ts'

const lab = shared(startTunnelLab)
afterEach(() => lab.driver().remove())

describe('the tunnel', () => {
  test('starts wireguard-go without running wg show, which can make it exit', async () => {
    const asked: string[] = []
    const run: Exec['run'] = (program, args, options) => {
      if (program === 'wg') asked.push(args[0] ?? '')
      return lab.exec.run(program, args, options)
    }
    await lab.driver({ ...lab.exec, run }).apply({ settings, peers: [site] })
    expect(new Set(asked)).toEqual(new Set(['syncconf']))
  })

  test('is made, read back and adopted by the next edge', async () => {
    const wanted = { settings, peers: [site, gateway, far] }
    const { part, problems } = await lab.driver().apply(wanted)
    expect({ part, problems }).toEqual({ part: { state: 'ok', detail: 'wireguard-go' }, problems: [] })
    const made = await lab.world()
    expect(made.addresses).toEqual(['10.64.0.1/24', '10.64.9.1/24', 'fd00:1:2::1/64'])
    expect(made.routes).toEqual(['10.64.0.0/16', '10.64.0.0/24', '10.64.9.0/24', '192.168.7.0/24'])
    expect(made.routes6).toEqual(['fd00:1:2::/64', 'fd77::/64'])
    expect(made.link).toEqual([',UP,', 'mtu 1420'])
    expect(made.config).toContain(`PresharedKey = ${site.presharedKey}`)
    const before = await lab.listPids()
    await lab.driver().apply(wanted)
    expect(await lab.listPids()).toEqual(before)
    expect(before).toHaveLength(1)
    expect(await lab.world()).toEqual(made)
  })

  test.each([
    ['the same', '10.20.0.0/16'],
    ['one inside it', '10.20.3.0/24'],
    ['one around it', '10.16.0.0/12'],
  ])('leaves a route of the machine alone when a gateway has %s', async (_, subnet) => {
    await lab.must('ip', 'link', 'add', 'lan0', 'type', 'bridge')
    await lab.must('ip', 'addr', 'add', '192.168.50.1/24', 'dev', 'lan0')
    await lab.must('ip', 'link', 'set', 'lan0', 'up')
    await lab.must('ip', 'route', 'add', '10.20.0.0/16', 'via', '192.168.50.254')
    const router = { ...gateway, subnets: [subnet, '192.168.8.0/24'] }
    const { problems } = await lab.driver().apply({ settings, peers: [router] })
    expect(problems).toEqual([
      {
        scope: { kind: 'node', id: gateway.nodeId },
        message: `Its network ${subnet} is left out: this machine uses the route 10.20.0.0/16 via 192.168.50.254 on lan0.`,
      },
    ])
    await lab.driver().apply({ settings, peers: [] })
    expect(await lab.must('ip', 'route', 'get', '10.20.3.4')).toContain('via 192.168.50.254')
    await lab.must('ip', 'link', 'del', 'lan0')
  })

  test('leaves nothing of its networks to other routes while it is away, until it is removed', async () => {
    await lab.must('ip', 'link', 'add', 'lan0', 'type', 'bridge')
    await lab.must('ip', 'addr', 'add', '192.168.50.1/24', 'dev', 'lan0')
    await lab.must('ip', 'link', 'set', 'lan0', 'up')
    await lab.must('ip', 'route', 'add', 'default', 'via', '192.168.50.254')
    const wayTo = async (address: string) => (await lab.run('ip', 'route', 'get', address)).stdout
    const inside = ['10.64.0.2', '192.168.7.20', 'fd77::20']
    const ways = async () => (await Promise.all(inside.map(wayTo))).map((way) => way.includes('lan0'))
    // HAProxy may be told of a network before it is in the tunnel.
    const driver = lab.driver()
    await driver.admit({ settings, peers: [site, gateway] })
    expect(await ways()).toEqual([false, false, false])
    expect(await wayTo('192.168.8.20')).toContain('lan0')
    await driver.apply({ settings, peers: [site, gateway] })
    await lab.must('ip', 'link', 'del', lab.interface)
    expect(await ways()).toEqual([false, false, false])
    await driver.admit({ settings, peers: [site] })
    await driver.apply({ settings, peers: [site] })
    expect(await wayTo('192.168.7.20')).toContain('lan0')
    await driver.remove()
    expect(await wayTo('10.64.0.2')).toContain('lan0')
    expect(await lab.must('ip', 'route', 'show', 'type', 'unreachable')).toBe('')
    await lab.must('ip', 'link', 'del', 'lan0')
  })

  test('touches nothing when nothing differs', async () => {
    await lab.driver().apply({ settings, peers: [site, gateway] })
    const commands: string[] = []
    const spy: Exec = {
      ...lab.exec,
      run: (program, args, options) => {
        commands.push([program, ...args].join(' '))
        return lab.exec.run(program, args, options)
      },
    }
    await lab.driver(spy).apply({ settings, peers: [gateway, site] })
    expect(commands.filter((command) => / (add|del|set|replace|syncconf) /.test(command))).toEqual([])
  })

  test('comes right from any state, also one that somebody else has changed', async () => {
    const walk: WireGuardWanted[] = [
      { settings, peers: [site] },
      { settings, peers: [gateway, far] },
      { settings, peers: [] },
      { settings: { ...settings, tunnelPrivateKey: makeKeys().privateKey }, peers: [site, gateway, far] },
      {
        settings,
        peers: [
          { ...site, presharedKey: far.presharedKey },
          { ...gateway, subnets: ['192.168.8.0/24'] },
        ],
      },
      {
        settings,
        peers: [
          { ...site, address4: gateway.address4 },
          { ...gateway, address4: site.address4 },
        ],
      },
      {
        settings: { ...settings, tunnelNetwork4: '10.65.0.0/16', tunnelNetwork6: 'fd00:9::/64' },
        peers: [{ ...site, address4: '10.65.3.2', address6: 'fd00:9::2' }],
      },
    ]
    const disturbances = [
      ['ip', 'addr', 'flush', 'dev', lab.interface],
      ['ip', 'link', 'set', lab.interface, 'down'],
      ['ip', 'link', 'set', lab.interface, 'mtu', '1300'],
      ['wg', 'set', lab.interface, 'peer', makeKeys().publicKey, 'allowed-ips', '10.64.0.99/32'],
      ['ip', 'addr', 'add', '198.51.100.1/24', 'dev', lab.interface],
      ['ip', 'link', 'del', lab.interface],
      ['wg', 'set', lab.interface, 'listen-port', '51998'],
    ] as const
    const fresh = []
    for (const wanted of walk) {
      await lab.driver().remove()
      await lab.driver().apply(wanted)
      fresh.push(await lab.world())
    }
    for (const [index, [program, ...args]] of disturbances.entries()) {
      await lab.must(program, ...args)
      const next = (index * 3 + 1) % walk.length
      await lab.driver().apply(walk[next] ?? { settings, peers: [] })
      expect(await lab.world()).toEqual(fresh[next])
    }
  })

  test('ends in the same place wherever the edge was killed', async () => {
    const from = { settings, peers: [site, far] }
    const to = { settings: { ...settings, tunnelPrivateKey: makeKeys().privateKey }, peers: [gateway, site] }
    await lab.driver().apply(to)
    const wanted = await lab.world()
    for (const start of ['nothing', 'another state']) {
      let died = true
      for (let call = 1; died; call++) {
        await lab.driver().remove()
        if (start === 'another state') await lab.driver().apply(from)
        died = await lab
          .driver(dyingExec(lab.exec, call))
          .apply(to)
          .then(
            () => false,
            () => true,
          )
        await lab.driver().apply(to)
        expect(await lab.world()).toEqual(wanted)
      }
    }
  })

  test('counts only once it was read back, whatever the programs say', async () => {
    await lab.driver().apply({ settings, peers: [] })
    const deaf: Exec = {
      ...lab.exec,
      run: async (program, args, options) =>
        / (syncconf|add|replace) /.test([program, ...args].join(' '))
          ? { code: 0, stdout: '', stderr: '' }
          : lab.exec.run(program, args, options),
    }
    const { problems } = await lab.driver(deaf).apply({ settings, peers: [site] })
    expect(problems).toEqual([
      { scope: { kind: 'node', id: site.nodeId }, message: "WireGuard rejected this node's configuration." },
    ])
    await expect(lab.driver(deaf).apply({ settings, peers: [gateway] })).rejects.toThrow(
      'does not stay as it was set',
    )
    const rekeyed = { ...settings, tunnelPrivateKey: makeKeys().privateKey }
    await expect(lab.driver(deaf).apply({ settings: rekeyed, peers: [] })).rejects.toThrow(
      'does not stay as it was set',
    )
  })

  test("leaves out a node that would break others, and reports it as that node's problem", async () => {
    const ownKey = { ...makePeer(9), publicKey: await lab.publicKeyOf(settings.tunnelPrivateKey) }
    const peers = [
      site,
      { ...makePeer(5), publicKey: site.publicKey },
      { ...makePeer(6), address4: site.address4 },
      { ...makePeer(7), subnets: ['10.64.0.0/24', '127.0.0.0/8', '192.168.9.0/24'] },
      { ...makePeer(8), presharedKey: `${'A'.repeat(42)}B=` },
      ownKey,
    ]
    const { part, problems } = await lab.driver().apply({ settings, peers })
    expect(part.state).toBe('ok')
    expect(problems.map(({ scope, message }) => [scope.kind === 'node' && scope.id, message])).toEqual([
      [5, 'Its WireGuard key is used by another end of the tunnel.'],
      [6, 'Its address is used by node 1.'],
      [7, 'Its network 10.64.0.0/24 is left out: it overlaps the tunnel.'],
      [
        7,
        'Its network 127.0.0.0/8 is left out: it overlaps loopback, link-local, multicast or reserved addresses.',
      ],
      [8, 'Its WireGuard key is not valid.'],
      [9, 'Its WireGuard key is used by another end of the tunnel.'],
    ])
    expect((await lab.must('wg', 'show', lab.interface, 'peers')).trim().split('\n')).toHaveLength(2)
  })

  test('a network that this machine itself uses stays with this machine', async () => {
    await lab.must('ip', 'link', 'add', 'lan0', 'type', 'bridge')
    await lab.must('ip', 'addr', 'add', '192.168.7.5/24', 'dev', 'lan0')
    await lab.must('ip', 'link', 'set', 'lan0', 'up')
    const wanted = { settings, peers: [site, gateway] }
    const { problems } = await lab.driver().apply(wanted)
    // Nor does a host in it count as behind the gateway.
    expect(await lab.driver().admit(wanted)).toEqual([site, { ...gateway, subnets: ['fd77::/64'] }])
    const route = await lab.must('ip', 'route', 'get', '192.168.7.20')
    await lab.must('ip', 'link', 'del', 'lan0')
    expect(await lab.driver().admit(wanted)).toEqual(wanted.peers)
    expect(problems[0]?.message).toContain('this machine uses 192.168.7.5/24 on lan0')
    expect(route).toContain('dev lan0')
  })
})
