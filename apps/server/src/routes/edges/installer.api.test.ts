import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { EdgeInstaller } from '@postern/contract/edge/join'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeAll, expect, it } from 'vitest'

const FILES: Record<string, Buffer> = {
  'node_modules/.bin/node': randomBytes(1_000_000),
  'apps/edge/dist/edge.mjs': Buffer.from('// edge\n'),
  'apps/edge/dist/holder.mjs': Buffer.from('// holder\n'),
  'scripts/dist/postern-edge.mjs': Buffer.alloc(512, 'x'),
  'scripts/dist/prepare.mjs': Buffer.from('// prepare\n'),
  'scripts/dist/haproxy.mjs': Buffer.from('// haproxy\n'),
  'deploy/systemd/postern-edge.service': Buffer.from('[Unit]\n'),
  'deploy/systemd/postern-haproxy.service': Buffer.from('[Unit]\n'),
  'deploy/systemd/postern-haproxy.timer': Buffer.alloc(0),
}
const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex')
const rootDir = tempDir()
const put = (name: string, content: Buffer) => {
  mkdirSync(dirname(join(rootDir, name)), { recursive: true })
  writeFileSync(join(rootDir, name), content)
}
beforeAll(() => {
  for (const [name, content] of Object.entries(FILES)) put(name, content)
  put('apps/edge/dist/edge.mjs.map', Buffer.from('{}'))
})
const server = shared(() => startTestServer({ rootDir }))

async function read() {
  const client = await server.signIn()
  const { url, sha256 } = (await client.get('/api/edges/installer')).json() as EdgeInstaller
  const script = await server.call({ method: 'GET', url: '/install/edge.sh' })
  const archive = await server.call({ method: 'GET', url: '/install/edge.tar.gz' })
  return { url, sha256, script, archive }
}

it('vouches for the script, and the script for the archive', async () => {
  const { url, sha256: sum, script, archive } = await read()
  expect(url).toMatch(/^https:\/\/.+\/install\/edge\.sh$/)
  expect(sum).toBe(sha256(script.body))
  expect(script.body).toContain(`\nsum='${sha256(archive.rawPayload)}'\n`)
  expect(script.body).toContain(`\nprocessor='${process.arch}'\n`)
  expect(archive.headers['content-encoding']).toBeUndefined()
  expect(archive.headers['content-length']).toBe(String(archive.rawPayload.length))
})

it('packs what an edge needs and nothing else, with rights for root to run it', async () => {
  const { archive } = await read()
  const target = mkdirSync(join(rootDir, 'unpacked'), { recursive: true }) ?? ''
  execFileSync('tar', ['-xzf', '-', '-C', target], { input: archive.rawPayload })
  const found = readdirSync(target, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(target, name)).isFile())
    .sort()
  expect(found).toEqual([...Object.keys(FILES), 'package.json'].sort())
  for (const [name, content] of Object.entries(FILES))
    expect(sha256(execFileSync('cat', [join(target, name)]))).toBe(sha256(content))
  expect(statSync(join(target, 'node_modules/.bin/node')).mode & 0o777).toBe(0o755)
  expect(statSync(join(target, 'scripts/dist/prepare.mjs')).mode & 0o777).toBe(0o644)
})

it('keeps the archive over a start, and packs anew what has changed or was damaged', async () => {
  const { archive } = await read()
  const path = join(server.dataDir, 'server/edge-program/program.tar.gz')
  const made = statSync(path).mtimeMs
  await server.restart()
  expect((await read()).archive.rawPayload.equals(archive.rawPayload)).toBe(true)
  expect(statSync(path).mtimeMs).toBe(made)
  await server.restart(undefined, () => writeFileSync(path, 'half of it'))
  expect((await read()).archive.rawPayload.equals(archive.rawPayload)).toBe(true)
  await server.restart(undefined, () => put('apps/edge/dist/edge.mjs', Buffer.from('// another edge\n')))
  const next = await read()
  expect(next.archive.rawPayload.equals(archive.rawPayload)).toBe(false)
  expect(next.script.body).toContain(sha256(next.archive.rawPayload))
})

it('has none where the edge was not built', async () => {
  const empty = await startTestServer({ rootDir: tmpdir() })
  try {
    for (const name of ['edge.sh', 'edge.tar.gz'])
      expect((await empty.call({ method: 'GET', url: `/install/${name}` })).statusCode).toBe(404)
    const client = await empty.signIn()
    expect((await client.get('/api/edges/installer')).json()).toMatchObject({ sha256: null })
  } finally {
    await empty.close()
  }
})
