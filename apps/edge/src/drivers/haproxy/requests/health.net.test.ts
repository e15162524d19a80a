import { readFile } from 'node:fs/promises'
import { shared } from '@postern/testkit/shared'
import { sendRaw } from '@postern/testkit/wire'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute, PUBLIC_HOST } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { visit, visitPlain } from '../../../../test/visitor.ts'

const PATH = '/.well-known/postern/health'

const lab = shared(() => makeHaproxyLab())
const upstream = shared(() => startUpstream())
const routes = () => [makeLabRoute(2, upstream.port, { domain: 'a.example.com' })]
beforeAll(async () => {
  expect(await lab.apply(routes())).toEqual([])
})
afterEach(async () => {
  lab.edge = undefined
  await lab.apply(routes())
})

const HOSTS = ['127.0.0.1', PUBLIC_HOST, 'a.example.com', 'unknown.example.com']
/** Over plain HTTP and TLS, at each of these hosts. No server runs here. */
async function answers(path = PATH, method = 'GET'): Promise<[number, string][]> {
  const asked = HOSTS.flatMap((host) => [
    visitPlain({ port: lab.httpPort, host, path, method }),
    visit({ port: lab.httpsPort, host, path, method }),
  ])
  return (await Promise.all(asked)).map(({ status, text }) => [status, text])
}
const all = (status: number, text: string) => HOSTS.flatMap(() => [1, 2]).map(() => [status, text])

test('HAProxy alone says at every host, with and without TLS, that visitors may come', async () => {
  expect(await answers()).toEqual(all(200, 'ok'))
  expect(await answers(PATH, 'HEAD')).toEqual(all(200, ''))
  expect(upstream.seen).toEqual([])
})

test('while the edge is drained it says so, without another process of HAProxy, and serves on', async () => {
  const pid = await lab.pid()
  lab.edge = { number: 2, servesConsole: true, isDrained: true }
  await lab.apply(routes(), [], true)
  expect(await answers()).toEqual(all(503, 'drained'))
  expect((await visit({ port: lab.httpsPort, host: 'a.example.com', path: '/x' })).status).toBe(200)
  expect(await readFile(lab.paths.edge, 'utf8')).toBe('')
  await lab.apply(routes())
  expect(await readFile(lab.paths.edge, 'utf8')).toBe('drained yes\n')
  lab.edge = { number: 2, servesConsole: true, isDrained: false }
  await lab.apply(routes(), [], true)
  expect(await answers()).toEqual(all(200, 'ok'))
  expect(await lab.pid()).toBe(pid)
})

test('a HAProxy that starts again is still drained', async () => {
  lab.edge = { number: 2, servesConsole: true, isDrained: true }
  await lab.apply(routes())
  process.kill(await lab.pid(), 'SIGKILL')
  const driver = await lab.open()
  await expect.poll(() => driver.check(), { timeout: 30_000 }).toMatchObject({ state: 'ok' })
  expect(await answers()).toEqual(all(503, 'drained'))
})

test('nothing else of a service is taken', async () => {
  upstream.seen.length = 0
  for (const path of [`${PATH}/x`, `${PATH}z`, `/x${PATH}`, '/.well-known/postern'])
    await visit({ port: lab.httpsPort, host: 'a.example.com', path })
  await visit({ port: lab.httpsPort, host: 'a.example.com', path: PATH, method: 'POST' })
  expect(upstream.seen.map(({ method, url }) => [method, url])).toEqual([
    ['GET', `${PATH}/x`],
    ['GET', `${PATH}z`],
    ['GET', `/x${PATH}`],
    ['GET', '/.well-known/postern'],
    ['POST', PATH],
  ])
})

test('a check of HTTP/1.0 without a host gets an answer over TLS', async () => {
  expect(await sendRaw(lab.httpsPort, `GET ${PATH} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.[01] 200 /)
})
