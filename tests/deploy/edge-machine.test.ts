import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddedEdge } from '@postern/contract/edge/join'
import { agentOn } from '@postern/testkit/agent'
import { WITH_CONTROL } from '@postern/testkit/far-edge'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { type FreshMachine, type FreshRoot, makeFreshRoot } from '@postern/testkit/lab/fresh-machine'
import { type Host, type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { must } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEdgeFiles } from '../../apps/server/src/core/edges/program/files.ts'
import { buildWhatIsStale } from '../../scripts/bootstrap/build.mjs'

/**
 * An empty Debian gets all that an edge needs. The archives are reachable at first, and the lab's server afterwards;
 * tests/net/edges/pasted-line.test.ts has the same with systemd.
 */
const ROOT = join(import.meta.dirname, '../..')
const DOMAIN = 'open.example.com'
const EDGE = ['/usr/lib/postern/node_modules/.bin/node', '/usr/lib/postern/apps/edge/dist/edge.mjs']
const OWN_HAPROXY = '/usr/lib/postern/bin/haproxy'

let dir: string

beforeAll(async () => {
  await buildWhatIsStale()
  dir = mkdtempSync(join(tmpdir(), 'pt-edge-machine-'))
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Serves the installer and the edge to this machine's own network. */
async function serveEdge(): Promise<{ url: string; server: Server }> {
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const self = ['openssl', 'req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  await must([...self, '-subj', '/CN=server', '-keyout', key, '-out', cert])
  let url = ''
  const files = createEdgeFiles({ rootDir: ROOT, directory: dir, version: '0.1.0', publicUrl: () => url })
  const archive = await files.archive()
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    if (request.url === '/install/edge.tar.gz') response.end(readFileSync(archive?.path ?? ''))
    else void files.installer().then((installer) => response.end(installer?.content))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, server }
}

describe.each([
  { release: 'trixie', hasOwnHaproxy: true },
  { release: 'bookworm', hasOwnHaproxy: false },
])('an empty $release', ({ release, hasOwnHaproxy }) => {
  let root: FreshRoot
  let lab: Lab
  let installation: Installation
  let machine: FreshMachine

  beforeAll(async () => {
    root = await makeFreshRoot(release, ['curl', 'systemd'])
    lab = await startLab()
    installation = await startInstallation(lab, WITH_CONTROL)
  })

  afterAll(async () => {
    await machine?.close()
    await installation?.close()
    await lab?.close()
    root?.remove()
  })

  test('gets programs, users and units by the line', async () => {
    const { url, server } = await serveEdge()
    const fresh = await root.boot()
    // Nothing boots here: what would be started is only noted.
    const stub = 'printf "#!/bin/sh\\necho \\"\\$@\\" >>/var/systemctl\\n" >/usr/local/sbin/systemctl'
    await fresh.must(
      'sh',
      '-c',
      `mkdir -p /run/systemd/system && ${stub} && chmod 755 /usr/local/sbin/systemctl`,
    )
    const line = `f=$(mktemp) && curl -fsSk ${url}/install/edge.sh -o "$f" && sh "$f"`
    const { code, stdout, stderr } = await fresh.run('sh', '-c', line)
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' })
    expect(stdout).toContain('The edge is installed: /usr/local/bin/postern-edge')
    expect((await fresh.run('test', '-e', OWN_HAPROXY)).code).toBe(hasOwnHaproxy ? 1 : 0)
    expect(await fresh.must('postern-edge', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await fresh.must('cat', '/var/systemctl')).toMatch(
      /^daemon-reload\ntry-restart postern-edge\.service\n$/m,
    )
    expect(await fresh.must('cat', '/etc/systemd/system/postern-edge.service')).toContain(`ExecStart=`)
    await fresh.close()
    server.close()
  })

  test('joins and answers for a service with what it got', async () => {
    const { api, dataDir } = installation
    const node: Host = await lab.plugIn('node', 20)
    await startEcho(node, `${dataDir}/upstreams`, 9000)
    const { id, token } = await api.createNode({ name: 'node' })
    await api.createDomain({ domain: DOMAIN })
    await api.publish(id, { name: 'open', domain: DOMAIN, backendPort: 9000 })
    await agentOn(node, installation).connect(token, '--dns')
    machine = await root.boot(lab.site)
    const added = (await api.call('POST', '/api/edges', { name: 'Frankfurt' })).json as AddedEdge
    await machine.must(...EDGE, 'join', added.join.address, added.join.token)
    machine.start(...EDGE)
    const statusOf = async () =>
      (await visit(lab.visitor, `https://${DOMAIN}/`, { server: lab.site.address })).status
    await until('the service', async () => (await statusOf()) === 200)
  })
})
