import type { NodeTargets } from '@postern/contract/agent/agent'
import { type Exec, ExecTimeoutError, ProgramMissingError } from '@postern/host/processes/exec'
import { dyingExec } from '@postern/testkit/processes/dying-exec'
import { run } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import * as fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import {
  ask,
  type Proto,
  PUBLISHED,
  startServicesLab,
  TUNNEL,
  WORD,
  wanting,
} from '../../test/services-lab.ts'
import { config } from '../wanted.fixture.ts'
import { parseWanted } from '../wanted.ts'
import { renderServiceTable } from './service-table.ts'
import { createServices } from './services.ts'

const dir = tempDir()
const lab = shared(() => startServicesLab(dir))
beforeEach(() => lab.services().remove())

test("a published port reaches its program, on 127.0.0.1 too, and the program sees the edge's address", async () => {
  expect(await lab.atTunnel('tcp', 8001)).toBe('ECONNREFUSED')
  expect(await lab.apply()).toEqual([])
  expect(await lab.atTunnel('tcp', 8001)).toBe('loopback 10.64.0.1')
  expect(await lab.atTunnel('udp', 8001)).toBe('loopback 10.64.0.1')
  expect(await lab.atTunnel('tcp', 8003)).toBe('all 10.64.0.1')
  expect(await lab.atTunnel('udp', 8004)).toBe('all 10.64.0.1')
  expect(await lab.atTunnel('tcp', 8002)).toBe('tunnel 10.64.0.1')
  expect(await lab.atTunnel('tcp', 8004)).toBe('ECONNREFUSED')
})

test('the same holds over IPv6, which only reaches a program that listens on IPv6', async () => {
  expect(await ask(lab.edge, 'tcp', 'fd64::2', 9006)).toBe('private fd64::1')
  await lab.apply()
  expect(await ask(lab.edge, 'tcp', 'fd64::2', 8006)).toBe('both fd64::1')
  expect(await ask(lab.edge, 'tcp', 'fd64::2', 8001)).toBe('silence')
  expect(await ask(lab.edge, 'tcp', 'fd64::2', 9006)).toBe('silence')
  expect((await lab.edge.run('fping', '-6', '-c1', '-t1000', 'fd64::2')).code).toBe(0)
})

test('nothing else on the node is reached through the tunnel, whatever the edge sends', async () => {
  expect(await lab.atTunnel('tcp', 9002)).toBe('private 10.64.0.1')
  await lab.apply()
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
  const answers = await Promise.all(others.map((other) => ask(lab.edge, ...other)))
  expect(answers).toEqual(others.map(() => 'silence'))
  expect((await lab.edge.run('fping', '-c1', '-t1000', '10.64.0.2')).code).toBe(0)
})

test("a neighbour on the node's network reaches no loopback address", async () => {
  await lab.apply()
  expect(await ask(lab.neighbour, 'tcp', '127.0.0.1', 8001)).toBe('silence')
  expect(await ask(lab.neighbour, 'udp', '127.0.0.1', 8001)).toBe('silence')
  expect(await ask(lab.neighbour, 'tcp', '192.168.7.1', 8001)).toBe('ECONNREFUSED')
  expect(await ask(lab.neighbour, 'tcp', '192.168.7.1', 9002)).toBe('private 192.168.7.10')
  const values = await lab.node.must('cat', '/proc/sys/net/ipv4/conf/all/route_localnet')
  expect(values.trim()).toBe('0')
})

