import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'

const TEXT = '{"openapi":"3.1.0"}'
const rootDir = tempDir()
const docs = `${rootDir}/apps/server/dist/docs`
mkdirSync(docs, { recursive: true })
writeFileSync(`${docs}/openapi.json`, TEXT)
writeFileSync(`${docs}/openapi.json.gz`, gzipSync(TEXT))

// The document is no endpoint of the contract, which it describes.
const server = shared(() => startTestServer({ rootDir, isMeasured: true }))
const get = (headers: Record<string, string> = {}) => server.call({ url: '/api/openapi.json', headers })

test('the OpenAPI document is for everybody, and asked for again only by its tag', async () => {
  const answer = await get()
  expect([answer.statusCode, answer.body]).toEqual([200, TEXT])
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.headers['cache-control']).toBe('no-cache')
  expect((await get({ 'if-none-match': String(answer.headers.etag) })).statusCode).toBe(304)
})

test('it comes compressed', async () => {
  const answer = await get({ 'accept-encoding': 'gzip' })
  expect([answer.headers['content-encoding'], answer.rawPayload.equals(gzipSync(TEXT))]).toEqual([
    'gzip',
    true,
  ])
})

test('nothing else below /api is served from files', async () => {
  expect((await server.call({ url: '/api/openapi.json.gz' })).statusCode).toBe(404)
  expect((await server.call({ url: '/api/api' })).statusCode).toBe(404)
})
