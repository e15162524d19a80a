import { createExec, type Exec, ProgramMissingError } from '@postern/host/exec'
import { dyingExec } from '@postern/testkit/dying-exec'
import { run } from '@postern/testkit/exec'
import { addNamespace, beginLab, connect, type Namespace } from '@postern/testkit/lab/namespace'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { config } from '../wanted.fixture.ts'
import { parseWanted, type Wanted } from '../wanted.ts'
import { renderServiceTable } from './service-table.ts'
import { createServices } from './services.ts'

const WORD = new URL('../../../../packages/testkit/src/programs/word.ts', import.meta.url).pathname
const TUNNEL = 'tun-x'
const PUBLISHED = { tcp: [8001, 8002, 8003, 8004, 8006], udp: [8001, 8004] }

/** The wire `tun-x` stands for the tunnel: what the kernel does with its packets is the same. */
let edge: Namespace
let node: Namespace
let neighbour: Namespace
let exec: Exec
const logs = tempDir()

beforeAll(async () => {
  const id = await beginLab()
  edge = await addNamespace(`${id}-edge`)
  node = await addNamespace(`${id}-node`)
  neighbour = await addNamespace(`${id}-lan`)
  await connect(edge, 'tun0', node, TUNNEL)
  await connect(neighbour, 'lan0', node, 'lan0')
  await edge.must('ip', 'addr', 'add', '10.64.0.1/24', 'dev', 'tun0')
  await node.must('ip', 'addr', 'add', '10.64.0.2/24', 'dev', TUNNEL)
  await edge.must('ip', 'addr', 'add', 'fd64::1/64', 'dev', 'tun0', 'nodad')
  await node.must('ip', 'addr', 'add', 'fd64::2/64', 'dev', TUNNEL, 'nodad')
  await node.must('ip', 'addr', 'add', '192.168.7.1/24', 'dev', 'lan0')
  await neighbour.must('ip', 'addr', 'add', '192.168.7.10/24', 'dev', 'lan0')
  // A hostile edge, and a hostile neighbour: their packets to these addresses leave by the wire.
  await edge.must('ip', 'route', 'add', '192.168.7.0/24', 'via', '10.64.0.2')
  for (const [host, via] of [
    [edge, '10.64.0.2'],
    [neighbour, '192.168.7.1'],
  ] as const) {
    const device = host === edge ? 'tun0' : 'lan0'
    await host.must('sysctl', '-qw', `net.ipv4.conf.${device}.route_localnet=1`)
    await host.must('ip', 'rule', 'del', 'priority', '0')
    await host.must('ip', 'rule', 'add', 'priority', '1', 'to', '127.0.0.0/8', 'table', '77')
    await host.must('ip', 'rule', 'add', 'priority', '2', 'table', 'local')
    await host.must('ip', 'route', 'add', '127.0.0.0/8', 'via', via, 'dev', device, 'table', '77')
  }
  exec = createExec(node.argv())
  await Promise.all([
    say('tcp', '127.0.0.1', 8001, 'loopback'),
    say('udp', '127.0.0.1', 8001, 'loopback'),
    say('tcp', '10.64.0.2', 8002, 'tunnel'),
    say('tcp', '127.0.0.1', 8002, 'another'),
    say('tcp', '0.0.0.0', 8003, 'all'),
    say('udp', '0.0.0.0', 8004, 'all'),
    say('tcp', '::', 8006, 'both'),
    say('tcp', '::', 9006, 'private'),
    say('tcp', '127.0.0.1', 9001, 'private'),
    say('tcp', '0.0.0.0', 9002, 'private'),
    say('udp', '127.0.0.1', 9001, 'private'),
  ])
})
afterAll(async () => {
  for (const host of [edge, node, neighbour]) await host?.remove()
})
beforeEach(() => createServices(exec, TUNNEL).remove())

function wanting(targets: Wanted['targets'], changes: Partial<Wanted> = {}): Wanted {
  return {
    ...parseWanted({ ...config, gateway: null, targets }),
    addresses: ['10.64.0.2/32', 'fd64::2/128'],
    ...changes,
  }
}

const apply = (targets: Wanted['targets'] = PUBLISHED, changes: Partial<Wanted> = {}) =>
  createServices(exec, TUNNEL).apply(wanting(targets, changes))

type Proto = 'tcp' | 'udp'

const USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']

async function say(proto: Proto, address: string, port: number, word: string, user: string[] = []) {
  const command = [...user, process.execPath, WORD, 'say', proto, address, String(port), word]
  const program = node.start(command, { logFile: `${logs}/${proto}-${address}-${port}.log` })
  const shown = address === '::' ? '*' : address.includes(':') ? `[${address}]` : address
  const isThere = async () =>
    (await node.must('ss', proto === 'tcp' ? '-Hltn' : '-Hlun', `sport = :${port}`)).includes(
      `${shown}:${port} `,
    )
  await until(`${word} to listen on ${address}:${port}`, isThere)
  return program
}

/** What a visitor gets: a word and the address by which the program knows him, or why there is nothing. */
async function ask(from: Namespace, proto: Proto, host: string, port: number): Promise<string> {
  return (await from.must(process.execPath, WORD, 'ask', proto, host, String(port))).trim()
}
const atTunnel = (proto: Proto, port: number) => ask(edge, proto, '10.64.0.2', port)

test('a published port reaches the program that is there, on 127.0.0.1 too, and the program sees the edge', async () => {
  expect(await atTunnel('tcp', 8001)).toBe('ECONNREFUSED')
  expect(await apply()).toEqual([])
  expect(await atTunnel('tcp', 8001)).toBe('loopback 10.64.0.1')
  expect(await atTunnel('udp', 8001)).toBe('loopback 10.64.0.1')
  expect(await atTunnel('tcp', 8003)).toBe('all 10.64.0.1')
  expect(await atTunnel('udp', 8004)).toBe('all 10.64.0.1')
  expect(await atTunnel('tcp', 8002)).toBe('tunnel 10.64.0.1')
  expect(await atTunnel('tcp', 8004)).toBe('ECONNREFUSED')
})

test('the same holds by IPv6, where only a program that takes IPv6 is reached', async () => {
  expect(await ask(edge, 'tcp', 'fd64::2', 9006)).toBe('private fd64::1')
  await apply()
  expect(await ask(edge, 'tcp', 'fd64::2', 8006)).toBe('both fd64::1')
  expect(await ask(edge, 'tcp', 'fd64::2', 8001)).toBe('ECONNREFUSED')
  expect(await ask(edge, 'tcp', 'fd64::2', 9006)).toBe('silence')
  expect((await edge.run('fping', '-6', '-c1', '-t1000', 'fd64::2')).code).toBe(0)
})

test('nothing else on the node is reached through the tunnel, whatever the edge sends', async () => {
  expect(await atTunnel('tcp', 9002)).toBe('private 10.64.0.1')
  await apply()
  const others: [Proto, string, number][] = [
    ['tcp', '10.64.0.2', 9001],
    ['tcp', '10.64.0.2', 9002],
    ['udp', '10.64.0.2', 9001],
    ['tcp', '127.0.0.1', 9001],
    ['tcp', '127.0.0.1', 8001],
    ['udp', '127.0.0.1', 8001],
    // The node's own address elsewhere, and a host behind a node that is no gateway.
    ['tcp', '192.168.7.1', 8003],
    ['tcp', '192.168.7.1', 9002],
  ]
  const answers = await Promise.all(others.map((other) => ask(edge, ...other)))
  expect(answers).toEqual(others.map(() => 'silence'))
  expect((await edge.run('fping', '-c1', '-t1000', '10.64.0.2')).code).toBe(0)
})

test('a neighbour on the network of the node reaches no loopback address', async () => {
  await apply()
  expect(await ask(neighbour, 'tcp', '127.0.0.1', 8001)).toBe('silence')
  expect(await ask(neighbour, 'udp', '127.0.0.1', 8001)).toBe('silence')
  expect(await ask(neighbour, 'tcp', '192.168.7.1', 8001)).toBe('ECONNREFUSED')
  expect(await ask(neighbour, 'tcp', '192.168.7.1', 9002)).toBe('private 192.168.7.10')
  const values = await node.must('cat', '/proc/sys/net/ipv4/conf/all/route_localnet')
  expect(values.trim()).toBe('0')
})