test('a node that forwards opens none of its networks to the edge, and a container keeps its published port', async () => {
  await lab.node.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  const program = [process.execPath, WORD, 'say', 'tcp', '0.0.0.0', '80', 'container']
  const container = lab.neighbour.start(program, { logFile: `${dir}/container.log` })
  await lab.neighbour.must('ip', 'route', 'add', '10.64.0.0/16', 'via', '192.168.7.1')
  await until('the container', async () => (await lab.neighbour.must('ss', '-Hltn', 'sport = :80')) !== '')
  // As Docker writes it, without its proxy.
  const docker = `table ip nat { chain p { type nat hook prerouting priority -100; policy accept;
    fib daddr type local tcp dport { 8004, 9003 } dnat to 192.168.7.10:80 ; } ; }`
  await run(lab.node.argv('nft', '-f', '-'), { input: docker })
  expect(await ask(lab.edge, 'tcp', '192.168.7.10', 80)).toBe('container 10.64.0.1')
  await lab.apply()
  expect(await ask(lab.edge, 'tcp', '192.168.7.10', 80)).toBe('silence')
  expect(await lab.atTunnel('tcp', 8004)).toBe('container 10.64.0.1')
  expect(await lab.atTunnel('tcp', 9003)).toBe('silence')
  await lab.node.must('nft', 'delete', 'table', 'ip', 'nat')
  await lab.node.must('sysctl', '-qw', 'net.ipv4.ip_forward=0')
  await container.stop()
})

test('a gateway still serves the hosts of its networks, including itself, and its name server', async () => {
  await lab.apply({ tcp: [], udp: [] }, { gateway: ['192.168.7.0/24'] })
  expect(await ask(lab.edge, 'tcp', '192.168.7.1', 9002)).toBe('private 10.64.0.1')
  expect(await lab.atTunnel('tcp', 9002)).toBe('silence')
  expect(await lab.atTunnel('udp', 53)).toBe('ECONNREFUSED')
})

test('what a program opens and closes counts at once: the kernel is asked for every connection', async () => {
  await lab.apply()
  const first = await lab.say('tcp', '127.0.0.1', 8004, 'first')
  expect(await lab.atTunnel('tcp', 8004)).toBe('first 10.64.0.1')
  const second = await lab.say('tcp', '10.64.0.2', 8004, 'second')
  expect(await lab.atTunnel('tcp', 8004)).toBe('second 10.64.0.1')
  await second.stop()
  expect(await lab.atTunnel('tcp', 8004)).toBe('first 10.64.0.1')
  await first.stop()
  expect(await lab.atTunnel('tcp', 8004)).toBe('ECONNREFUSED')
})

test("the node's own connections get answers, and a port that is no longer published is closed", async () => {
  await lab.apply()
  await lab.edge.must('nft', 'flush', 'ruleset')
  const program = lab.edge.start([process.execPath, WORD, 'say', 'tcp', '10.64.0.1', '7000', 'edge'], {
    logFile: `${dir}/edge.log`,
  })
  await until('the edge', async () => (await lab.edge.must('ss', '-Hltn', 'sport = :7000')) !== '')
  expect(await ask(lab.node, 'tcp', '10.64.0.1', 7000)).toBe('edge 10.64.0.2')
  await program.stop()
  await lab.apply({ tcp: [8003], udp: [] })
  expect(await lab.atTunnel('tcp', 8001)).toBe('silence')
  expect(await lab.atTunnel('tcp', 8003)).toBe('all 10.64.0.1')
})

/** Everything that `apply` changes on a machine. */
async function remains(): Promise<string> {
  const route = await lab.node.must('cat', `/proc/sys/net/ipv4/conf/${TUNNEL}/route_localnet`)
  return `${await lab.node.must('nft', 'list', 'ruleset')}${route.trim()}`
}

test('what another program flushes or sets is repaired by the next check', async () => {
  const services = lab.services()
  await services.apply(wanting(PUBLISHED))
  const whole = await remains()
  await lab.node.must('nft', 'flush', 'ruleset')
  await lab.node.must('sysctl', '-qw', `net.ipv4.conf.${TUNNEL}.route_localnet=0`)
  await services.apply(wanting(PUBLISHED))
  expect(await remains()).toBe(whole)
  await lab.node.must('nft', 'flush', 'chain', 'inet', 'postern_services_tun_x', 'input')
  await services.apply(wanting(PUBLISHED))
  expect(await remains()).toBe(whole)
})

