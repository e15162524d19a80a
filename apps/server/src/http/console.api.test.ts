import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import fastify from 'fastify'
import { beforeAll, expect, test } from 'vitest'
import { addHooks } from './hooks.ts'

const root = tempDir()

beforeAll(async () => {
  const dist = join(root, 'apps/console/dist')
  mkdirSync(join(dist, 'assets'), { recursive: true })
  mkdirSync(join(root, 'docs'))
  writeFileSync(join(dist, 'index.html'), '<title>Postern</title>')
  writeFileSync(join(dist, 'assets/app-1a2b.js'), 'start()')
  writeFileSync(join(dist, 'assets/app-1a2b.js.br'), brotliCompressSync('start()'))
  writeFileSync(join(dist, 'assets/app-1a2b.js.gz'), gzipSync('start()'))
  writeFileSync(join(dist, 'assets/theme.js'), 'paint()')
  writeFileSync(join(dist, 'late.js'), 'late()')
})
const built = shared(() => startTestServer({ rootDir: root }))

const browse = (url: string, method: 'GET' | 'POST' = 'GET') =>
  built.call({ method, url, headers: { accept: 'text/html,*/*;q=0.8' } })

test('every page of the console is index.html, which is revalidated each time', async () => {
  for (const url of ['/', '/nodes', '/nodes/7', '/domains/a.example/logs', '/no/such/page']) {
    const page = await browse(url)
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('<title>Postern</title>')
    expect(page.headers['cache-control']).toBe('no-cache')
  }
})

test('a hashed file is cached forever; a missing one is no page', async () => {
  const asset = await browse('/assets/app-1a2b.js')
  expect(asset.body).toBe('start()')
  expect(asset.headers['cache-control']).toContain('immutable')
  expect((await browse('/assets/app-gone.js')).statusCode).toBe(404)
})

test.each([
  ['gzip, deflate, br, zstd', 'br', brotliCompressSync('start()')],
  ['gzip', 'gzip', gzipSync('start()')],
  ['identity', undefined, Buffer.from('start()')],
])(
  'with accept-encoding "%s" the same file comes as %s and is cached as long',
  async (accepted, encoding, bytes) => {
    const asset = await built.call({
      method: 'GET',
      url: '/assets/app-1a2b.js',
      headers: { 'accept-encoding': accepted },
    })
    expect(asset.headers['content-encoding']).toBe(encoding)
    expect(asset.rawPayload).toEqual(bytes)
    expect(asset.headers.vary).toMatch(/accept-encoding/i)
    expect(asset.headers['content-type']).toMatch(/javascript/)
    expect(asset.headers['cache-control']).toContain('immutable')
  },
)

test('a file whose name has no hash is revalidated each time', async () => {
  const file = await browse('/assets/theme.js')
  expect(file.body).toBe('paint()')
  expect(file.headers['cache-control']).toBe('no-cache')
})

test('no file of the build is served at a path that a service could have', async () => {
  for (const url of ['/late.js', '/assets/../late.js', '/assets/%2e%2e/late.js', '/assets/..%2flate.js'])
    expect((await browse(url)).body, url).not.toContain('late()')
})

test('the API answers only at its exact paths', async () => {
  for (const url of ['/API/health', '/Api/health', '//api/health', '/api//health', '/x%2f..%2fapi/health'])
    expect((await browse(url)).body, url).not.toContain('"ok"')
})

test('the server does not start with a route that a service could take', () => {
  const app = fastify()
  addHooks(app, { trustForwarded: true })
  app.get('/api/new', () => 'reserved')
  for (const url of ['/theme.js', '/apiary', '/*', '/:page'])
    expect(() => app.get(url, () => ''), url).toThrow(/is not reserved/)
})

test('only a browser that asks for a page gets one', async () => {
  const json = await built.call({ method: 'GET', url: '/nodes', headers: { accept: 'application/json' } })
  expect(json.statusCode).toBe(404)
  expect((await browse('/nodes', 'POST')).statusCode).toBe(404)
  expect((await browse('/%2e%2e/%2e%2e/etc/passwd')).body).not.toContain('root:')
})

test('without a build the page says what to run', async () => {
  const empty = tempDir()
  mkdirSync(join(empty, 'docs'))
  const server = await startTestServer({ rootDir: empty })
  const page = await server.call({ method: 'GET', url: '/', headers: { accept: 'text/html' } })
  expect(page.headers['content-type']).toContain('text/plain')
  expect(page.body).toContain('npm run build')
  await server.close()
})
