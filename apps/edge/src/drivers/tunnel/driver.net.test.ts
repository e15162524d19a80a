import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Exec } from '@postern/host/exec'
import { dyingExec } from '@postern/testkit/dying-exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, describe, expect, test } from 'vitest'
import { makeKeys, makePeer, makeSettings } from '../../../test/factories.ts'
import { startLab } from '../../../test/lab.ts'
import type { WireGuardWanted } from './admission.ts'
import { createWireGuard } from './driver.ts'

const PORT = 51999

const lab = shared(startLab)
afterEach(() => driver().remove())

function driver(exec: Exec = lab.exec) {
  return createWireGuard({
    exec,
    interface: lab.interface,
    dataDir: lab.dir,
    dir: `${lab.dir}/wireguard`,
    listenPort: PORT,
    resolvConf: '/dev/null',
  })
}

/** What is in force, in the words of the programs themselves. */
async function world() {
  const lines = async (...args: [string, ...string[]]) =>
    (await lab.must(...args))
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.includes('fe80::') && !line.startsWith('ff00::'))
      .sort()
  const addresses = (await lab.must('ip', '-o', 'addr', 'show', 'dev', lab.interface)).matchAll(
    /inet6? (\S+)/g,
  )
  return {
    config: await lines('wg', 'showconf', lab.interface),
    addresses: [...addresses]
      .map((match) => match[1])
      .filter((text) => !text?.startsWith('fe80'))
      .sort(),
    routes: (await lines('ip', 'route', 'show', 'dev', lab.interface)).map((line) => line.split(' ')[0]),
    routes6: (await lines('ip', '-6', 'route', 'show', 'dev', lab.interface)).map(
      (line) => line.split(' ')[0],
    ),
    link: (await lab.must('ip', '-o', 'link', 'show', 'dev', lab.interface)).match(/mtu \d+|[<,]UP[,>]/g),
  }
}

const site = makePeer(1)
const gateway = makePeer(2, { subnets: ['192.168.7.0/24', 'fd77::/64'] })
const far = makePeer(3, { address4: '10.64.9.4', address6: 'fd00:1:2::904' })
const settings = makeSettings()