test("without nft, or if the kernel refuses the table, services need the tunnel's address and a note says so", async () => {
  const note = "Services reach only programs that listen on the tunnel's address, not those on 127.0.0.1"
  const withNft = (nft: Exec['run']): Exec => ({
    ...lab.exec,
    run: (program, args, options) => (program === 'nft' ? nft : lab.exec.run)(program, args, options),
  })
  const missing = withNft(() => Promise.reject(new ProgramMissingError('nft')))
  const old = withNft(async () => ({ code: 1, stdout: '', stderr: 'Could not process rule\n' }))
  for (const [broken, why] of [
    [missing, 'nft is missing. Install it: apt-get install --no-install-recommends nftables'],
    [old, 'nft: Could not process rule'],
  ] as const) {
    expect(await createServices(broken, TUNNEL).apply(wanting(PUBLISHED))).toEqual([`${note}: ${why}`])
    expect(await lab.atTunnel('tcp', 9002)).toBe('private 10.64.0.1')
    expect(await remains()).toBe('0')
  }
})

test('a table that nft does not take for what is in it leaves the node closed, not open', async () => {
  const busy: Exec = {
    ...lab.exec,
    run: (program, args, options) =>
      program === 'nft' && options?.input?.includes('8001')
        ? Promise.reject(new ExecTimeoutError('nft took too long'))
        : lab.exec.run(program, args, options),
  }
  const notes = await createServices(busy, TUNNEL).apply(wanting(PUBLISHED))
  expect(notes).toEqual([expect.stringContaining('Nothing of this node can be reached: ')])
  expect(await lab.atTunnel('tcp', 9002)).toBe('silence')
  expect(await lab.atTunnel('tcp', 8003)).toBe('silence')
})

test('a firewall that drops incoming packets is named, unless it has a rule for the tunnel', async () => {
  const chain = (rule: string) =>
    `table ip fw { chain in { type filter hook input priority 0; policy drop; ${rule} } ; }`
  await run(lab.node.argv('nft', '-f', '-'), { input: chain('') })
  expect(await lab.apply()).toEqual([
    'A firewall on this machine (nftables chain ip fw in) drops incoming packets unless a rule allows them. ' +
      'Allow packets that come in through tun-x',
  ])
  expect(await lab.apply({ tcp: [], udp: [] })).toEqual([])
  await lab.node.must('nft', 'delete', 'table', 'ip', 'fw')
  await run(lab.node.argv('nft', '-f', '-'), { input: chain('iifname "tun-x" accept ;') })
  expect(await lab.apply()).toEqual([])
  expect(await lab.atTunnel('tcp', 8001)).toBe('loopback 10.64.0.1')
  await lab.node.must('nft', 'delete', 'table', 'ip', 'fw')
})

test('killed before any step, loopback is never open without the table, and the next agent reaches the same state', async () => {
  const none: NodeTargets = { tcp: [], udp: [] }
  const other = { tcp: [8003], udp: [] }
  await lab.services().apply(wanting(none))
  const closed = await remains()
  await lab.apply()
  const whole = await remains()
  for (const [from, to] of [
    [none, PUBLISHED],
    [other, PUBLISHED],
    [PUBLISHED, none],
  ] as const)
    for (let step = 1; step <= 6; step++) {
      await lab.services().remove()
      await lab.services().apply(wanting(from))
      await createServices(dyingExec(lab.exec, step), TUNNEL)
        .apply(wanting(to))
        .catch(() => undefined)
      const left = await remains()
      if (left.endsWith('1')) expect(left).toContain('ip daddr 127.0.0.0/8 drop')
      await lab.services().apply(wanting(to))
      expect(await remains()).toBe(to === none ? closed : whole)
    }
  await lab.services().remove()
  expect(await remains()).toBe('0')
})

test('any accepted configuration makes a table that nft accepts, with exactly these ports', async () => {
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
      const { targets, addresses, gateway: networks } = parse()
      const text = renderServiceTable(device, { targets, addresses, gateway: networks })
      const { code, stderr } = await run(lab.node.argv('nft', '-c', '-f', '-'), { input: text })
      expect([code, stderr], text).toEqual([0, ''])
    }),
    { numRuns: 40 },
  )
})
