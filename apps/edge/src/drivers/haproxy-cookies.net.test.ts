import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HaproxyLab, makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../test/upstream.ts'
import { visit } from '../../test/visitor.ts'

let lab: HaproxyLab
let service: Upstream
let server: Upstream
const setCookies = (request: { headers: Record<string, unknown> }) =>
  JSON.parse(String(request.headers['x-set']))

beforeAll(async () => {
  lab = await makeHaproxyLab()
  const answer: Parameters<typeof startUpstream>[0] = {
    answer(request, response) {
      response.writeHead(200, { 'set-cookie': setCookies(request) }).end()
    },
  }
  service = await startUpstream(answer)
  server = await startUpstream({ ...answer, path: lab.serverSocket })
  await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, service.port, { domain: 'app.example.com' }),
    makeLabRoute(3, service.port, { domain: null, path: '/tool' }),
  ])
})
afterAll(async () => {
  await lab.close()
  for (const each of [service, server]) await each.close()
})

/** What is left of the cookies that the answer sets. */
async function kept(host: string, path: string, cookies: string[]): Promise<string[]> {
  const headers = { 'x-set': JSON.stringify(cookies) }
  const answer = await visit({ port: lab.httpsPort, host, path, headers })
  expect(answer.status).toBe(200)
  return [answer.headers['set-cookie'] ?? []].flat().filter((cookie) => cookie !== '')
}

const OTHERS = ['session=1; Path=/; HttpOnly', 'tokens=token=1', 'a=b; Domain=example.com', 'x=token=2']
const FOR_ALL = [
  'token=1; Domain=example.com',
  'Token=2',
  '=token=3;domain = .example.com',
  ' token =4; DOMAIN=x',
]
const OWN = ['token=5', 'token=6; Path=/nodes; HttpOnly', '=token=7']

test('a service at the host of the console cannot set its session', async () => {
  expect(await kept('127.0.0.1', '/tool', [...OTHERS, ...FOR_ALL, ...OWN])).toEqual([...OTHERS, 'Token=2'])
})

test('a service at another name cannot set it for names beside its own', async () => {
  const cookies = [...OTHERS, ...FOR_ALL, ...OWN]
  expect(await kept('app.example.com', '/', cookies)).toEqual([...OTHERS, 'Token=2', ...OWN])
})

test('the console can', async () => {
  expect(
    await kept(
      '127.0.0.1',
      '/',
      [...FOR_ALL, ...OWN].map((text) => text.trim()),
    ),
  ).toHaveLength(7)
})
