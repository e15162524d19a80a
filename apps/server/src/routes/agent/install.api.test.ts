import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeAll, describe, expect, it } from 'vitest'

const AGENT = '#!/usr/bin/env node\n// the agent\n'
const SINGLE = randomBytes(300_000)
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const rootDir = tempDir()
beforeAll(async () => {
  mkdirSync(join(rootDir, 'apps/agent/dist'), { recursive: true })
  writeFileSync(join(rootDir, 'apps/agent/dist/postern.mjs'), AGENT)
  mkdirSync(join(rootDir, 'dist'))
  writeFileSync(join(rootDir, 'dist/postern-linux-x64.gz'), SINGLE)
  writeFileSync(
    join(rootDir, 'dist/postern-linux-x64.gz.sha256'),
    `${sha256(SINGLE)}  postern-linux-x64.gz\n`,
  )
})
const server = shared(() => startTestServer({ rootDir }))

const get = (url: string) => server.call({ method: 'GET', url })

describe('without a credential', () => {
  it('the root can be downloaded, and is the one whose fingerprint the console shows', async () => {
    const answer = await get('/install/ca.crt')
    expect(answer.statusCode).toBe(200)
    const root = new X509Certificate(answer.body)
    const client = await server.signIn()
    const { caFingerprint } = (await client.get('/api/config')).json()
    expect(caFingerprint).toBe(`sha256:${createHash('sha256').update(root.raw).digest('hex')}`)
    expect(answer.body).not.toContain('PRIVATE')
  })

  it('the root for people has two addresses, and the console shows its fingerprint and end', async () => {
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

  it('the script that installs the agent can be downloaded, and its hash is the one the console shows', async () => {
    const answer = await get('/install/agent.sh')
    expect(answer.statusCode).toBe(200)
    const client = await server.signIn()
    const { installerSha256, publicUrl } = (await client.get('/api/config')).json()
    expect(installerSha256).toBe(sha256(answer.body))
    expect(answer.body).toContain(`\nserver='${publicUrl}'\n`)
  })

  it('the script has the hashes of the files that it chooses from', async () => {
    const { body } = await get('/install/agent.sh')
    const bundle = await get('/install/postern')
    expect(bundle.body).toBe(AGENT)
    expect(body).toContain(`\nbundle='${sha256(AGENT)}'\n`)
    const single = await get('/install/postern-linux-x64.gz')
    expect(single.rawPayload.equals(SINGLE)).toBe(true)
    expect(single.headers).toMatchObject({ 'content-length': '300000' })
    expect(single.headers['content-encoding']).toBeUndefined()
    expect(body).toContain(`\nlinux_x64='${sha256(SINGLE)}'\n`)
    // Not built here.
    expect((await get('/install/postern-linux-arm64.gz')).statusCode).toBe(404)
    expect(body).toContain("\nlinux_arm64=''\n")
  })

  it('an agent that was not built is 404, and so is everything else', async () => {
    const empty = await startTestServer({ rootDir: tmpdir() })
    try {
      for (const name of ['agent.sh', 'postern', 'postern-linux-x64.gz'])
        expect((await empty.call({ method: 'GET', url: `/install/${name}` })).statusCode).toBe(404)
      expect((await empty.call({ method: 'GET', url: '/api/health' })).statusCode).toBe(200)
    } finally {
      await empty.close()
    }
    expect((await get('/install/..%2fpackage.json')).statusCode).toBe(404)
    expect((await get('/install/secret.key')).statusCode).toBe(404)
  })
})
