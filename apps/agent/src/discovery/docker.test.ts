import type { IncomingMessage, ServerResponse } from 'node:http'
import { type FakeDocker, startFakeDocker } from '@postern/testkit/fakes/fake-docker'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followDocker } from './docker.ts'
import { createEngine, findEngineAddress } from './engine.ts'
import type { Offers } from './offer.ts'

const LABELS = { 'postern.http.domain': 'a.example', 'postern.http.port': '80' }
const WEB = { name: 'web', labels: LABELS, networks: { shop: '172.18.0.3' } }

let directory: string
let docker: FakeDocker
let offers: Offers[]
let failures: string[]
let stop: AbortController
let ended: Promise<void>

beforeEach(async () => {
  directory = tempDir()
  docker = await startFakeDocker(`${directory}/docker.sock`)
  docker.containers.set('gw', { name: 'gw', networks: { shop: '172.18.0.2' } })
  offers = []
  failures = []
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await ended
  await docker.close()
})

function follow(): void {
  const engine = createEngine({ socketPath: docker.path })
  const own = { listOwnCidrs: () => ['172.18.0.2/16'], getNetworks: () => ['172.18.0.0/16'] }
  const onOffers = (one: Offers) => offers.push(one)
  const onFailure = (problem: string) => failures.push(problem)
  ended = followDocker({ engine, ...own, onOffers, onFailure, random: () => 0.99 }, stop.signal)
}

const keys = () => offers.at(-1)?.services.map(({ key }) => key)
const following = () => until('the agent to follow the events', () => docker.countFollowers() === 1)
const listings = () => docker.asked.filter((one) => one.endsWith('/containers/json')).length

test('a labelled container appears and disappears with its start and end; others are ignored', async () => {
  follow()
  await until('the first look', () => keys()?.length === 0)
  await following()
  docker.start(WEB)
  docker.start({ ...WEB, name: 'other', labels: {} })
  await until('the container', () => keys()?.join() === 'web/http')
  expect(offers.at(-1)?.services[0]).toMatchObject({
    backendHost: 'web',
    backendPort: 80,
    domain: 'a.example',
  })
  docker.stop('web')
  await until('its end', () => keys()?.length === 0)
  expect(failures).toEqual([])
})

test("it only reads, in the engine's version of the API", async () => {
  follow()
  await following()
  await until('a look', () => offers.length > 0)
  expect([...new Set(docker.asked)].sort()).toEqual([
    'GET /v1.47/containers/json',
    'GET /v1.47/events',
    'GET /version',
  ])
})

test('a burst of events makes one reading, and an endless one makes few', async () => {
  follow()
  await following()
  await until('the first looks', () => listings() >= 2)
  const before = listings()
  for (let event = 0; event < 500; event++) docker.tell('start', 'web')
  docker.start(WEB)
  await until('the look after it', () => keys()?.join() === 'web/http')
  expect(listings() - before).toBe(1)
  const began = performance.now()
  while (performance.now() - began < 3600) {
    docker.tell('start', 'web')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const during = listings() - before - 1
  expect(during).toBeGreaterThanOrEqual(1)
  expect(during).toBeLessThanOrEqual(3)
})

test('after events were cut off they are followed again, and missed changes are found', async () => {
  follow()
  await following()
  docker.cutEvents()
  docker.containers.set('web', WEB)
  await until('the container', () => keys()?.join() === 'web/http')
})

test('an engine that is down or answers nonsense removes nothing', async () => {
  docker.containers.set('web', WEB)
  follow()
  await until('the container', () => keys()?.join() === 'web/http')
  await following()
  await docker.close()
  await until('the failure', () => failures.length > 0)
  expect(failures.at(-1)).toMatch(
    /^(There is no Docker socket at|Docker isn't running: nothing listens on) \//,
  )
  expect(keys()).toEqual(['web/http'])
  docker = await startFakeDocker(docker.path)
  docker.containers.set('next', { ...WEB, name: 'next' })
  await until('the engine again', () => keys()?.join() === 'next/http')
})

const json = (response: ServerResponse, text: string, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)

/** Answers the version correctly, and everything else with this. */
const onlyVersion = (rest: (request: IncomingMessage, response: ServerResponse) => void) =>
  function misbehave(request: IncomingMessage, response: ServerResponse) {
    if (request.url !== '/version') return rest(request, response)
    json(response, '{"ApiVersion":"1.47"}')
  }

test.each([
  ['garbage', onlyVersion((_, response) => json(response, '<html>')), 'cannot be read'],
  ['another shape', onlyVersion((_, response) => json(response, '{"message":"x"}')), 'cannot be read'],
  ['ids that are none', onlyVersion((_, response) => json(response, '[{"Id":"../x"}]')), 'cannot be read'],
  [
    'a version for another path',
    (_: unknown, r: ServerResponse) => json(r, '{"ApiVersion":"1.4/../../x"}'),
    'read',
  ],
  [
    'a refusal',
    onlyVersion((_, response) => json(response, '{}', 403)),
    'A socket proxy must allow containers',
  ],
  [
    'an answer without end',
    onlyVersion((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'.repeat(1024 * 1024)), 1)
      response.on('close', () => clearInterval(timer))
    }),
    'the answer is too long',
  ],
])('%s is reported in words, and retried with pauses', async (_, misbehave, words) => {
  docker.misbehave = misbehave
  follow()
  await until('the failure', () => failures.length > 0)
  expect(failures[0]).toContain(words)
  expect(offers).toEqual([])
  expect(
    docker.asked.filter((one) => !/^GET (\/version|\/v1\.47\/(events|containers\/json))$/.test(one)),
  ).toEqual([])
  const before = docker.asked.length
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(docker.asked.length - before).toBeLessThan(15)
  docker.misbehave = undefined
  await until('the first look', () => offers.length > 0)
})

test("the engine's addresses can be written in several ways", () => {
  expect(findEngineAddress('unix:///var/run/docker.sock')).toEqual({ socketPath: '/var/run/docker.sock' })
  expect(findEngineAddress('/run/podman.sock')).toEqual({ socketPath: '/run/podman.sock' })
  expect(findEngineAddress('tcp://socket-proxy:2375')).toEqual({ host: 'socket-proxy', port: 2375 })
  for (const bad of [
    'docker.sock',
    'tcp://proxy',
    'tcp://a:0',
    'tcp://a:99999',
    'https://a:1',
    'tcp://a/b:1',
    '',
  ])
    expect(findEngineAddress(bad), bad).toBeUndefined()
})
