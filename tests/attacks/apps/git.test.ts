import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '@postern/testkit/processes/exec'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../apps/edge/test/haproxy-lab.ts'
import { createGitServer } from './git-server.ts'

const HOST = 'git.example.com'

let lab: HaproxyLab
let dir: string
let server: Server

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'git-'))
  await must(['git', 'init', '--quiet', '--bare', join(dir, 'srv/work.git')])
  server = createGitServer(join(dir, 'srv'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  lab = await makeHaproxyLab()
  // The address of a TCP listener has this type.
  const { port } = server.address() as AddressInfo
  expect(await lab.apply([makeLabRoute(2, port, { domain: HOST })])).toEqual([])
})
afterAll(async () => {
  await lab.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(dir, { recursive: true, force: true })
})

const git = (...args: string[]) => {
  const settings = [
    `http.curloptResolve=${HOST}:${lab.httpsPort}:127.0.0.1`,
    'http.sslVerify=false',
    'user.name=Somebody',
    'user.email=somebody@example.com',
  ]
  return must(['git', ...settings.flatMap((setting) => ['-c', setting]), ...args], { timeoutMs: 50_000 })
}

test.each(['HTTP/2', 'HTTP/1.1'])('git pushes and clones over %s', async (version) => {
  const address = `https://${HOST}:${lab.httpsPort}/work.git`
  const [here, there] = [join(dir, `here-${version.slice(-1)}`), join(dir, `there-${version.slice(-1)}`)]
  const content = randomBytes(8 * 1024 * 1024)
  await git('clone', '--quiet', address, here)
  await writeFile(join(here, 'blob'), content)
  await git('-C', here, 'add', '.')
  await git('-C', here, 'commit', '--quiet', '-m', 'a blob')
  // Larger than what git sends in one piece, so it is sent in chunks.
  await git('-C', here, '-c', `http.version=${version}`, 'push', '--quiet', 'origin', 'HEAD')
  await git('-c', `http.version=${version}`, 'clone', '--quiet', address, there)
  expect((await readFile(join(there, 'blob'))).equals(content)).toBe(true)
})
