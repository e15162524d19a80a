import { existsSync, statSync } from 'node:fs'
import type { EdgeReport } from '@postern/contract/edge'
import { type Exec, ProgramMissingError } from '@postern/host/exec'
import { type FakeServer, startFakeServer } from '@postern/testkit/fake-server'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeCertificate, makePeer, makeRoute, makeState } from '../test/factories.ts'
import { type Lab, startLab } from '../test/lab.ts'
import { pathsIn, startEdge, type TestEdge } from '../test/start-edge.ts'
import { createLastGood } from './last-good.ts'

let lab: Lab
let server: FakeServer | undefined
let running: TestEdge | undefined
const peer = makePeer(1)
const state = makeState({ peers: [peer], routes: [makeRoute(1)], certificates: [makeCertificate(0)] })

beforeEach(async () => {
  lab = await startLab()
})
afterEach(async () => {
  await running?.edge.close()
  await server?.close()
  await lab.close()
  server = running = undefined
})

const start = async (exec?: Exec) => {
  running = await startEdge(lab, exec)
  return running
}
const serve = async () => {
  server = await startFakeServer(pathsIn(lab), structuredClone(state))
  return server
}
const lastReport = (from: FakeServer): EdgeReport | undefined =>
  from.messages.flatMap((message) => (message.type === 'report' ? message.report : [])).at(-1)
const reported = (from: FakeServer, what: string, isIt: (report: EdgeReport) => boolean) =>
  until(what, () => {
    const report = lastReport(from)
    return report && isIt(report) && report
  })

/** The programs of the lab, but some calls go wrong. */
function broken(isBroken: (program: string, args: readonly string[]) => Error | undefined): Exec {
  return {
    ...lab.exec,
    async run(program, args, options) {
      const error = isBroken(program, args)
      if (error) throw error
      return lab.exec.run(program, args, options)
    },
  }
}

