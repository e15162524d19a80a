import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '@postern/contract/config'
import type { Domain } from '@postern/contract/domains'
import { installationPaths } from '@postern/contract/installation'
import { type Api, signIn } from '@postern/testkit/api'
import { type Authority, startAuthority } from '@postern/testkit/authority/ordering-lab'
import { type FreshMachine, type FreshRoot, makeFreshRoot } from '@postern/testkit/lab/fresh-machine'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyOwnNode } from '../../scripts/package/runtimes.ts'
import { writeSingleFile } from '../../scripts/package/single-file.ts'

/** What a person reads from the first line to the removal. */
const GUIDE = ['README.md', 'docs/from-a-clone.md']
  .map((page) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8'))
  .join('\n')
const CLONE = '/opt/postern'
const OWN_HAPROXY = '/usr/lib/postern/bin/haproxy'
const OWN_PROGRAMS = ['haproxy', 'wireguard-go', 'node', 'postern']
const SERVICE = 'https://service.example.com/'
/** Where the server finds what the authority's own certificate is signed with. */
const AUTHORITY = '/etc/ssl/authority.pem'
const paths = installationPaths('/var/lib/postern')

/** The libraries that Node.js from nodejs.org is linked with. */
const PACKAGES = ['libatomic1']

/** A line of the guide for a person to type, found by how it begins. */
function typedLine(beginning: string): string {
  const line = GUIDE.split('\n').find((each) => each.trim().startsWith(beginning))
  if (line === undefined) throw new Error(`the guide has no line that begins with ${beginning}`)
  return line.trim()
}

describe.each([
  { release: 'trixie', other: 'bookworm', hasOwnHaproxy: true, isSingleFile: false },
  { release: 'bookworm', other: 'trixie', hasOwnHaproxy: false, isSingleFile: true },
])('an empty $release and a node on an empty $other', ({ release, other, hasOwnHaproxy, isSingleFile }) => {
  let dir: string
  let lab: Lab
  let authority: Authority
  let roots: { server: FreshRoot; site: FreshRoot }
  let server: FreshMachine
  let site: FreshMachine
  let starter: Running
  let api: Api

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'pt-newcomer-'))
    const [one, two] = [await makeFreshRoot(release, PACKAGES), await makeFreshRoot(other, PACKAGES)]
    roots = { server: one, site: two }
    await roots.server.addNode()
    await roots.server.addClone()
    lab = await startLab()
    await startEcho(lab.site, dir, 8080)
    authority = await startAuthority(lab)
    copyFileSync(authority.pebble.caFile, join(roots.server.path, AUTHORITY))
  })

  afterAll(async () => {
    await server?.close()
    await site?.close()
    await authority?.pebble.close()
    await lab?.close()
    for (const root of Object.values(roots ?? {})) root.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  const npm = (machine: FreshMachine, ...args: string[]) => machine.run('npm', '--prefix', CLONE, ...args)
  const statusOf = async (url: string) => (await visit(lab.visitor, url)).status

  async function start(): Promise<string> {
    const own = { POSTERN_PUBLIC_HOST: lab.server.address, POSTERN_ACME_CA_FILE: AUTHORITY }
    const settings = Object.entries({ ...authority.settings, ...own }).map((pair) => pair.join('='))
    starter = server.start('env', ...settings, 'npm', '--prefix', CLONE, 'start')
    const isDone = () => !starter.isRunning() || starter.output().includes('Ctrl-C')
    await until('the start to be complete', isDone, { timeoutMs: 120_000 })
    return starter.output()
  }

  async function pressCtrlC(): Promise<void> {
    await server.must('sh', '-c', `kill -INT "$(cut -d ' ' -f 1 ${paths.starterPid})"`)
    await starter.exited
  }

  /** What runs there, by the names of the programs. */
  const listPrograms = async (machine: FreshMachine) =>
    (await machine.must('sh', '-c', 'cat /proc/[0-9]*/comm 2>/dev/null || true')).split('\n')

  test('everything needed is installed while the archives are reachable', async () => {
    const machine = await roots.server.boot()
    // It installs and builds what npm start does, and starts nothing.
    const { code, stdout, stderr } = await npm(machine, 'run', 'install-service', '--', '--print')
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' })
    expect(stdout.includes('Fetching HAProxy of Debian 13')).toBe(!hasOwnHaproxy)
    await machine.close()
    expect(existsSync(join(roots.server.path, 'usr/sbin/haproxy'))).toBe(hasOwnHaproxy)
    const node = await roots.site.boot()
    await node.must('apt-get', 'update')
    const line = typedLine('apt install --no-install-recommends').replace('install', 'install -y')
    await node.must('sh', '-c', `${isSingleFile ? line.replace(' nodejs', '') : line} wireguard-go`)
    await node.close()
    if (isSingleFile) await installSingleFile()
  })

  async function installSingleFile(): Promise<void> {
    const [node, single] = [join(dir, 'node'), join(dir, 'postern-linux-x64')]
    await copyOwnNode(node)
    await writeSingleFile(node, 'x64', single)
    const place = join(roots.site.path, 'usr/local/bin/postern')
    copyFileSync(single, place)
    chmodSync(place, 0o755)
  }

  test('npm start prints the console’s address and the password, with HAProxy 3', async () => {
    server = await roots.server.boot(lab.server)
    site = await roots.site.boot(lab.site)
    const output = await start()
    expect(output).toContain(`https://${lab.server.address}/`)
    expect(output).toMatch(
      /^ +Data plane +HAProxy 3\.\S+, (WireGuard in the kernel|wireguard-go), nftables$/m,
    )
    expect((await server.run('test', '-e', OWN_HAPROXY)).code).toBe(hasOwnHaproxy ? 1 : 0)
    const password = /Password +(\S+)/.exec(output)?.[1] ?? ''
    api = await signIn(server.pathOf(paths.serverSocket), 'admin', password)
    expect(await statusOf(`https://${lab.server.address}/`)).toBe(200)
  })

  test('the lines of the README connect a node, and its service is answered', async () => {
    const { publicUrl, caFingerprint, installerSha256 } = (await api.call('GET', '/api/config'))
      .json as Config
    const install = typedLine('f=$(mktemp)')
      .replace('https://SERVER', publicUrl)
      .replace('CHECKSUM', installerSha256 ?? '')
    if (!isSingleFile) await site.must('sh', '-c', install)
    else expect((await site.run('sh', '-c', 'command -v node')).stdout).toBe('')
    const node = await api.createNode({ name: 'site' })
    const connect = typedLine('echo TOKEN')
      .replace('TOKEN', node.token)
      .replace('https://SERVER', publicUrl)
      .replace(/sha256:\S*/, caFingerprint)
    expect(await site.must('sh', '-c', connect)).toContain('Connection established!')
    await api.publish(node.id, { name: 'service', domain: 'service.example.com', backendPort: 8080 })
    await until('the service to answer', async () => (await statusOf(SERVICE)) === 200)
  })

  test('its domain gets a certificate of the authority, which a visitor trusts', async () => {
    const domain = 'shop.test'
    const { id } = (await api.call('POST', '/api/domains', { domain, ssl: 'certbot' })).json as Domain
    const [node] = (await api.call('GET', '/api/nodes?search=site')).json as { id: number }[]
    await api.publish(node?.id ?? 0, { name: 'shop', domain, backendPort: 8080 })
    const certificate = async () => ((await api.call('GET', `/api/domains/${id}`)).json as Domain).certificate
    await until('the certificate', async () => (await certificate()).status === 'valid')
    const root = join(dir, 'root.pem')
    writeFileSync(root, await authority.pebble.root())
    const address = ['--resolve', `${domain}:443:${lab.server.address}`]
    await until('the service', () =>
      lab.visitor.must('curl', '-sf', '--cacert', root, ...address, `https://${domain}/`),
    )
  })

  test('Ctrl-C, an update and another start do not interrupt traffic', async () => {
    await pressCtrlC()
    expect(await statusOf(SERVICE)).toBe(200)
    expect(await start()).toMatch(/^ +Data plane +HAProxy 3\./m)
    expect(await statusOf(SERVICE)).toBe(200)
  })

  test('npm stop and the lines of the guide leave nothing', async () => {
    await site.must('sh', '-c', /`(postern disconnect --forget[^`]*)`/.exec(GUIDE)?.[1] ?? 'false')
    const { code, stdout, stderr } = await npm(server, 'stop')
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' })
    await starter.exited
    for (const machine of [server, site]) {
      expect(await machine.must('nft', 'list', 'tables')).toBe('')
      expect(await machine.must('ip', '-br', 'link', 'show')).not.toMatch(/^postern/m)
      const listOwn = async () => (await listPrograms(machine)).filter((name) => OWN_PROGRAMS.includes(name))
      // wireguard-go ends by itself a moment after its interface is gone.
      await expect.poll(listOwn).toEqual([])
    }
    for (const beginning of ['sudo rm -rf /var/lib/postern', 'sudo userdel postern'])
      await server.must('sh', '-c', typedLine(beginning).replaceAll('sudo ', ''))
    const files = `find / -xdev -path '*postern*' -not -path '${CLONE}*'`
    for (const machine of [server, site]) {
      expect(await machine.must('sh', '-c', files)).toBe('')
      expect((await machine.run('getent', 'passwd', 'postern-proxy')).code).not.toBe(0)
    }
  })
})
