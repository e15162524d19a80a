import { renameSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeRealCertificate } from '../../../../test/certificate.ts'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'
import type { HaproxyDriver } from '../driver.ts'

/** Part of a command that never reaches HAProxy, although its sender gets an answer as if it had. */
let lost: string
let lab: HaproxyLab
let driver: HaproxyDriver
let upstream: Upstream
let between: Server

beforeEach(async () => {
  lost = '\0'
  lab = await makeHaproxyLab()
  driver = await lab.open()
  upstream = await startUpstream()
  await lab.apply([route(2)])
  between = await standBetween(lab.paths.socket)
})

afterEach(async () => {
  await new Promise((resolve) => between.close(resolve))
  await lab.close()
  await upstream.close()
})

const route = (id: number) => makeLabRoute(id, upstream.port)
const status = async (id: number) => (await visit({ port: lab.httpsPort, host: `s${id}.example.com` })).status

test('a route that HAProxy did not accept is a problem until it does', async () => {
  lost = 'add map'
  const problem = { scope: { kind: 'service', id: 3 }, message: "HAProxy couldn't load this route" }
  expect(await lab.apply([route(2), route(3)])).toEqual([problem])
  expect((await driver.check()).state).toBe('ok')
  expect(await status(2)).toBe(200)
  lost = '\0'
  expect(await lab.apply([route(2), route(3)])).toEqual([])
  expect(await status(3)).toBe(200)
})

test('a route whose list HAProxy did not accept admits nobody, and is a problem', async () => {
  lost = `add map ${lab.paths.lists}`
  const listed = makeLabRoute(3, upstream.port, { allowedIps: ['127.0.0.1'] })
  const problem = { scope: { kind: 'service', id: 3 }, message: "HAProxy couldn't load this route" }
  expect(await lab.apply([route(2), listed])).toEqual([problem])
  expect([await status(2), await status(3)]).toEqual([200, 403])
  lost = '\0'
  expect(await lab.apply([route(2), listed])).toEqual([])
  expect(await status(3)).toBe(200)
})

test('a route that HAProxy kept against the command does not count as removed', async () => {
  lost = 'del map'
  await lab.apply([])
  expect(await driver.check()).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining("HAProxy didn't accept the change"),
  })
  expect(await status(2)).toBe(200)
  lost = '\0'
  await lab.apply([])
  expect((await driver.check()).state).toBe('ok')
  expect(await status(2)).toBe(404)
})

test('no answer about a route to remove does not count as its removal', async () => {
  lost = 'get map'
  await lab.apply([])
  expect(driver.state()).toMatchObject({ state: 'failed', detail: expect.stringContaining("didn't say") })
  lost = '\0'
  await lab.apply([])
  expect(driver.state().state).toBe('ok')
})

test('a certificate that HAProxy did not accept is a problem', async () => {
  const names = ['s2.example.com']
  expect(await lab.apply([route(2)], [await makeRealCertificate(5, names)])).toEqual([])
  lost = 'ssl cert'
  expect(await lab.apply([route(2)], [await makeRealCertificate(5, names)])).toEqual([
    { scope: { kind: 'certificate', id: 5 }, message: "HAProxy couldn't load this certificate" },
  ])
})

/** Takes the place of HAProxy's socket, and passes on every command but a lost one. */
async function standBetween(path: string): Promise<Server> {
  renameSync(path, `${path}.real`)
  const server = createServer({ allowHalfOpen: true }, (from) => {
    from.once('data', (command) => {
      const [, text = '', payload = ''] = /^(.*)\n(.*)$/s.exec(String(command)) ?? []
      const heard = text.split(';').filter((each) => !isLost(each))
      if (heard.length === 0) return from.end('Success!\n')
      const to = connect(`${path}.real`, () => to.write(`${heard.join(';')}\n${payload}`))
      to.pipe(from)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return server
}

/** Questions always reach HAProxy. */
const isLost = (command: string) => command.includes(lost) && !command.startsWith('show ')
