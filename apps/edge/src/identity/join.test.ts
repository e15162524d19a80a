import { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { installationPaths } from '@postern/contract/installation'
import { fingerprintOf } from '@postern/host/trust'
import {
  type EdgesAuthority,
  edgeLeaf,
  makeEdgesAuthority,
  type Proof,
} from '@postern/testkit/authority/edges-authority'
import { findFreePort } from '@postern/testkit/port'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCsr, createKey } from './csr.ts'
import { openIdentity } from './identity.ts'
import { joinInstallation } from './join.ts'

const TOKEN = `pte_${'t'.repeat(43)}`
const DAY = 86_400_000
const known = {
  tunnelNetwork4: '10.64.0.0/16',
  tunnelNetwork6: 'fd01:2:3:4::/64',
  publicHost: 'console.example.com',
}
const servers = [{ name: 'Server', url: 'https://console.example.com:8443' }]

/** The authority that vouches for the console's address, and the one for edges. */
let domains: EdgesAuthority
let edges: EdgesAuthority
let leaf: Proof
let server: Server
let directory: string
let asked: string[]
let answer: (csr: string) => Promise<[status: number, body: unknown]>

beforeAll(async () => {
  ;[domains, edges] = await Promise.all([makeEdgesAuthority(), makeEdgesAuthority()])
  leaf = await domains.issue({ use: 'serverAuth', names: 'IP:127.0.0.1' })
})
beforeEach(async () => {
  directory = tempDir()
  mkdirSync(installationPaths(directory).edgeDir)
  asked = []
  answer = async (csr) => [200, await answerFor(csr)]
  server = createServer({ key: leaf.key, cert: leaf.certificate + domains.root }, (request, response) =>
    respond(request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => server.close())

const answerFor = async (csr: string) => ({
  edgeId: 3,
  number: 2,
  name: 'Frankfurt',
  certificate: await edges.sign(csr, edgeLeaf(3)),
  root: edges.root,
  servers,
  known,
})

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  asked.push(`${request.method} ${request.url}`)
  if (request.url === '/install/ca.crt') return void response.end(domains.root)
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { csr, ...rest } = JSON.parse(body)
  expect(rest).toEqual({ token: TOKEN, version: '1.2.3', tunnelPort: 51_820, machine: { addresses: [] } })
  const [status, said] = await answer(csr)
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof said === 'string' ? said : JSON.stringify(said))
}

const fingerprint = () => fingerprintOf(new X509Certificate(domains.root))
const here = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`
const join = (address = `${here()}#${fingerprint()}`, ahead = 0) =>
  joinInstallation({
    address,
    token: TOKEN,
    paths: installationPaths(directory),
    version: '1.2.3',
    tunnelPort: 51_820,
    machine: { addresses: [] },
    // Whole seconds, as in certificates.
    now: () => Date.now() + 1000 + ahead,
  })
const isJoined = () => existsSync(installationPaths(directory).identityDir)

test('a machine joins with a key of its own, and knows its installation afterwards', async () => {
  expect(await join()).toMatchObject({ name: 'Frankfurt', number: 2 })
  const identity = (await openIdentity(installationPaths(directory).identityDir))?.current()
  expect(identity).toMatchObject({ root: edges.root, known: { edgeId: 3, ...known, servers } })
  expect(asked).toEqual(['GET /install/ca.crt', 'POST /api/edge/join'])
})

test.each<[string, () => string]>([
  ['another fingerprint', () => `${here()}#sha256:${'0a'.repeat(32)}`],
  ['no fingerprint, where nobody vouches', here],
])('%s: nothing is sent', async (_, address) => {
  await expect(join(address())).rejects.toMatchObject({ code: 'join' })
  expect(asked).not.toContain('POST /api/edge/join')
  expect(isJoined()).toBe(false)
})

test.each<[string, () => string]>([
  ['plain HTTP', () => here().replace('https', 'http')],
  ['no address', () => 'postern.example.com'],
  ['half a fingerprint', () => `${here()}#sha256:0a0b`],
])('%s is a wrong line', async (_, address) => {
  await expect(join(address())).rejects.toMatchObject({ code: 'usage' })
  expect(asked).toEqual([])
})

const refusals: [string, (csr: string) => Promise<[number, unknown]>, string][] = [
  [
    'refuses the token',
    async () => [403, { message: 'The token has expired', code: 'token_expired' }],
    'The server refuses: The token has expired',
  ],
  [
    'finds a fault in a field',
    async () => [
      422,
      { message: 'Check it', code: 'validation', errors: [{ field: 'csr', message: 'is not valid' }] },
    ],
    'csr is not valid',
  ],
  ['is something else', async () => [404, '<html>'], 'answered 404 when asked to let this machine join'],
  ['is of another version', async () => [200, { edgeId: 3 }], 'Install the same release'],
  [
    'certifies another key',
    async () => [200, await answerFor(createCsr(createKey()))],
    'a certificate for another key',
  ],
  [
    'shows another root than it signs with',
    async (csr) => [200, { ...(await answerFor(csr)), root: domains.root }],
    'a certificate for another key',
  ],
  [
    'names a server without TLS',
    async (csr) => [
      200,
      { ...(await answerFor(csr)), servers: [{ name: 'x', url: 'http://a.example.com' }] },
    ],
    'Install the same release',
  ],
]
test.each(refusals)('a server that %s is said in words, and nothing stays', async (_, says, words) => {
  answer = says
  await expect(join()).rejects.toThrow(words)
  expect(isJoined()).toBe(false)
})

test.each([-3, 3])('a clock that is %i days off is said', async (days) => {
  await expect(join(undefined, days * DAY)).rejects.toThrow('The clock of this machine')
  expect(isJoined()).toBe(false)
})

test('a server that cannot be reached is said', async () => {
  const address = `https://127.0.0.1:${await findFreePort()}#${fingerprint()}`
  await expect(join(address)).rejects.toThrow('127.0.0.1 refused the connection')
})

test('a machine that is an edge already does not join', async () => {
  mkdirSync(installationPaths(directory).identityDir)
  await expect(join()).rejects.toThrow('postern-edge leave')
  expect(asked).toEqual([])
})

test('a machine with a server does not join', async () => {
  mkdirSync(installationPaths(directory).serverDir)
  writeFileSync(installationPaths(directory).database, '')
  await expect(join()).rejects.toThrow('its own edge needs not join')
  expect(asked).toEqual([])
})
