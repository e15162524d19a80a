import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from '@postern/host/processes/exec'
import { renderHaproxyFiles } from '@postern/render/haproxy/config'
import { type HaproxyOptions, haproxyPaths } from '@postern/render/haproxy/options'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRealCertificate } from '../../../test/certificate.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hc-'))
  const { certificate, certificateList, ...rest } = haproxyPaths(join(root, 'haproxy'))
  await mkdir(rest.certificates, { recursive: true })
  const { chain, privateKey } = await makeRealCertificate(0, ['gate.example.com'])
  await writeFile(certificate(0), chain + privateKey)
  for (const list of [
    certificateList,
    rest.routes,
    rest.lists,
    rest.nodes,
    rest.signIn,
    rest.challenges,
    rest.edge,
  ])
    await writeFile(list, '')
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** Each is as long as possible. */
const PLACES = [
  ['a name', `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(40)}.example.com`],
  ['an IPv4 address', '203.0.113.100'],
  ['an IPv6 address', '2001:db8:1111:2222:3333:4444:5555:6666'],
] as const

function optionsFor(publicHost: string, changes: Partial<HaproxyOptions>): HaproxyOptions {
  return {
    directory: join(root, 'haproxy'),
    serverSocket: join(root, 'server.sock'),
    lanes: join(root, 'lanes'),
    root,
    addresses: Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? `127.0.0.${index + 1}` : `2001:db8:1111:2222:3333:4444:5555:${index + 1}`,
    ),
    httpPort: 65_534,
    httpsPort: 65_535,
    publicHost,
    // As many as can be, and long.
    formerHosts: Array.from(
      { length: 8 },
      (_, index) => `${'f'.repeat(60)}.${'g'.repeat(60)}.${index}.example.com`,
    ),
    user: { uid: 2_000_000_000, gid: 2_000_000_000 },
    maxConnections: 100_000,
    // Every second one is held by another program.
    ports: Array.from({ length: 500 }, (_, index) => ({ from: 50_000 + 2 * index, to: 50_000 + 2 * index })),
    portConnections: 100_000,
    tlsPortConnections: 100_000,
    connectionsPerSource: 100_000,
    logPort: 65_533,
    logQuery: true,
    logSecret: '0123456789abcdef0123456789abcdef',
    connectTimeout: 1000,
    timeouts: { head: 1000, body: 100_000, reader: 100_000, idle: 1_000_000 },
    tunnelTimeout: 1_000_000,
    threads: 1,
    ...changes,
  }
}

/** HAProxy's messages about a configuration, without starting it. */
async function check(options: HaproxyOptions, more = ''): Promise<{ code: number; stderr: string }> {
  const { config, others } = renderHaproxyFiles(options, (content) => String(content.length))
  const path = haproxyPaths(options.directory).config
  for (const [file, content] of [...others, [path, config + more] as const]) {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  return await run('haproxy', ['-c', '-f', path])
}

test.each(PLACES)('HAProxy takes the largest configuration of an installation at %s', async (_, host) => {
  for (const changes of [{}, { user: null }, { ports: [] }])
    expect(await check(optionsFor(host, changes))).toMatchObject({
      code: 0,
      // From 3.1 on HAProxy asks for a setting that 3.0 does not know; our Lua asks for no booleans.
      stderr: expect.not.stringMatching(/(WARNING|ALERT)(?!.*bool-sample-conversion)/),
    })
})

test('HAProxy takes as many servers elsewhere as there can be', async () => {
  const { chain, privateKey } = await makeRealCertificate(0, ['server.postern.internal'])
  const addresses = ['203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8::2', '203.0.113.3']
  const farServers = {
    addresses: addresses.map((host) => ({ host, port: 8443 })),
    root: chain,
    name: 'server.postern.internal',
    proof: chain + privateKey,
  }
  for (const servers of [farServers, { ...farServers, addresses: farServers.addresses.slice(0, 1) }])
    expect(await check(optionsFor('gate.example.com', { farServers: servers }))).toMatchObject({
      code: 0,
      stderr: expect.not.stringMatching(/(WARNING|ALERT)(?!.*bool-sample-conversion)/),
    })
})

test('HAProxy refuses a rule of more than 64 words, as in its check of the largest', async () => {
  const rule = `  http-request deny if ${Array.from({ length: 31 }, () => '{ src 127.0.0.1 }').join(' or ')}\n`
  const { code, stderr } = await check(optionsFor('gate.example.com', {}), `frontend long\n${rule}`)
  expect(code).toBe(1)
  expect(stderr).toContain('too many words')
})
