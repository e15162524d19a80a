import { connect } from 'node:net'
import { createExec } from '@postern/host/processes/exec'
import type { ResolvedHttpRoute } from '@postern/render/resolved-route'
import { findFreePort } from '@postern/testkit/port'
import { suspend } from '@postern/testkit/processes/suspend'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { type OpenSocket, openSocket, visit } from '../../../../test/visitor.ts'

let a: OpenSocket
let b: OpenSocket

/** Two services with one and the same target, so that only HAProxy can tell their connections apart. */
const routes = (changes: Partial<ResolvedHttpRoute> = {}) => [
  makeConsoleRoute(),
  makeLabRoute(2, upstream.port, { domain: 'a.example.com', ...changes }),
  makeLabRoute(3, upstream.port, { domain: 'b.example.com' }),
]

const lab = shared(() => makeHaproxyLab())
const upstream = shared(() => startUpstream())
shared(() => startUpstream({ path: lab.serverSocket }))

beforeEach(async () => {
  await lab.apply(routes())
  a = await openSocket({ port: lab.httpsPort, host: 'a.example.com', from: '127.0.0.8' })
  b = await openSocket({ port: lab.httpsPort, host: 'b.example.com', from: '127.0.0.8' })
})

describe('open connections', () => {
  const disabled = () => routes({ enabled: false })
  const deleted = () => routes().filter(({ id }) => id !== 2)
  const blocked = () => routes({ blockedIps: ['127.0.0.8'] })
  const notAllowed = () => routes({ allowedIps: ['127.0.0.9'] })

  test.each([
    ['disabled', disabled],
    ['deleted', deleted],
    ['blocked for the visitor', blocked],
    ['no longer allowed for the visitor', notAllowed],
  ])('of a service that is %s end, and no others', async (_, changed) => {
    await lab.apply(changed())
    await until('the connection to end', () => !a.isOpen())
    expect(await b.echo('still here')).toBe(true)
    b.close()
  })

  test('live through every other edit', async () => {
    const other = await startUpstream()
    for (const edit of [
      { backend: { proto: 'http' as const, host: null, port: other.port } },
      { domain: 'a2.example.com' },
      { path: '/sub' },
      { blockedIps: ['127.0.0.9'] },
      { allowedIps: ['127.0.0.8'] },
      { address: null },
    ]) {
      await lab.apply(routes(edit))
      expect(await a.echo(JSON.stringify(edit))).toBe(true)
    }
    expect(await b.echo('too')).toBe(true)
    await other.close()
    for (const each of [a, b]) each.close()
  })

  test('that wait for an answer or for a connection end at once', async () => {
    const mute = await startUpstream({ answer: () => undefined })
    const silent = await startSilentHost()
    onTestFinished(silent.stop)
    for (const { port } of [mute, silent]) {
      await lab.apply(routes({ backend: { proto: 'http', host: null, port } }))
      const end = visit({ port: lab.httpsPort, host: 'a.example.com' }).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      )
      await until('the request to be on its way', async () =>
        port === mute.port
          ? mute.seen.length === 1
          : (await lab.command('show sess all')).includes('state=CON '),
      )
      const start = performance.now()
      await lab.apply(routes({ enabled: false }))
      expect(await end).toMatch(/^50[23]$|hang up/)
      expect(performance.now() - start).toBeLessThan(2000)
    }
    expect(await b.echo('still here')).toBe(true)
    await mute.close()
  })

  test('of a crowd all end within 25 s', async () => {
    const { httpsPort: port } = lab
    const crowd: OpenSocket[] = []
    for (let source = 10; source < 70; source++) {
      const from = `127.0.0.${source}`
      const some = Array.from({ length: 25 }, () => openSocket({ port, host: 'a.example.com', from }))
      crowd.push(...(await Promise.all(some)))
    }
    const start = performance.now()
    await lab.apply(routes({ enabled: false }))
    await until('all to end', () => crowd.every((each) => !each.isOpen()))
    expect(performance.now() - start).toBeLessThan(25_000)
    expect(await b.echo('still here')).toBe(true)
    b.close()
  })

  test('that a previous edge left behind are found', async () => {
    await lab.open()
    // As when the edge dies between the change of the map and the end of the connections.
    const value = `2|2|127.0.0.1|${upstream.port}|d|`
    await lab.command(`set map ${lab.paths.routes} a.example.com/ ${value}`)
    await lab.apply(routes({ enabled: false }))
    await until('the connection to end', () => !a.isOpen())
    expect(await b.echo('still here')).toBe(true)
    b.close()
  })

  test("of agents are exempt from the console's list", async () => {
    const port = lab.httpsPort
    const agent = await openSocket({ port, host: '127.0.0.1', path: '/api/agent/socket', from: '127.0.0.8' })
    const console = await openSocket({ port, host: '127.0.0.1', path: '/api/edge', from: '127.0.0.8' })
    await lab.apply([makeConsoleRoute({ blockedIps: ['127.0.0.8'] }), ...routes().slice(1)])
    await until('the connection to end', () => !console.isOpen())
    expect(await agent.echo('still here')).toBe(true)
    for (const each of [agent, a, b]) each.close()
  })
})

/** A host that drops every attempt to connect: a stopped program whose queue is full. */
async function startSilentHost(): Promise<{ port: number; stop(): void }> {
  const port = await findFreePort()
  const program = `require('node:net').createServer().listen({port:${port},host:'127.0.0.1',backlog:1})`
  const files = { stdoutFile: '/dev/null', stderrFile: '/dev/null', unit: `postern-silent-${port}` }
  const pid = await createExec().startDetached(process.execPath, ['-e', program], files)
  await until('the host to listen', () => canConnect(port, 1000))
  await suspend(pid)
  await until('its queue to be full', async () => !(await canConnect(port, 200)))
  return { port, stop: () => process.kill(pid, 'SIGKILL') }
}

/** The connection stays open as long as this process runs. */
function canConnect(port: number, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout }, () => resolve(true)).unref()
    socket.on('timeout', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(false))
  })
}