test('a node that forwards opens none of its networks to the edge, and a container keeps its published port', async () => {
  await node.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  const container = neighbour.start([process.execPath, WORD, 'say', 'tcp', '0.0.0.0', '80', 'container'], {
    logFile: `${logs}/container.log`,
  })
  await neighbour.must('ip', 'route', 'add', '10.64.0.0/16', 'via', '192.168.7.1')
  await until('the container', async () => (await neighbour.must('ss', '-Hltn', 'sport = :80')) !== '')
  // As Docker writes it, without its proxy.
  const docker = `table ip nat { chain p { type nat hook prerouting priority -100; policy accept;
    fib daddr type local tcp dport { 8004, 9003 } dnat to 192.168.7.10:80 ; } ; }`
  await run(node.argv('nft', '-f', '-'), { input: docker })
  expect(await ask(edge, 'tcp', '192.168.7.10', 80)).toBe('container 10.64.0.1')
  await apply()
  expect(await ask(edge, 'tcp', '192.168.7.10', 80)).toBe('silence')
  expect(await atTunnel('tcp', 8004)).toBe('container 10.64.0.1')
  expect(await atTunnel('tcp', 9003)).toBe('silence')
  await node.must('nft', 'delete', 'table', 'ip', 'nat')
  await node.must('sysctl', '-qw', 'net.ipv4.ip_forward=0')
  await container.stop()
})

test('a gateway keeps the hosts of its networks, itself among them, and its name server', async () => {
  await apply({ tcp: [], udp: [] }, { gateway: ['192.168.7.0/24'] })
  expect(await ask(edge, 'tcp', '192.168.7.1', 9002)).toBe('private 10.64.0.1')
  expect(await atTunnel('tcp', 9002)).toBe('silence')
  expect(await atTunnel('udp', 53)).toBe('ECONNREFUSED')
})

test('what a program opens and closes counts at once: the kernel is asked for every connection', async () => {
  await apply()
  const first = await say('tcp', '127.0.0.1', 8004, 'first')
  expect(await atTunnel('tcp', 8004)).toBe('first 10.64.0.1')
  const second = await say('tcp', '10.64.0.2', 8004, 'second')
  expect(await atTunnel('tcp', 8004)).toBe('second 10.64.0.1')
  await second.stop()
  expect(await atTunnel('tcp', 8004)).toBe('first 10.64.0.1')
  await first.stop()
  expect(await atTunnel('tcp', 8004)).toBe('ECONNREFUSED')
})

const TAKEN = (proto: string, port: number, where: string) =>
  `A program of user 65534 holds ${proto} port ${port} ${where}. What is published stays with the program of root`

/** As most programs name it, and as Java does. */
const LOOPBACK = ['127.0.0.1', '::ffff:127.0.0.1']

test.each((['tcp', 'udp'] as const).flatMap((proto) => LOOPBACK.map((address) => [proto, address] as const)))(
  'no other user takes a published %s port from a program at %s, nor at the other address',
  async (proto, loopback) => {
    const PROTO = proto.toUpperCase()
    const published = { tcp: [8005], udp: [8005] }
    const services = createServices(exec, TUNNEL)
    const look = () => services.apply(wanting(published))
    const genuine = await say(proto, loopback, 8005, 'genuine')
    expect(await look()).toEqual([])
    const thief = await say(proto, '10.64.0.2', 8005, 'thief', USER)
    expect(await atTunnel(proto, 8005)).toBe('genuine 10.64.0.1')
    expect(await look()).toEqual([TAKEN(PROTO, 8005, "at the tunnel's address")])
    // It gains nothing by waiting until the program is started anew, nor by an agent that is.
    await genuine.stop()
    await look()
    expect(await atTunnel(proto, 8005)).toBe('ECONNREFUSED')
    const again = await say(proto, loopback, 8005, 'genuine')
    expect(await apply(published)).toEqual([TAKEN(PROTO, 8005, "at the tunnel's address")])
    expect(await atTunnel(proto, 8005)).toBe('genuine 10.64.0.1')
    for (const program of [thief, again]) await program.stop()
    // The other way round.
    await look()
    const tunnel = await say(proto, '10.64.0.2', 8005, 'genuine')
    await look()
    const second = await say(proto, loopback, 8005, 'thief', USER)
    expect(await atTunnel(proto, 8005)).toBe('genuine 10.64.0.1')
    expect(await look()).toEqual([TAKEN(PROTO, 8005, 'on 127.0.0.1')])
    await tunnel.stop()
    expect(await atTunnel(proto, 8005)).toBe('ECONNREFUSED')
    // A port that nobody holds goes to who comes first, as ever.
    await second.stop()
    await look()
    const user = await say(proto, '10.64.0.2', 8005, 'user', USER)
    await look()
    expect(await atTunnel(proto, 8005)).toBe('user 10.64.0.1')
    // Root may take it.
    const root = await say(proto, loopback, 8005, 'root')
    expect(await look()).toEqual([TAKEN(PROTO, 8005, "at the tunnel's address")])
    expect(await atTunnel(proto, 8005)).toBe('root 10.64.0.1')
    for (const program of [user, root]) await program.stop()
  },
)

