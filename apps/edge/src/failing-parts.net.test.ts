import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Route } from '@postern/contract/edge/desired-state'
import { type Exec, ProgramMissingError } from '@postern/host/processes/exec'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { makeCertificate, makePeer, makeRoute, makeState } from '../test/factories.ts'
import { reported, useEdge } from '../test/use-edge.ts'

const peer = makePeer(1)
const state = makeState({ peers: [peer], routes: [makeRoute(1)], certificates: [makeCertificate(0)] })
const at = useEdge(state)
const { serve, start } = at

describe('a part that fails', () => {
  test.each<[string, (args: readonly string[]) => boolean]>([
    ['is not there', () => true],
    ['takes no table', (args) => args[0] === '-f'],
  ])('nftables %s: this is reported, and no node is let into the tunnel until it works', async (_, isHit) => {
    const fake = await serve()
    let isBroken = true
    const nft = (program: string, args: readonly string[]) => isBroken && program === 'nft' && isHit(args)
    await start(at.broken((...call) => (nft(...call) ? new ProgramMissingError('nft') : undefined)))
    const report = await reported(fake, 'the report', (each) => each.applied === 7)
    expect(report.dataPlane.nftables).toEqual({ state: 'missing', detail: 'nft is not installed' })
    expect(report.dataPlane.wireguard).toEqual({
      state: 'missing',
      detail: 'No node is let in until the firewall keeps nodes from this machine.',
    })
    expect(report.problems).toContainEqual({
      scope: { kind: 'edge' },
      message: 'nftables: nft is not installed',
    })
    expect(await at.lab.must('wg', 'show', at.lab.interface, 'peers')).toBe('')
    isBroken = false
    await reported(fake, 'the recovery', (each) => each.dataPlane.wireguard.state === 'ok')
    expect(await at.lab.must('wg', 'show', at.lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
  })

  test('nftables fails later: who is in the tunnel stays, as long as the table does', async () => {
    const fake = await serve()
    let isBroken = false
    await start(at.broken((program) => (isBroken && program === 'nft' ? new Error('no answer') : undefined)))
    await reported(fake, 'the first report', (each) => each.applied === 7)
    isBroken = true
    fake.state = { ...state, revision: 8, peers: [peer, makePeer(2)] }
    fake.hint({ type: 'changed', revision: 8 })
    const report = await reported(fake, 'the failure', (each) => each.dataPlane.nftables.state === 'failed')
    expect(report.dataPlane.wireguard.state).toBe('ok')
    expect(await at.lab.must('wg', 'show', at.lab.interface, 'peers')).toContain(peer.publicKey)
  })

  test('the tunnel is not there: its services say so, others do not', async () => {
    const fake = await serve()
    const routes = [makeRoute(1), makeRoute(2, { node: { kind: 'local' } }), makeRoute(3, { enabled: false })]
    fake.state = { ...state, routes }
    await start(at.broken((program) => (program === 'ip' ? new ProgramMissingError('ip') : undefined)))
    const report = await reported(fake, 'the report', (each) => each.applied === 7)
    const about = report.problems.flatMap(({ scope }) => (scope.kind === 'service' ? scope.id : []))
    expect(about).toEqual([1])
    expect(report.dataPlane.wireguard.state).toBe('missing')
  })

  test('HAProxy fails: nothing counts as applied until it is as wanted', async () => {
    const fake = await serve()
    const { haproxy } = await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    haproxy.failure = new Error('Port 443 is held by another program.')
    fake.state = { ...state, revision: 8 }
    fake.hint({ type: 'changed', revision: 8 })
    const failed = await reported(
      fake,
      'the failure',
      (each) => each.dataPlane.haproxy.state === 'failed' && each.wanted === 8,
    )
    expect(failed.applied).toBe(7)
    expect(failed.dataPlane.haproxy.detail).toBe('Port 443 is held by another program.')
    expect(failed.dataPlane.nftables.state).toBe('ok')
    haproxy.failure = undefined
    await reported(
      fake,
      'the recovery',
      (each) => each.applied === 8 && each.dataPlane.haproxy.state === 'ok',
    )
  })

  test('HAProxy dies between two applies: said', async () => {
    const fake = await serve()
    const { haproxy } = await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    haproxy.part = { state: 'failed', detail: 'HAProxy has ended.' }
    await reported(fake, 'the news', (each) => each.dataPlane.haproxy.state === 'failed')
    haproxy.part = { state: 'ok', detail: 'a fake HAProxy' }
    await reported(fake, 'the recovery', (each) => each.dataPlane.haproxy.state === 'ok')
  })

  test('one service that cannot be applied beside ten that can', async () => {
    const fake = await serve()
    const good = Array.from({ length: 10 }, (_, index) => makeRoute(index + 10))
    const bad = makeRoute(5, {
      node: { kind: 'local' },
      backend: { proto: 'http', host: '127.0.0.1', port: 3000 },
    })
    fake.state = { ...state, routes: [bad, ...good] }
    const { haproxy } = await start()
    const report = await reported(fake, 'the report', (each) => each.applied === 7)
    expect(report.problems).toEqual([
      { scope: { kind: 'service', id: 5 }, message: '127.0.0.1 is used by Postern itself on this port.' },
    ])
    const addresses = haproxy.applied.at(-1)?.wanted.routes.map((route) => route.address)
    expect(addresses).toEqual([null, ...good.map(() => '10.64.0.2')])
  })

  test('one bad row from the server beside good ones', async () => {
    const fake = await serve()
    const good = { peers: [peer], routes: [makeRoute(1), makeRoute(2)] }
    const certificates = [makeCertificate(0), makeCertificate(3)]
    const whole = { ...makeState({ ...good, certificates }), revision: 9 }
    const sections = {
      settings: whole.settings,
      peers: [peer, { ...makePeer(2), publicKey: `x\nAllowedIPs = 0.0.0.0/0` }],
      routes: [makeRoute(1), { ...makeRoute(6), domain: 'a.example.com/ 1|0|10.0.0.1' }, makeRoute(2)],
      ports: [],
      signIns: [],
      challenges: [],
      certificates: [makeCertificate(0), { ...makeCertificate(3), domains: ['a b'] }],
    }
    fake.answerWith = { revision: 9, hashes: whole.hashes, sections }
    const { haproxy } = await start()
    const report = await reported(fake, 'the report', (each) => each.applied === 9)
    expect(report.problems.map(({ scope }) => scope)).toEqual(
      expect.arrayContaining([
        { kind: 'node', id: 2 },
        { kind: 'service', id: 6 },
        { kind: 'certificate', id: 3 },
      ]),
    )
    expect(report.problems).toHaveLength(3)
    expect(haproxy.applied.at(-1)?.wanted.routes.map(({ id }) => id)).toEqual([1, 2])
    expect(await at.lab.must('wg', 'show', at.lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
    fake.answerWith = undefined
    fake.state = { ...whole, revision: 10 }
    fake.hint({ type: 'changed', revision: 10 })
    await reported(fake, 'the recovery', (each) => each.applied === 10 && each.problems.length === 0)
  })
})

test('an ip that hangs delays neither HAProxy nor its routes, and its answer counts in the end', async () => {
  const fake = await serve()
  const [OFFICE, ATTIC] = ['192.168.7.0/24', '192.168.8.0/24']
  const behind = (id: number, subnet: string, port = 80) => {
    const node: Route['node'] = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets: [OFFICE, ATTIC] }
    return makeRoute(id, { node, backend: { proto: 'http', host: subnet.replace('0/24', '9'), port } })
  }
  const give = (revision: number, subnets: string[], routes = [behind(1, OFFICE), behind(2, ATTIC)]) => {
    const next = makeState({ peers: [makePeer(2, { subnets })], routes })
    fake.state = {
      ...next,
      revision,
      hashes: { ...next.hashes, 'routes:0': `r${revision}`, 'peers:0': `p${subnets}` },
    }
    fake.hint({ type: 'changed', revision })
  }
  give(8, [OFFICE])
  const ip = Promise.withResolvers<void>()
  const machine = { isHanging: false, hung: 0 }
  const run: Exec['run'] = async (program, args, options) => {
    if (program === 'ip' && machine.isHanging) {
      machine.hung++
      await Promise.race([ip.promise, delay(90_000)])
    }
    return at.lab.exec.run(program, args, options)
  }
  const { haproxy } = await start({ ...at.lab.exec, run })
  await reported(fake, 'the first report', (each) => each.applied === 8)
  const dialled = (what: string, ...wanted: (string | null)[]) =>
    until(what, () => {
      const routes = haproxy.applied.at(-1)?.wanted.routes ?? []
      return isDeepStrictEqual(
        routes.map(({ address, backend }) => address && `${address}:${backend.port}`),
        wanted,
      )
    })
  await dialled('what is in the tunnel', '192.168.7.9:80', null)

  machine.isHanging = true
  await at.lab.must('ip', 'addr', 'flush', 'dev', at.lab.interface)
  await until('a look that hangs', () => machine.hung > 0)
  give(9, [OFFICE], [behind(1, OFFICE, 81), behind(2, ATTIC)])
  await dialled('a change while the tunnel is looked at', '192.168.7.9:81', null)
  await reported(
    fake,
    'that HAProxy has it',
    (each) => each.inForce.haproxy === 9 && each.inForce.wireguard === 8,
  )
  give(10, [OFFICE, ATTIC], [behind(1, OFFICE, 82), behind(2, ATTIC)])
  await dialled('a change with other peers', '192.168.7.9:82', null)

  machine.isHanging = false
  ip.resolve()
  await dialled('the new network, when there was a look', '192.168.7.9:82', '192.168.8.9:80')
  await reported(fake, 'all of it', (each) => each.applied === 10)
  expect(await at.lab.must('wg', 'show', at.lab.interface, 'allowed-ips')).toMatch(
    /192\.168\.7\.0.* 192\.168\.8\.0/,
  )
  expect(await at.lab.must('ip', 'addr')).toContain('10.64.0.1/24')
})