describe('the edge', () => {
  test('says hello, applies the state and reports it; then asks for changes only', async () => {
    const fake = await serve()
    const { haproxy, ready } = await start()
    expect(await ready).toEqual({
      haproxy: { state: 'ok', detail: 'a fake HAProxy' },
      wireguard: { state: 'ok', detail: 'wireguard-go' },
      nftables: { state: 'ok', detail: 'nftables' },
    })
    const report = await reported(fake, 'the report', (each) => each.applied === 7)
    expect(report).toMatchObject({ wanted: 7, applied: 7, problems: [] })
    expect(fake.messages[0]).toMatchObject({ type: 'hello', version: '0.1.0' })
    expect(haproxy.applied[0]?.wanted.routes).toEqual([{ ...makeRoute(1), address: '10.64.0.2' }])
    expect(await lab.must('wg', 'show', lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
    fake.state = { ...fake.state, revision: 8 }
    fake.hint({ type: 'changed', revision: 8 })
    await reported(fake, 'the next one', (each) => each.applied === 8)
    expect(fake.fetches.at(-1)).toEqual(state.hashes)
  })

  test('leaves the saved state alone while nothing changes', async () => {
    const fake = await serve()
    await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    const file = pathsIn(lab).lastGood
    const before = await until('the saved state', () => existsSync(file) && statSync(file))
    const asked = fake.fetches.length
    // Every few seconds it looks at everything again, and it has applied before it asks once more.
    await until('two looks at everything', () => fake.fetches.length >= asked + 2)
    expect(statSync(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
    fake.state = { ...fake.state, revision: 8 }
    fake.hint({ type: 'changed', revision: 8 })
    await until('the newer state on disk', async () => (await createLastGood(file).find())?.revision === 8)
  })

  test('starts no programs again and again while nothing changes', async () => {
    const fake = await serve()
    const programs: string[] = []
    const run: Exec['run'] = (program, ...rest) => {
      programs.push(program)
      return lab.exec.run(program, ...rest)
    }
    await start({ ...lab.exec, run })
    await reported(fake, 'the first report', (each) => each.applied === 7)
    const looks = async (count: number) => {
      const asked = fake.fetches.length
      await until('looks at everything', () => fake.fetches.length >= asked + count)
    }
    // The first looks start the programs that watch, and look again when those listen.
    await looks(3)
    const before = programs.length
    await looks(3)
    // Two would be one look that something on this machine asked for.
    expect(programs.length - before).toBeLessThanOrEqual(2)
  })

  test('of 200 hints in a burst the newest is in force, and the next one follows', async () => {
    const fake = await serve()
    const { haproxy } = await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    const before = haproxy.applied.length
    for (let revision = 8; revision <= 207; revision++) {
      const routes = [makeRoute(1, { backend: { proto: 'http', host: null, port: revision } })]
      fake.state = {
        ...fake.state,
        revision,
        routes,
        hashes: { ...state.hashes, 'routes:0': `r${revision}` },
      }
      fake.hint({ type: 'changed', revision })
      if (revision % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const report = await reported(fake, 'the newest', (each) => each.applied === 207)
    expect(report.wanted).toBe(207)
    expect(haproxy.applied.at(-1)?.wanted.routes[0]?.backend.port).toBe(207)
    expect(haproxy.applied.length - before).toBeLessThanOrEqual(200)

    fake.state = { ...fake.state, revision: 300 }
    fake.hint({ type: 'changed', revision: 300 })
    await reported(fake, 'one more', (each) => each.applied === 300)
  })

  test('works from the last good state while the server is away, and follows it when it is back', async () => {
    const first = await serve()
    const before = await start()
    await reported(first, 'the first report', (each) => each.applied === 7)
    await before.edge.close()
    await first.close()
    server = undefined
    await lab.must('nft', 'flush', 'ruleset')

    const after = await start()
    expect((await after.ready)?.nftables.state).toBe('ok')
    expect(after.haproxy.applied[0]?.wanted.routes).toHaveLength(1)
    expect(after.haproxy.applied[0]?.wanted.certificates).toEqual([makeCertificate(0)])
    expect(await lab.must('nft', 'list', 'tables')).toContain('postern')

    const second = await serve()
    const { 'routes:0': _, ...hashes } = state.hashes
    second.state = { ...state, revision: 9, routes: [], hashes }
    await reported(second, 'the news', (each) => each.applied === 9)
    expect(after.haproxy.applied.at(-1)?.wanted.routes).toEqual([])
  })

  test('without any state it touches nothing, and begins when the server is there', async () => {
    const { ready, haproxy } = await start()
    expect(await lab.must('nft', 'list', 'tables')).toBe('')
    expect(haproxy.applied).toEqual([])
    const fake = await serve()
    expect((await ready)?.haproxy.state).toBe('ok')
    await reported(fake, 'the report', (each) => each.applied === 7)
  })

  test('without any state, an answer that is none is the first report', async () => {
    const fake = await serve()
    fake.answerWith = { revision: 8 }
    const { ready } = await start()
    expect(await ready).toBe(null)
    const message = expect.stringContaining("This edge doesn't understand")
    const refused = await reported(fake, 'the refusal', () => true)
    expect(refused.problems).toEqual([{ scope: { kind: 'edge' }, message }])
    expect(refused.dataPlane.haproxy).toEqual({ state: 'failed', detail: message })
    fake.answerWith = undefined
    await reported(fake, 'the recovery', (each) => each.applied === 7 && each.problems.length === 0)
  })

  test('says everything again after a lost connection', async () => {
    const fake = await serve()
    await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    fake.messages.length = 0
    fake.dropConnections()
    await reported(fake, 'the report again', (each) => each.applied === 7)
    expect(fake.messages[0]?.type).toBe('hello')
    await until('the figures', () => fake.messages.some((message) => message.type === 'peers'))
  })

  test('repairs what somebody else changed, without a hint', async () => {
    const fake = await serve()
    await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    await lab.must('nft', 'flush', 'ruleset')
    await lab.must('ip', 'addr', 'flush', 'dev', lab.interface)
    await until('the table', async () => (await lab.must('nft', 'list', 'tables')).includes('postern'))
    await until('the address', async () => (await lab.must('ip', 'addr')).includes('10.64.0.1/24'))
  })

  test('a server whose answer does not fit is asked for the whole state', async () => {
    const fake = await serve()
    await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    fake.answerWith = {
      revision: 8,
      hashes: { ...state.hashes, 'routes:0': 'r8' },
      sections: { peers: [], routes: [], ports: [], signIns: [], challenges: [], certificates: [] },
    }
    fake.hint({ type: 'changed', revision: 8 })
    await until('the doubt', () => Object.keys(fake.fetches.at(-1) ?? { a: '' }).length === 0)
    fake.answerWith = undefined
    fake.state = { ...fake.state, revision: 8 }
    await reported(fake, 'the right state', (each) => each.applied === 8)
  })

  test('an answer that is no state is said to the server, and the last good one stays', async () => {
    const fake = await serve()
    const { haproxy } = await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    fake.answerWith = { revision: 8 }
    fake.hint({ type: 'changed', revision: 8 })
    const refused = await reported(fake, 'the refusal', (each) => each.problems.length > 0)
    expect(refused).toMatchObject({
      ...{ wanted: 8, applied: 7, isStuck: true },
      problems: [
        { scope: { kind: 'edge' }, message: expect.stringContaining("This edge doesn't understand") },
      ],
    })
    expect(haproxy.applied.at(-1)?.wanted.routes).toHaveLength(1)
    const { tunnelPrivateKey: _, ...settings } = state.settings
    const hashes = { ...state.hashes, settings: 's9', 'routes:0': 'r9' }
    const routes = [makeRoute(1), makeRoute(2)]
    fake.answerWith = {
      revision: 9,
      hashes,
      sections: {
        settings,
        peers: [peer],
        routes,
        ports: [],
        signIns: [],
        challenges: [],
        certificates: state.certificates,
      },
    }
    await reported(fake, 'the rest', (each) => each.applied === 9 && each.problems.length === 1)
    expect(haproxy.applied.at(-1)?.wanted).toMatchObject({ routes, settings: state.settings })
    fake.answerWith = undefined
    fake.state = { ...fake.state, revision: 10 }
    fake.hint({ type: 'changed', revision: 10 })
    await reported(fake, 'the recovery', (each) => each.applied === 10 && each.problems.length === 0)
  })

  test('passes on log lines of watched services', async () => {
    const fake = await serve()
    const { log } = await start()
    log(1, 'before')
    await until('the connection', () => fake.isConnected())
    fake.hint({ type: 'watch', services: [1] })
    log(2, 'of another')
    await until('the line', () => fake.messages.some((message) => message.type === 'logs'))
    const lines = fake.messages.flatMap((message) => (message.type === 'logs' ? message.lines : []))
    expect(lines).toEqual([{ service: 1, seq: 1, number: 1, text: 'before' }])
  })

  test('leaves everything running when it ends', async () => {
    const fake = await serve()
    const { edge } = await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    await edge.close()
    expect(await lab.must('wg', 'show', lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
    expect(await lab.must('nft', 'list', 'tables')).toContain('postern')
    expect(existsSync(`${pathsIn(lab).lastGood}`)).toBe(true)
  })
})

describe('a part that fails', () => {
  test.each<[string, (args: readonly string[]) => boolean]>([
    ['is not there', () => true],
    ['takes no table', (args) => args[0] === '-f'],
  ])('nftables %s: said, and nobody is let into the tunnel until it is', async (_, isHit) => {
    const fake = await serve()
    let isBroken = true
    const nft = (program: string, args: readonly string[]) => isBroken && program === 'nft' && isHit(args)
    await start(broken((...call) => (nft(...call) ? new ProgramMissingError('nft') : undefined)))
    const report = await reported(fake, 'the report', (each) => each.applied === 7)
    expect(report.dataPlane.nftables).toEqual({ state: 'missing', detail: 'nft is not installed' })
    expect(report.dataPlane.wireguard).toEqual({
      state: 'missing',
      detail: 'No node is let in as long as the firewall does not keep nodes from this machine.',
    })
    expect(report.problems).toContainEqual({
      scope: { kind: 'edge' },
      message: 'nftables: nft is not installed',
    })
    expect(await lab.must('wg', 'show', lab.interface, 'peers')).toBe('')
    isBroken = false
    await reported(fake, 'the recovery', (each) => each.dataPlane.wireguard.state === 'ok')
    expect(await lab.must('wg', 'show', lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
  })

  test('nftables fails later: who is in the tunnel stays, as long as the table does', async () => {
    const fake = await serve()
    let isBroken = false
    await start(broken((program) => (isBroken && program === 'nft' ? new Error('no answer') : undefined)))
    await reported(fake, 'the first report', (each) => each.applied === 7)
    isBroken = true
    fake.state = { ...state, revision: 8, peers: [peer, makePeer(2)] }
    fake.hint({ type: 'changed', revision: 8 })
    const report = await reported(fake, 'the failure', (each) => each.dataPlane.nftables.state === 'failed')
    expect(report.dataPlane.wireguard.state).toBe('ok')
    expect(await lab.must('wg', 'show', lab.interface, 'peers')).toContain(peer.publicKey)
  })

  test('the tunnel is not there: its services say so, others do not', async () => {
    const fake = await serve()
    const routes = [makeRoute(1), makeRoute(2, { node: { kind: 'local' } }), makeRoute(3, { enabled: false })]
    fake.state = { ...state, routes }
    await start(broken((program) => (program === 'ip' ? new ProgramMissingError('ip') : undefined)))
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
      { scope: { kind: 'service', id: 5 }, message: '127.0.0.1 is Postern itself on this port.' },
    ])
    const addresses = haproxy.applied.at(-1)?.wanted.routes.map((route) => route.address)
    expect(addresses).toEqual([null, ...good.map(() => '10.64.0.2')])
  })

  test('one row of the server that is not what it should be beside others that are', async () => {
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
    expect(await lab.must('wg', 'show', lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
    fake.answerWith = undefined
    fake.state = { ...whole, revision: 10 }
    fake.hint({ type: 'changed', revision: 10 })
    await reported(fake, 'the recovery', (each) => each.applied === 10 && each.problems.length === 0)
  })
})
