import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'pt-root-'))
let built: TestServer

beforeAll(async () => {
  const dist = join(root, 'apps/console/dist')
  mkdirSync(join(dist, 'assets'), { recursive: true })
  mkdirSync(join(root, 'docs'))
  writeFileSync(join(dist, 'index.html'), '<title>Postern</title>')
  writeFileSync(join(dist, 'assets/app-1a2b.js'), 'start()')
  built = await startTestServer({ rootDir: root })
})
afterAll(async () => {
  await built.close()
  rmSync(root, { recursive: true })
})

const browse = (url: string, method: 'GET' | 'POST' = 'GET') =>
  built.call({ method, url, headers: { accept: 'text/html,*/*;q=0.8' } })

test('every page of the console is index.html, asked for again each time', async () => {
  for (const url of ['/', '/nodes', '/nodes/7', '/domains/a.example/logs', '/no/such/page']) {
    const page = await browse(url)
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('<title>Postern</title>')
    expect(page.headers['cache-control']).toBe('no-cache')
  }
})

test('a hashed file is kept for ever; a missing one is no page', async () => {
  const asset = await browse('/assets/app-1a2b.js')
  expect(asset.body).toBe('start()')
  expect(asset.headers['cache-control']).toContain('immutable')
  expect((await browse('/assets/app-gone.js')).statusCode).toBe(404)
})

test('only a browser that asks for a page gets one', async () => {
  const json = await built.call({ method: 'GET', url: '/nodes', headers: { accept: 'application/json' } })
  expect(json.statusCode).toBe(404)
  expect((await browse('/nodes', 'POST')).statusCode).toBe(404)
  expect((await browse('/%2e%2e/%2e%2e/etc/passwd')).body).not.toContain('root:')
})

test('without a build the page says what to run', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'pt-root-'))
  mkdirSync(join(empty, 'docs'))
  const server = await startTestServer({ rootDir: empty })
  const page = await server.call({ method: 'GET', url: '/', headers: { accept: 'text/html' } })
  expect(page.headers['content-type']).toContain('text/plain')
  expect(page.body).toContain('npm run build')
  await server.close()
  rmSync(empty, { recursive: true })
})
