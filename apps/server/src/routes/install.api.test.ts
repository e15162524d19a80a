import { createHash, X509Certificate } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const AGENT = '#!/usr/bin/env node\n// the agent\n'
const rootDir = mkdtempSync(join(tmpdir(), 'pt-install-'))
let server: TestServer
beforeAll(async () => {
  mkdirSync(join(rootDir, 'apps/agent/dist'), { recursive: true })
  writeFileSync(join(rootDir, 'apps/agent/dist/postern.mjs'), AGENT)
  server = await startTestServer({ rootDir })
})
afterAll(async () => {
  await server.close()
  rmSync(rootDir, { recursive: true })
})

const get = (url: string) => server.call({ method: 'GET', url })

describe('without a credential', () => {
  it('the root can be had, and is the one whose fingerprint the console shows', async () => {
    const answer = await get('/install/ca.crt')
    expect(answer.statusCode).toBe(200)
    const root = new X509Certificate(answer.body)
    const client = await server.signIn()
    const { caFingerprint } = (await client.get('/api/config')).json()
    expect(caFingerprint).toBe(`sha256:${createHash('sha256').update(root.raw).digest('hex')}`)
    expect(answer.body).not.toContain('PRIVATE')
  })

  it('the root for people can be had by two names, and the console shows its fingerprint and end', async () => {
    const answer = await get('/install/ca.pem')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe((await get('/install/root.crt')).body)
    expect(answer.body).not.toContain('PRIVATE')
    const root = new X509Certificate(answer.body)
    const client = await server.signIn()
    expect((await client.get('/api/domains/root')).json()).toEqual({
      name: server.context.authority.name,
      fingerprint: root.fingerprint256,
      notAfter: root.validToDate.toISOString(),
    })
  })

  it('the agent can be had, and its hash is the one the console shows', async () => {
    const answer = await get('/install/postern')
    expect(answer.body).toBe(AGENT)
    const client = await server.signIn()
    const { agentSha256 } = (await client.get('/api/config')).json()
    expect(agentSha256).toBe(createHash('sha256').update(AGENT).digest('hex'))
  })

  it('an agent that was not built is 404, and nothing else is there', async () => {
    const empty = await startTestServer({ rootDir: tmpdir() })
    try {
      expect((await empty.call({ method: 'GET', url: '/install/postern' })).statusCode).toBe(404)
      expect((await empty.call({ method: 'GET', url: '/api/health' })).statusCode).toBe(200)
    } finally {
      await empty.close()
    }
    expect((await get('/install/..%2fpackage.json')).statusCode).toBe(404)
    expect((await get('/install/secret.key')).statusCode).toBe(404)
  })
})
