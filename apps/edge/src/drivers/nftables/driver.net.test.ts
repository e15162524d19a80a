import type { Exec } from '@postern/host/processes/exec'
import { dyingExec } from '@postern/testkit/processes/dying-exec'
import { shared } from '@postern/testkit/shared'
import { afterEach, describe, expect, test } from 'vitest'
import { makePeer, makeSettings } from '../../../test/factories.ts'
import { startLab } from '../../../test/lab.ts'
import { createNftables, type NftablesWanted } from './driver.ts'

const lab = shared(startLab)
afterEach(() => driver().remove())

const driver = (exec: Exec = lab.exec) => createNftables({ exec, interface: lab.interface, httpsPort: 443 })
const table = () => `postern_${lab.interface}`
const world = () => lab.must('nft', 'list', 'table', 'inet', table())

const settings = makeSettings()
const plain = makePeer(1)
const guest = makePeer(2, { allowInternet: true })
const gateway = makePeer(3, {
  subnets: ['203.0.113.0/25', '203.0.113.0/24', 'fd77::/64'],
  allowInternet: true,
})
const walk: NftablesWanted[] = [
  { settings, peers: [plain], udp: [] },
  { settings, peers: [plain, guest, gateway], udp: [] },
  { settings, peers: [], udp: [] },
  { settings: { ...settings, tunnelNetwork4: '172.20.0.0/16' }, peers: [guest], udp: [] },
  { settings, peers: [gateway], udp: [] },
]

