import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExec } from '@postern/host/processes/exec'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { visit } from '../../../../test/visitor.ts'

const HOST = 'dav.example.com'
/** Debian's `nobody`, who the program becomes. */
const NOBODY = 65_534

let base: string
let files: string
let apache: { stop(): void }

const configurationOf = (port: number) => {
  const modules = ['mpm_event', 'authz_core', 'dav', 'dav_fs']
  return `${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ServerRoot ${base}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${base}/pid
Mutex file:${base}
User nobody
Group nogroup
ErrorLog ${base}/error.log
DavLockDB ${base}/data/locks
DocumentRoot ${files}
<Directory ${files}>
  Dav On
  Require all granted
</Directory>
`
}

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'dav-'))
  await chmod(base, 0o755)
  files = join(base, 'data/files')
  await mkdir(files, { recursive: true })
  for (const path of [join(base, 'data'), files]) await chown(path, NOBODY, NOBODY)
  const port = await findFreePort()
  await writeFile(join(base, 'apache.conf'), configurationOf(port))
  const args = ['-f', join(base, 'apache.conf'), '-DFOREGROUND']
  apache = createExec().stream('apache2', args, { onLine: () => undefined, onExit: () => undefined })
  await lab.apply([makeLabRoute(2, port, { domain: HOST })])
  await until('WebDAV', async () => (await ask('GET', '/')).status !== 503)
})

afterAll(async () => {
  apache.stop()
  await until('its end', async () => !(await stat(join(base, 'pid')).catch(() => undefined)))
  await rm(base, { recursive: true, force: true })
})

function ask(method: string, path: string, { headers = {}, body = '' } = {}) {
  return visit({ port: lab.httpsPort, host: HOST, path, method, headers, ...(body && { body }) })
}

describe('WebDAV on a server that speaks http', () => {
  test('moves and copies where its client says', async () => {
    expect((await ask('PUT', '/a%20b', { body: 'text' })).status).toBe(201)
    const to = (path: string) => ({ headers: { destination: `https://${HOST}${path}` } })
    expect((await ask('COPY', '/a%20b', to('/copy'))).status).toBe(201)
    expect((await ask('MOVE', '/a%20b', to('/m%C3%A9'))).status).toBe(201)
    expect((await readdir(files)).filter((name) => !name.startsWith('.')).sort()).toEqual(['copy', 'mé'])
  })

  test('still refuses another host', async () => {
    const headers = { destination: 'https://other.example.com/x' }
    expect((await ask('COPY', '/copy', { headers })).status).toBe(502)
  })
})
