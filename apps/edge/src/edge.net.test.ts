import { existsSync, statSync } from 'node:fs'
import type { Exec } from '@postern/host/processes/exec'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { makeCertificate, makePeer, makeRoute, makeState } from '../test/factories.ts'
import { pathsIn } from '../test/start-edge.ts'
import { reported, useEdge } from '../test/use-edge.ts'
import { createLastGood } from './state/last-good.ts'

const peer = makePeer(1)
const state = makeState({ peers: [peer], routes: [makeRoute(1)], certificates: [makeCertificate(0)] })
const at = useEdge(state)
const { serve, start } = at

describe('the edge', () => {
  test('connects, applies the state and reports it; then asks only for changes', async () => {
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
    expect(await at.lab.must('wg', 'show', at.lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
    fake.state = { ...fake.state, revision: 8 }
    fake.hint({ type: 'changed', revision: 8 })
    await reported(fake, 'the next one', (each) => each.applied === 8)
    expect(fake.fetches.at(-1)).toEqual(state.hashes)
  })

  test('leaves the saved state alone while nothing changes', async () => {
    const fake = await serve()
    await start()
    await reported(fake, 'the first report', (each) => each.applied === 7)
    const file = pathsIn(at.lab).lastGood
    const before = await until('the saved state', () => existsSync(file) && statSync(file))
    const asked = fake.fetches.length
    // Every few seconds it checks everything again, and it has applied before it asks once more.
    await until('two full checks', () => fake.fetches.length >= asked + 2)
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
      return at.lab.exec.run(program, ...rest)
    }
    await start({ ...at.lab.exec, run })
    await reported(fake, 'the first report', (each) => each.applied === 7)
    const looks = async (count: number) => {
      const asked = fake.fetches.length
      await until('looks at everything', () => fake.fetches.length >= asked + count)
    }
    // The first checks start the programs that watch, and are repeated when those listen.
    await looks(3)
    const before = programs.length
    await looks(3)
    // Two would be one check that something on this machine triggered.
    expect(programs.length - before).toBeLessThanOrEqual(2)
  })

  test('after a burst of 200 hints the newest revision is in force, and the next one follows', async () => {
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

  test('works from the last-good state while the server is down, and follows it when it is back', async () => {
    const first = await serve()
    const before = await start()
    await reported(first, 'the first report', (each) => each.applied === 7)
    await before.edge.close()
    await at.stopServer()
    await at.lab.must('nft', 'flush', 'ruleset')

    const after = await start()
    expect((await after.ready)?.nftables.state).toBe('ok')
    expect(after.haproxy.applied[0]?.wanted.routes).toHaveLength(1)
    expect(after.haproxy.applied[0]?.wanted.certificates).toEqual([makeCertificate(0)])
    expect(await at.lab.must('nft', 'list', 'tables')).toContain('postern')

    const second = await serve()
    const { 'routes:0': _, ...hashes } = state.hashes
    second.state = { ...state, revision: 9, routes: [], hashes }
    await reported(second, 'the news', (each) => each.applied === 9)
    expect(after.haproxy.applied.at(-1)?.wanted.routes).toEqual([])
  })

  test('without any state it touches nothing, and begins when the server is up', async () => {
    const { ready, haproxy } = await start()
    expect(await at.lab.must('nft', 'list', 'tables')).toBe('')
    expect(haproxy.applied).toEqual([])
    const fake = await serve()
    expect((await ready)?.haproxy.state).toBe('ok')
    await reported(fake, 'the report', (each) => each.applied === 7)
  })

  test('without any state, the first report is about an unusable answer', async () => {
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

  test('sends everything again after a lost connection', async () => {
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
    await at.lab.must('nft', 'flush', 'ruleset')
    await at.lab.must('ip', 'addr', 'flush', 'dev', at.lab.interface)
    await until('the table', async () => (await at.lab.must('nft', 'list', 'tables')).includes('postern'))
    await until('the address', async () => (await at.lab.must('ip', 'addr')).includes('10.64.0.1/24'))
  })

  test('after an answer that does not fit, it asks for the whole state', async () => {
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

  test('an unusable answer is reported to the server, and the last-good state stays', async () => {
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
    expect(await at.lab.must('wg', 'show', at.lab.interface, 'peers')).toBe(`${peer.publicKey}\n`)
    expect(await at.lab.must('nft', 'list', 'tables')).toContain('postern')
    expect(existsSync(`${pathsIn(at.lab).lastGood}`)).toBe(true)
  })
})