describe('the table', () => {
  test('comes right from any state, also one that somebody else has changed', async () => {
    const fresh: string[] = []
    for (const wanted of walk) {
      await driver().remove()
      await driver().apply(wanted)
      fresh.push(await world())
    }
    const name = ['inet', table()]
    const disturbances = [
      ['delete', 'table', ...name],
      ['flush', 'chain', ...name, 'forward'],
      ['flush', 'set', ...name, 'private4'],
      ['add', 'element', ...name, 'internet4', '{ 10.64.0.77 }'],
      ['insert', 'rule', ...name, 'input', 'accept'],
      ['add', 'chain', ...name, 'stray'],
      ['add', 'element', ...name, 'private6', '{ 2a00::/12 }'],
    ]
    for (const [index, args] of disturbances.entries()) {
      await lab.must('nft', ...args)
      const next = (index * 2 + 1) % walk.length
      await driver().apply(walk[next] ?? { settings, peers: [], udp: [] })
      expect(await world()).toBe(fresh[next])
    }
  })

  test('is made once: later changes leave its rules as they are', async () => {
    await driver().apply({ settings, peers: [plain], udp: [] })
    const handles = async () =>
      [
        ...(await lab.must('nft', '-a', 'list', 'table', 'inet', table())).matchAll(/chain \w+|handle \d+/g),
      ].join()
    const before = await handles()
    const loads: string[] = []
    const spy: Exec = {
      ...lab.exec,
      run: (program, args, options) => {
        if (program === 'nft' && options?.input) loads.push(options.input)
        return lab.exec.run(program, args, options)
      },
    }
    await driver(spy).apply({ settings, peers: [plain, { ...guest, allowInternet: true }], udp: [] })
    await driver(spy).apply({ settings, peers: [plain, guest], udp: [] })
    expect(loads).toEqual([
      expect.stringMatching(
        /^add element inet \w+ internet4 \{ 10\.64\.0\.3 \}\nadd element .* \{ fd00:1:2::3 \}\n$/,
      ),
    ])
    expect(await handles()).toBe(before)
  })

  test('ends in the same place wherever the edge was killed', async () => {
    const [from, to] = walk
    if (!from || !to) throw new Error('the walk is empty')
    await driver().apply(to)
    const wanted = await world()
    for (const start of [undefined, from]) {
      let died = true
      for (let call = 1; died; call++) {
        await driver().remove()
        if (start) await driver().apply(start)
        died = await driver(dyingExec(lab.exec, call))
          .apply(to)
          .then(
            () => false,
            () => true,
          )
        await driver().apply(to)
        expect(await world()).toBe(wanted)
      }
    }
  })

  test('leaves every other table alone, also when it goes', async () => {
    await lab.must('nft', 'add', 'table', 'inet', 'postern_other')
    await driver().apply({ settings, peers: [], udp: [] })
    await driver().remove()
    expect(await lab.must('nft', 'list', 'tables')).toBe('table inet postern_other\n')
    await lab.must('nft', 'delete', 'table', 'inet', 'postern_other')
  })

  test('names a foreign chain that drops what nodes send to the internet, and only then', async () => {
    await lab.must('nft', 'add', 'table', 'ip', 'docker')
    const chain = '{ type filter hook forward priority 0; policy drop; }'
    await lab.must('nft', 'add', 'chain', 'ip', 'docker', 'FORWARD', chain)
    expect((await driver().apply({ settings, peers: [plain], udp: [] })).problems).toEqual([])
    const { part, problems } = await driver().apply({ settings, peers: [guest], udp: [] })
    expect(part.state).toBe('ok')
    expect(problems).toEqual([
      { scope: { kind: 'edge' }, message: expect.stringContaining('chain FORWARD of the table ip docker') },
    ])
    await lab.must('nft', 'add', 'rule', 'ip', 'docker', 'FORWARD', 'iifname', lab.interface, 'accept')
    expect((await driver().apply({ settings, peers: [guest], udp: [] })).problems).toEqual([])
    await lab.must('nft', 'delete', 'table', 'ip', 'docker')
  })

  test('names a foreign chain that keeps visitors from the HTTPS port, and only then', async () => {
    const wanted: NftablesWanted = { settings, peers: [], udp: [] }
    const problems = async () => (await driver().apply(wanted)).problems
    await lab.must('nft', 'add', 'table', 'inet', 'wall')
    const chain = '{ type filter hook input priority 0; policy drop; }'
    await lab.must('nft', 'add', 'chain', 'inet', 'wall', 'in', chain)
    await lab.must('nft', 'add', 'rule', 'inet', 'wall', 'in', 'tcp', 'dport', '{ 22, 80 }', 'accept')
    expect(await problems()).toEqual([
      {
        scope: { kind: 'edge' },
        message:
          'Visitors cannot reach anything until the chain in of the table inet wall lets TCP port 443 in. ' +
          'Another program made it, as ufw or firewalld do.',
      },
    ])
    for (const rule of ['iifname lo', 'ct state established']) {
      await lab.must('nft', 'add', 'rule', 'inet', 'wall', 'in', ...rule.split(' '), 'accept')
      expect(await problems()).toHaveLength(1)
    }
    for (const rule of ['tcp dport 443', 'tcp dport { 22, 443 }', 'tcp dport 400-500', 'iifname eth0']) {
      await lab.must('nft', 'add', 'chain', 'inet', 'wall', 'user')
      await lab.must('nft', 'add', 'rule', 'inet', 'wall', 'user', ...rule.split(' '), 'accept')
      expect([rule, await problems()]).toEqual([rule, []])
      await lab.must('nft', 'delete', 'chain', 'inet', 'wall', 'user')
    }
    await lab.must('nft', 'delete', 'table', 'inet', 'wall')
  })

  test('switches forwarding on only when a node may reach the internet, and keeps a learned way out', async () => {
    const other = await startLab()
    try {
      const own = createNftables({ exec: other.exec, interface: other.interface, httpsPort: 443 })
      const read = (path: string) => other.must('cat', `/proc/sys/net/${path}`)
      await other.must('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1')
      await other.must('ip', 'link', 'set', 'eth0', 'up')
      await other.must('ip', '-6', 'addr', 'add', '2001:db8::2/64', 'dev', 'eth0', 'nodad')
      await other.must(
        'ip',
        '-6',
        'route',
        'add',
        'default',
        'via',
        '2001:db8::1',
        'dev',
        'eth0',
        'proto',
        'ra',
      )
      await own.apply({ settings, peers: [plain], udp: [] })
      expect(await read('ipv4/ip_forward')).toBe('0\n')
      await own.apply({ settings, peers: [guest], udp: [] })
      expect(await read('ipv4/ip_forward')).toBe('2\n')
      expect(await read('ipv6/conf/all/forwarding')).toBe('2\n')
      expect(await read('ipv6/conf/eth0/accept_ra')).toBe('2\n')
      expect(await read('ipv6/conf/eth1/accept_ra')).toBe('1\n')
    } finally {
      await other.close()
    }
  })

  test('counts only once it was read back, whatever nft says', async () => {
    const deaf: Exec = {
      ...lab.exec,
      run: async (program, args, options) =>
        options?.input === undefined
          ? lab.exec.run(program, args, options)
          : { code: 0, stdout: '', stderr: '' },
    }
    await expect(driver(deaf).apply({ settings, peers: [plain], udp: [] })).rejects.toThrow(
      'does not stay as it was set',
    )
    await driver().apply({ settings, peers: [plain], udp: [] })
    await expect(driver(deaf).apply({ settings, peers: [guest], udp: [] })).rejects.toThrow(
      'does not stay as it was set',
    )
  })

  test('without the right to change the firewall it says so', async () => {
    const unprivileged: Exec = {
      ...lab.exec,
      run: (program, args, options) =>
        lab.exec.run(
          'setpriv',
          ['--bounding-set=-net_admin', '--inh-caps=-net_admin', program, ...args],
          options,
        ),
    }
    await expect(driver(unprivileged).apply({ settings, peers: [], udp: [] })).rejects.toMatchObject({
      code: 'part_missing',
    })
  })
})
