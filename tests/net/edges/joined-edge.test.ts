import { readFileSync } from 'node:fs'
import type { JoinToken } from '@postern/contract/edge/join'
import type { OwnSession } from '@postern/contract/people/account'
import { type FarEdge, joinFarEdge, startFarEdge, WITH_CONTROL } from '@postern/testkit/far-edge'
import { isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, it } from 'vitest'

const HEALTH = '/.well-known/postern/health'
/** In ms. What is promised is asserted at five times that, since tests share their machine. */
const [MINUTE, CATCH_UP] = [60_000, 5 * 5000]

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab, WITH_CONTROL))
let took: number
const far: FarEdge = shared(async () => {
  const began = Date.now()
  const edge = await startFarEdge(installation, lab.site, { name: 'Frankfurt', servesConsole: true })
  took = Date.now() - began
  return edge
})

/** At the edge elsewhere, under the installation's own name. */
const ask = (path: string, ...args: string[]) =>
  visit(lab.visitor, `https://${lab.server.address}${path}`, {
    args: ['--connect-to', `::${lab.site.address}:`, ...args],
  })
const health = async (address: string) => {
  const at = (scheme: string) => visit(lab.visitor, `${scheme}://${address}${HEALTH}`, { server: address })
  const [plain, tls] = [await at('http'), await at('https')]
  return [plain.status, tls.status]
}

beforeAll(() => {
  expect(far.id).toBeGreaterThan(1)
})

it('is live within a minute of the line that a person pastes, under the number that it was given', async () => {
  expect(took).toBeLessThan(MINUTE)
  expect(await far.find()).toMatchObject({ number: 2, isJoined: true, connected: true, name: 'Frankfurt' })
  await until('HAProxy there to take visitors', async () =>
    (await health(lab.site.address)).every((each) => each === 200),
  )
})

it('passes the console on, and the server sees where people come from', async () => {
  await until('the console', async () => (await ask('/api/health')).status === 200)
  const login = JSON.stringify({ username: 'admin', password: installation.password })
  const json = ['-H', 'content-type: application/json']
  const answer = await ask('/api/auth/login', ...json, '-d', login)
  expect(answer.status).toBe(200)
  const { token } = JSON.parse(answer.body)
  const sessions = await ask('/api/account/sessions', '-H', `authorization: Bearer ${token}`)
  expect(sessions.status).toBe(200)
  expect((JSON.parse(sessions.body) as OwnSession[]).map((each) => each.address)).toContain(
    lab.visitor.address,
  )
  const page = await ask('/login', '-H', 'accept: text/html')
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('<!doctype html>')])
})

it('tells visitors to go elsewhere while it is drained, and no other edge does', async () => {
  const { api } = installation
  expect((await api.call('PATCH', `/api/edges/${far.id}/drain`)).status).toBe(200)
  await until('the edge to be drained', async () =>
    (await health(lab.site.address)).every((each) => each === 503),
  )
  expect(await health(lab.server.address)).toEqual([200, 200])
  expect((await ask('/api/health')).status).toBe(200)
  expect((await api.call('PATCH', `/api/edges/${far.id}/undrain`)).status).toBe(200)
  await until('the edge to be back', async () =>
    (await health(lab.site.address)).every((each) => each === 200),
  )
})

it('goes on while the server is away, starts without it, and catches up within five seconds', async () => {
  const { api } = installation
  await installation.server.stop()
  await far.edge.stop('SIGKILL')
  far.start()
  await until('the console to be away', async () => (await ask('/api/health')).status === 503)
  expect(await health(lab.site.address)).toEqual([200, 200])
  // Long enough for the longest waits of the edge.
  await new Promise((resolve) => setTimeout(resolve, 8000))
  await installation.startServer()
  const began = Date.now()
  await api.call('PATCH', `/api/edges/${far.id}/drain`)
  await until('the change to arrive', async () => (await health(lab.site.address))[0] === 503, {
    everyMs: 50,
  })
  expect(Date.now() - began).toBeLessThan(CATCH_UP)
  await api.call('PATCH', `/api/edges/${far.id}/undrain`)
  await until('the console', async () => (await ask('/api/health')).status === 200)
  await until('the edge beside the server', () => isApplied(api))
})

it('keeps its number and its key in the tunnel when it joins again', async () => {
  const { api } = installation
  const key = () => lab.site.must('wg', 'show', far.interface, 'public-key')
  await until('the tunnel', async () => (await far.isApplied()) && (await key()) !== '')
  const before = await key()
  await far.edge.stop()
  expect(await far.command('leave')).toMatchObject({ code: 0 })
  const made = await api.call('POST', `/api/edges/${far.id}/join-token`)
  expect(made.status).toBe(201)
  expect(await joinFarEdge(far, made.json as JoinToken)).toContain('is now the edge Frankfurt (number 2)')
  const again = await far.command('join', 'https://203.0.113.1', 'pte_x')
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('This machine is an edge already')])
  far.start()
  await until('the edge', far.isApplied)
  expect(await key()).toBe(before)
})

it('is out at once when it is removed', async () => {
  const { api } = installation
  await until('the console', async () => (await ask('/api/health')).status === 200)
  const socket = await ask('/api/health')
  expect(socket.status).toBe(200)
  expect((await api.call('DELETE', `/api/edges/${far.id}`)).status).toBe(200)
  expect([401, 403, 503]).toContain((await ask('/api/health')).status)
  await until('the edge to say so', () =>
    readFileSync(far.logFile, 'utf8').includes('it does not know this edge'),
  )
  for (const path of ['/api/health', '/api/auth/login', '/.postern/callback'])
    expect([401, 403]).toContain((await ask(path)).status)
  expect(await far.find()).toBeUndefined()
})