describe('the tunnel', () => {
  test('starts wireguard-go without running wg show, which can make it exit', async () => {
    const asked: string[] = []
    const run: Exec['run'] = (program, args, options) => {
      if (program === 'wg') asked.push(args[0] ?? '')
      return lab.exec.run(program, args, options)
    }
    await driver({ ...lab.exec, run }).apply({ settings, peers: [site] })
    expect(new Set(asked)).toEqual(new Set(['syncconf']))
  })

  test('is made, read back and adopted by the next edge', async () => {
    const wanted = { settings, peers: [site, gateway, far] }
    const { part, problems } = await driver().apply(wanted)
    expect({ part, problems }).toEqual({ part: { state: 'ok', detail: 'wireguard-go' }, problems: [] })
    const made = await world()
    expect(made.addresses).toEqual(['10.64.0.1/24', '10.64.9.1/24', 'fd00:1:2::1/64'])
    expect(made.routes).toEqual(['10.64.0.0/16', '10.64.0.0/24', '10.64.9.0/24', '192.168.7.0/24'])
    expect(made.routes6).toEqual(['fd00:1:2::/64', 'fd77::/64'])
    expect(made.link).toEqual([',UP,', 'mtu 1420'])
    expect(made.config).toContain(`PresharedKey = ${site.presharedKey}`)
    const before = await lab.listPids()
    await driver().apply(wanted)
    expect(await lab.listPids()).toEqual(before)
    expect(before).toHaveLength(1)
    expect(await world()).toEqual(made)
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
    const { problems } = await driver().apply({ settings, peers: [router] })
    expect(problems).toEqual([
      {
        scope: { kind: 'node', id: gateway.nodeId },
        message: `Its network ${subnet} is left out: this machine uses the route 10.20.0.0/16 via 192.168.50.254 on lan0.`,
      },
    ])
    await driver().apply({ settings, peers: [] })
    expect(await lab.must('ip', 'route', 'get', '10.20.3.4')).toContain('via 192.168.50.254')
    await lab.must('ip', 'link', 'del', 'lan0')
  })

  test('touches nothing when nothing differs', async () => {
    await driver().apply({ settings, peers: [site, gateway] })
    const commands: string[] = []
    const spy: Exec = {
      ...lab.exec,
      run: (program, args, options) => {
        commands.push([program, ...args].join(' '))
        return lab.exec.run(program, args, options)
      },
    }
    await driver(spy).apply({ settings, peers: [gateway, site] })
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
      await driver().remove()
      await driver().apply(wanted)
      fresh.push(await world())
    }
    for (const [index, [program, ...args]] of disturbances.entries()) {
      await lab.must(program, ...args)
      const next = (index * 3 + 1) % walk.length
      await driver().apply(walk[next] ?? { settings, peers: [] })
      expect(await world()).toEqual(fresh[next])
    }
  })

  test('ends in the same place wherever the edge was killed', async () => {
    const from = { settings, peers: [site, far] }
    const to = { settings: { ...settings, tunnelPrivateKey: makeKeys().privateKey }, peers: [gateway, site] }
    await driver().apply(to)
    const wanted = await world()
    for (const start of ['nothing', 'another state']) {
      let died = true
      for (let call = 1; died; call++) {
        await driver().remove()
        if (start === 'another state') await driver().apply(from)
        died = await driver(dyingExec(lab.exec, call))
          .apply(to)
          .then(
            () => false,
            () => true,
          )
        await driver().apply(to)
        expect(await world()).toEqual(wanted)
      }
    }
  })

  test('is believed only when it is seen, whatever the programs say', async () => {
    await driver().apply({ settings, peers: [] })
    const deaf: Exec = {
      ...lab.exec,
      run: async (program, args, options) =>
        / (syncconf|add|replace) /.test([program, ...args].join(' '))
          ? { code: 0, stdout: '', stderr: '' }
          : lab.exec.run(program, args, options),
    }
    const { problems } = await driver(deaf).apply({ settings, peers: [site] })
    expect(problems).toEqual([
      { scope: { kind: 'node', id: site.nodeId }, message: "WireGuard rejected this node's configuration." },
    ])
    await expect(driver(deaf).apply({ settings, peers: [gateway] })).rejects.toThrow(
      'does not stay as it was set',
    )
    const rekeyed = { ...settings, tunnelPrivateKey: makeKeys().privateKey }
    await expect(driver(deaf).apply({ settings: rekeyed, peers: [] })).rejects.toThrow(
      'does not stay as it was set',
    )
  })

  test('leaves a node out that would break others, as its own problem', async () => {
    const ownKey = { ...makePeer(9), publicKey: await publicKeyOf(settings.tunnelPrivateKey) }
    const peers = [
      site,
      { ...makePeer(5), publicKey: site.publicKey },
      { ...makePeer(6), address4: site.address4 },
      { ...makePeer(7), subnets: ['10.64.0.0/24', '127.0.0.0/8', '192.168.9.0/24'] },
      { ...makePeer(8), presharedKey: `${'A'.repeat(42)}B=` },
      ownKey,
    ]
    const { part, problems } = await driver().apply({ settings, peers })
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

  test('a network that this machine uses itself stays with this machine', async () => {
    await lab.must('ip', 'link', 'add', 'lan0', 'type', 'bridge')
    await lab.must('ip', 'addr', 'add', '192.168.7.5/24', 'dev', 'lan0')
    await lab.must('ip', 'link', 'set', 'lan0', 'up')
    const wanted = { settings, peers: [site, gateway] }
    const { problems } = await driver().apply(wanted)
    // Nor is a host in it taken for one behind the gateway.
    expect(await driver().admit(wanted)).toEqual([site, { ...gateway, subnets: ['fd77::/64'] }])
    const route = await lab.must('ip', 'route', 'get', '192.168.7.20')
    await lab.must('ip', 'link', 'del', 'lan0')
    expect(await driver().admit(wanted)).toEqual(wanted.peers)
    expect(problems[0]?.message).toContain('this machine uses 192.168.7.5/24 on lan0')
    expect(route).toContain('dev lan0')
  })

  test('secrets are readable by root only and never in an argv', async () => {
    const argvs: string[] = []
    const spy: Exec = {
      ...lab.exec,
      run: (program, args, options) => {
        argvs.push(args.join(' '))
        return lab.exec.run(program, args, options)
      },
    }
    await driver(spy).apply({ settings, peers: [site] })
    expect(argvs.join('\n')).not.toContain(settings.tunnelPrivateKey)
    expect(argvs.join('\n')).not.toContain(site.presharedKey)
    expect(statSync(`${lab.dir}/wireguard/${lab.interface}.conf`).mode & 0o777).toBe(0o600)
    expect(statSync(`${lab.dir}/wireguard`).mode & 0o777).toBe(0o700)
  })

  test('an interface that is made anew calls the nodes where they were last', async () => {
    const wanted = { settings, peers: [site, gateway] }
    await driver().apply(wanted)
    await lab.must('wg', 'set', lab.interface, 'peer', site.publicKey, 'endpoint', '127.0.0.1:4444')
    await driver().apply(wanted)
    await driver().remove()
    await driver().apply(wanted)
    expect(await endpointOf(site.publicKey)).toBe('127.0.0.1:4444')
    expect(await endpointOf(gateway.publicKey)).toBe('(none)')
    await until('the call', async () =>
      /\t[1-9]\d*$/m.test(await lab.must('wg', 'show', lab.interface, 'transfer')),
    )
    expect(await lab.must('wg', 'show', lab.interface, 'persistent-keepalive')).not.toMatch(/\d$/m)
    expect(statSync(ENDPOINTS()).mode & 0o777).toBe(0o600)
    await driver().apply({ settings, peers: [gateway] })
    expect(readFileSync(ENDPOINTS(), 'utf8')).toBe('')
  })

  test('a node that has moved keeps the endpoint that WireGuard learned', async () => {
    const moved = '[::1]:5555'
    writeFileSync(ENDPOINTS(), `${site.publicKey}\t127.0.0.1:4444\n`)
    await driver().apply({ settings, peers: [site] })
    await lab.must('wg', 'set', lab.interface, 'peer', site.publicKey, 'endpoint', moved)
    const next = { settings, peers: [{ ...site, presharedKey: far.presharedKey }, gateway] }
    await driver().apply(next)
    expect(await endpointOf(site.publicKey)).toBe(moved)
    await driver().remove()
    await driver().apply(next)
    expect(await endpointOf(site.publicKey)).toBe(moved)
  })

  test('endpoints that are none harm nothing, and a disk that keeps none is named', async () => {
    const texts = ['127.0.0.1:0', '127.0.0.1:65536', '127.0.0.1', '::1:5', '[fe80::1%lo]:5', 'a.test:5', '']
    writeFileSync(ENDPOINTS(), `\0\n${texts.map((each) => `${site.publicKey}\t${each}`).join('\n')}`)
    expect((await driver().apply({ settings, peers: [site] })).problems).toEqual([])
    expect(await endpointOf(site.publicKey)).toBe('(none)')
    rmSync(ENDPOINTS())
    mkdirSync(ENDPOINTS())
    await lab.must('wg', 'set', lab.interface, 'peer', site.publicKey, 'endpoint', '127.0.0.1:4444')
    const { part, problems } = await driver().apply({ settings, peers: [site] })
    rmdirSync(ENDPOINTS())
    expect(part.state).toBe('ok')
    expect(problems[0]?.message).toContain("The nodes' endpoints cannot be kept: EISDIR")
  })

  test('an interface of another kind is left alone and named', async () => {
    await lab.must('ip', 'link', 'add', lab.interface, 'type', 'bridge')
    await expect(driver().apply({ settings, peers: [] })).rejects.toThrow(/another kind \(bridge\)/)
    await lab.must('ip', 'link', 'del', lab.interface)
  })

  test('a wireguard-go that ends at once is named at once', async () => {
    const exec: Exec = {
      ...lab.exec,
      startDetached: (_program, _args, options) => lab.exec.startDetached('false', [], options),
    }
    const began = performance.now()
    await expect(driver(exec).apply({ settings, peers: [] })).rejects.toThrow(
      /wireguard-go did not start; .*\.log says why/,
    )
    // A hundred ms on a machine that has nothing else to do; one that hangs is waited for 8 s.
    expect(performance.now() - began).toBeLessThan(4000)
  })

  test('without the right to change the network it says so', async () => {
    const unprivileged: Exec = {
      ...lab.exec,
      run: (program, args, options) =>
        lab.exec.run(
          'setpriv',
          ['--bounding-set=-net_admin', '--inh-caps=-net_admin', program, ...args],
          options,
        ),
    }
    await expect(driver(unprivileged).apply({ settings, peers: [] })).rejects.toMatchObject({
      code: 'part_missing',
    })
  })
})

test('a UDP port that somebody holds is named, and taken when it is free', async () => {
  const script = `require('node:dgram').createSocket('udp4').bind(${PORT}, () => console.log('bound'))`
  const holder = await new Promise<{ stop(): void; ended: Promise<void> }>((resolve) => {
    const ended = Promise.withResolvers<void>()
    const program = lab.exec.stream(process.execPath, ['-e', script], {
      onLine: () => resolve({ ...program, ended: ended.promise }),
      onExit: () => ended.resolve(),
    })
  })
  await expect(driver().apply({ settings, peers: [site] })).rejects.toThrow(
    `UDP port ${PORT} is held by another program.`,
  )
  holder.stop()
  await holder.ended
  expect((await driver().apply({ settings, peers: [site] })).part.state).toBe('ok')
  expect((await world()).link).toContain(',UP,')
})

const ENDPOINTS = () => `${lab.dir}/wireguard/${lab.interface}.endpoints`

async function endpointOf(publicKey: string): Promise<string | undefined> {
  const lines = await lab.must('wg', 'show', lab.interface, 'endpoints')
  return new Map(lines.split('\n').map((line) => line.split('\t') as [string, string])).get(publicKey)
}

async function publicKeyOf(privateKey: string): Promise<string> {
  const { stdout } = await lab.exec.run('wg', ['pubkey'], { input: privateKey, timeoutMs: 60_000 })
  return stdout.trim()
}