const OTHER_USER = USER.map((word) => word.replace('65534', '65533'))

test.each(['tcp', 'udp'] as const)(
  'nobody gains a %s port by waiting until the agent starts anew, or the service is enabled again',
  async (proto) => {
    const published = { tcp: [8007], udp: [8007] }
    const none = { tcp: [], udp: [] }
    const waits = `A program of user 65533 holds ${proto.toUpperCase()} port 8007 on 127.0.0.1. What is published stays with the program of user 65534`
    const before = createServices(exec, TUNNEL)
    const genuine = await say(proto, '10.64.0.2', 8007, 'genuine', USER)
    await before.apply(wanting(published))
    const thief = await say(proto, '127.0.0.1', 8007, 'thief', OTHER_USER)
    const services = createServices(exec, TUNNEL)
    expect(await services.apply(wanting(published))).toEqual([waits])
    expect(await atTunnel(proto, 8007)).toBe('genuine 10.64.0.1')
    expect(await services.apply(wanting(none))).toEqual([])
    expect(await atTunnel(proto, 8007)).toBe('silence')
    expect(await services.apply(wanting(published))).toEqual([waits])
    expect(await atTunnel(proto, 8007)).toBe('genuine 10.64.0.1')
    // Nor while it is not published and its program is started anew.
    await services.apply(wanting(none))
    await genuine.stop()
    await services.apply(wanting(none))
    const again = await say(proto, '10.64.0.2', 8007, 'genuine', USER)
    expect(await services.apply(wanting(published))).toEqual([waits])
    expect(await atTunnel(proto, 8007)).toBe('genuine 10.64.0.1')
    await again.stop()
    expect(await atTunnel(proto, 8007)).toBe('ECONNREFUSED')
    await thief.stop()
  },
)

test('what the node itself starts is answered, and a port that is no longer published is closed', async () => {
  await apply()
  await edge.must('nft', 'flush', 'ruleset')
  const program = edge.start([process.execPath, WORD, 'say', 'tcp', '10.64.0.1', '7000', 'edge'], {
    logFile: `${logs}/edge.log`,
  })
  await until('the edge', async () => (await edge.must('ss', '-Hltn', 'sport = :7000')) !== '')
  expect(await ask(node, 'tcp', '10.64.0.1', 7000)).toBe('edge 10.64.0.2')
  await program.stop()
  await apply({ tcp: [8003], udp: [] })
  expect(await atTunnel('tcp', 8001)).toBe('silence')
  expect(await atTunnel('tcp', 8003)).toBe('all 10.64.0.1')
})

test('a server that names no targets leaves the plain way, and nothing of ours', async () => {
  await apply()
  expect(await createServices(exec, TUNNEL).apply(wanting(undefined))).toEqual([])
  expect(await atTunnel('tcp', 9002)).toBe('private 10.64.0.1')
  expect(await atTunnel('tcp', 8001)).toBe('ECONNREFUSED')
  expect(await remains()).toBe('0')
})

/** All that `apply` changes on a machine. */
async function remains(): Promise<string> {
  const route = await node.must('cat', `/proc/sys/net/ipv4/conf/${TUNNEL}/route_localnet`)
  return `${await node.must('nft', 'list', 'ruleset')}${route.trim()}`
}

test('what another program flushes or sets is put right by the next look', async () => {
  const services = createServices(exec, TUNNEL)
  await services.apply(wanting(PUBLISHED))
  const whole = await remains()
  await node.must('nft', 'flush', 'ruleset')
  await node.must('sysctl', '-qw', `net.ipv4.conf.${TUNNEL}.route_localnet=0`)
  await services.apply(wanting(PUBLISHED))
  expect(await remains()).toBe(whole)
  await node.must('nft', 'flush', 'chain', 'inet', 'postern_services_tun_x', 'input')
  await services.apply(wanting(PUBLISHED))
  expect(await remains()).toBe(whole)
})

