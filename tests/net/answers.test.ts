import type { Figures } from '@postern/contract/figures'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

const [PORT, CLOSED] = [8083, 8084]
/** Waits for as many ms as its path says before it answers, and fails below `/fails`. */
const SLOW = `require('node:http').createServer(({ url }, response) => {
  response.statusCode = url.startsWith('/fails') ? 500 : 200
  setTimeout(() => response.end('x'), Number(/\\d+/.exec(url)?.[0] ?? 0))
}).listen(${PORT}, '127.0.0.1')`

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const services: Record<string, number> = {}

const ask = async (host: string, path: string) =>
  (await visit(lab.visitor, `https://${host}.example.com${path}`)).status

beforeAll(async () => {
  const { api, dataDir } = installation
  await startListening(lab.server, [process.execPath, '-e', SLOW], `${dataDir}/upstreams`, 'slow', PORT)
  for (const [name, backendPort] of [
    ['slow', PORT],
    ['failing', PORT],
    ['closed', CLOSED],
  ] as const) {
    const form = { name, domain: `${name}.example.com`, backendHost: '127.0.0.1', backendPort }
    services[name] = (await api.publish(1, form)).id
    await until(`${name} to be there`, async () => (await ask(name, '/')) !== 404)
  }
})

const figures = async (path: string) =>
  // `call` has checked it against the contract.
  (await installation.api.call('GET', `/api/${path}?span=hour`)).json as Figures
const of = async (name: string) => (await figures(`services/http/${services[name]}/figures`)).whole

/** A new edge first waits for its first count, and one that ends counts at last. */
async function countNow(): Promise<void> {
  await installation.edge.stop('SIGTERM')
  installation.startEdge()
}

test('the times of a slow service and the errors of failing ones reach the server, by visitors', async () => {
  for (let asked = 0; asked < 8; asked++) expect(await ask('slow', '/')).toBe(200)
  for (let asked = 0; asked < 8; asked++) expect(await ask('slow', '/600')).toBe(200)
  const fails = await Promise.all(['/fails', '/fails/1', '/fine'].map((path) => ask('failing', path)))
  expect(fails).toEqual([500, 500, 200])
  // A page of ours.
  expect(await ask('closed', '/')).toBe(503)
  await countNow()
  const slow = await until('the times to be stored', async () => {
    const whole = await of('slow')
    return whole.p95 !== null && whole.p95 > 500 && whole
  })
  // 600 ms are between 500 and 700, and half of the visitors waited for less than that.
  expect(slow.p95).toBeLessThanOrEqual(1000)
  expect(slow.p50).toBeLessThanOrEqual(500)
  expect(slow.errors).toBe(0)
  // The last lines may come when the edge has counted at last: then they count in its next minute.
  await until('both failures', async () => (await of('failing')).errors === 2, {
    timeoutMs: 90_000,
    everyMs: 500,
  })
  const closed = await of('closed')
  expect(closed.errors).toBeGreaterThanOrEqual(1)
  // Nothing but our pages answered.
  expect(closed.p50).toBeNull()
  const all = (await figures('figures')).whole
  expect(all.errors).toBe(2 + closed.errors)
  expect((await figures('edges/1/figures')).whole).toEqual(all)
  expect((await figures('nodes/1/figures')).whole).toEqual(all)
}, 180_000)
