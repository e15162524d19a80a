import { readFile, writeFile } from 'node:fs/promises'
import type { Challenge } from '@postern/contract/edge/desired-state'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeChallenge } from '../../../../test/factories.ts'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit, visitPlain } from '../../../../test/visitor.ts'
import type { HaproxyDriver } from '../driver.ts'

let driver: HaproxyDriver
let upstream: Upstream

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  driver = await lab.open()
  upstream = await startUpstream()
})
afterAll(async () => {
  await upstream.close()
})

const [one, two] = [makeChallenge(1), makeChallenge(2)]
const longest = { ...makeChallenge(3), token: 'Az09_-'.repeat(22).slice(0, 128) }
const pathOf = ({ token }: Challenge) => `/.well-known/acme-challenge/${token}`
const proofOf = ({ token, thumbprint }: Challenge) => `${token}.${thumbprint}`

function apply(...challenges: Challenge[]) {
  lab.challenges = challenges
  return lab.apply([makeLabRoute(2, upstream.port, { domain: one.domain })])
}
const ask = (host: string, path: string) => visitPlain({ port: lab.httpPort, host, path })

test('a challenge is answered at its domain over plain HTTP, before every redirect, and costs no reload', async () => {
  expect(await apply()).toEqual([])
  const pid = await lab.pid()
  expect((await ask(one.domain, pathOf(one))).status).toBe(404)
  expect(await apply(one, two, longest)).toEqual([])
  for (const challenge of [one, two, longest]) {
    const answer = await ask(challenge.domain, pathOf(challenge))
    expect([answer.status, answer.text]).toEqual([200, proofOf(challenge)])
  }
  expect((await ask(`${one.domain.toUpperCase()}.:80`, `${pathOf(one)}?x`)).text).toBe(proofOf(one))
  expect(await apply(two)).toEqual([])
  expect((await ask(one.domain, pathOf(one))).status).toBe(404)
  expect((await ask(two.domain, pathOf(two))).status).toBe(200)
  expect(await lab.pid()).toBe(pid)
})

test.each([
  ['of another domain', two.domain, pathOf(one)],
  ['that nobody knows', one.domain, '/.well-known/acme-challenge/token-9'],
  ['that is empty', one.domain, '/.well-known/acme-challenge/'],
  ['that is only begun', one.domain, pathOf(one).slice(0, -1)],
  ['that goes on', one.domain, `${pathOf(one)}x`],
  ['with more below it', one.domain, `${pathOf(one)}/x`],
  ['that is longer than any', longest.domain, `${pathOf(longest)}x`],
  ['in another spelling', one.domain, pathOf(one).replace('token', '%74oken')],
])('a token %s gets 404, and no service is asked for it', async (_, host, path) => {
  await apply(one, two, longest)
  for (const each of [path, `${path}?x=1`]) {
    const answer = await ask(host, each)
    expect(answer.status).toBe(404)
    expect(answer.headers).not.toHaveProperty('location')
  }
})

test.each([
  ['at another path', one.domain, `/x${pathOf(one)}`],
  ['below another name', one.domain, pathOf(one).replace('acme-challenge', 'acme-challenges')],
])('a token %s goes to the service as usual', async (_, host, path) => {
  await apply(one, two, longest)
  const answer = await ask(host, path)
  expect(answer.status).toBe(308)
  expect(answer.headers.location).toContain(path)
  const served = await visit({ port: lab.httpsPort, host, path })
  expect(served.status).toBe(200)
  expect(upstream.seen.at(-1)?.url).toBe(path)
})

test('a malformed challenge never reaches HAProxy', async () => {
  const bad = [
    { ...one, token: 'a b' },
    { ...one, token: `x;disable frontend http` },
    { ...one, thumbprint: '%[src]' },
    { ...one, domain: 'a.example.com\nb' },
  ]
  expect(await apply(...bad, two)).toEqual([])
  expect(await lab.command(`show map ${lab.paths.challenges}`)).toMatch(
    /^0x\w+ s2\.example\.com\/\S+ \S+\n\n$/,
  )
})

test('they outlive HAProxy, and a restart of the edge', async () => {
  await apply(one)
  process.kill(await lab.pid(), 'SIGKILL')
  expect(await driver.check()).toMatchObject({ state: 'ok' })
  expect((await ask(one.domain, pathOf(one))).text).toBe(proofOf(one))
  driver = await lab.open()
  expect((await ask(one.domain, pathOf(one))).text).toBe(proofOf(one))
  await apply()
  expect((await ask(one.domain, pathOf(one))).status).toBe(404)
})

test('a HAProxy from a release without challenges is replaced by one that knows them', async () => {
  await apply()
  const config = await readFile(lab.paths.config, 'utf8')
  const old = config
    .replace(/^.*txn\.token.*\n|^.*txn\.answer\).*\n/gm, '')
    .replace(/description postern-\w+/, 'description postern-0')
  await writeFile(lab.paths.config, old)
  process.kill(await lab.pid(), 'SIGKILL')
  await driver.check()
  expect(await lab.command(`show map ${lab.paths.challenges}`)).toContain('Unknown map')
  driver = await lab.open()
  expect(await apply(one)).toEqual([])
  expect((await ask(one.domain, pathOf(one))).text).toBe(proofOf(one))
})