test('without nft, or where the kernel takes no such table, the plain way stays and the note says so', async () => {
  const note = "Services reach only programs that listen on the tunnel's address, not those on 127.0.0.1"
  const withNft = (nft: Exec['run']): Exec => ({
    ...exec,
    run: (program, args, options) => (program === 'nft' ? nft : exec.run)(program, args, options),
  })
  const missing = withNft(() => Promise.reject(new ProgramMissingError('nft')))
  const old = withNft(async () => ({ code: 1, stdout: '', stderr: 'Could not process rule\n' }))
  for (const [broken, why] of [
    [missing, 'nft is missing. Install it: apt-get install --no-install-recommends nftables'],
    [old, 'nft: Could not process rule'],
  ] as const) {
    expect(await createServices(broken, TUNNEL).apply(wanting(PUBLISHED))).toEqual([`${note}: ${why}`])
    expect(await atTunnel('tcp', 9002)).toBe('private 10.64.0.1')
    expect(await remains()).toBe('0')
  }
})

test('a firewall that drops incoming packets is named, unless it knows of the tunnel', async () => {
  const chain = (rule: string) =>
    `table ip fw { chain in { type filter hook input priority 0; policy drop; ${rule} } ; }`
  await run(node.argv('nft', '-f', '-'), { input: chain('') })
  expect(await apply()).toEqual([
    'A firewall on this machine (nftables chain ip fw in) drops incoming packets unless a rule allows them. ' +
      'Allow packets that come in through tun-x',
  ])
  expect(await apply({ tcp: [], udp: [] })).toEqual([])
  await node.must('nft', 'delete', 'table', 'ip', 'fw')
  await run(node.argv('nft', '-f', '-'), { input: chain('iifname "tun-x" accept ;') })
  expect(await apply()).toEqual([])
  expect(await atTunnel('tcp', 8001)).toBe('loopback 10.64.0.1')
  await node.must('nft', 'delete', 'table', 'ip', 'fw')
})

test('killed before any step, loopback is never open without the table, and the next agent ends in the same place', async () => {
  const other = { tcp: [8003], udp: [] }
  await apply()
  const whole = await remains()
  for (const [from, to] of [
    [undefined, PUBLISHED],
    [other, PUBLISHED],
    [PUBLISHED, undefined],
  ] as const)
    for (let step = 1; step <= 6; step++) {
      await createServices(exec, TUNNEL).remove()
      await createServices(exec, TUNNEL).apply(wanting(from))
      await createServices(dyingExec(exec, step), TUNNEL)
        .apply(wanting(to))
        .catch(() => undefined)
      const left = await remains()
      if (left.endsWith('1')) expect(left).toContain('ip daddr 127.0.0.0/8 drop')
      await createServices(exec, TUNNEL).apply(wanting(to))
      expect(await remains()).toBe(to ? whole : '0')
    }
  await createServices(exec, TUNNEL).remove()
  expect(await remains()).toBe('0')
})

test('any configuration that is accepted makes a table that nft takes, with these ports and no others', async () => {
  const port = fc.integer({ min: 1, max: 65_535 })
  const ports = fc.array(fc.oneof(port, port, fc.constantFrom(0, 65_536, 1.5, Number.NaN)), { maxLength: 40 })
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,14}$/)
  await fc.assert(
    fc.asyncProperty(ports, ports, name, fc.boolean(), async (tcp, udp, device, isGateway) => {
      const isRight = [...tcp, ...udp].every((one) => Number.isInteger(one) && one >= 1 && one <= 65_535)
      const gateway = isGateway ? config.gateway : null
      const parse = () => parseWanted({ ...config, gateway, targets: { tcp, udp } })
      if (!isRight) {
        expect(parse).toThrow('unusable targets')
        return
      }
      const { targets = PUBLISHED, addresses, gateway: networks } = parse()
      const text = renderServiceTable(device, { targets, addresses, gateway: networks })
      const { code, stderr } = await run(node.argv('nft', '-c', '-f', '-'), { input: text })
      expect([code, stderr], text).toEqual([0, ''])
    }),
    { numRuns: 40 },
  )
})
