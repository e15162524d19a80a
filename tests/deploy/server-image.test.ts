import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService, Service, TcpService } from '@postern/contract/services/services'
import { agentOn } from '@postern/testkit/agent'
import { signIn } from '@postern/testkit/api'
import { inspectImage } from '@postern/testkit/containers/build-image'
import type { Container } from '@postern/testkit/containers/container'
import { capabilitySet } from '@postern/testkit/containers/processes'
import {
  buildServerImage,
  composeText,
  type ServerContainers,
  serviceOf,
  startServerContainers,
} from '@postern/testkit/containers/server'
import { buildah } from '@postern/testkit/containers/store'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startListening } from '@postern/testkit/lab/upstreams'
import { suspend } from '@postern/testkit/processes/suspend'
import { LOCAL_NODE } from '@postern/testkit/services'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The image of deploy/docker/Dockerfile, run as deploy/docker/compose.yaml says. */
const program = (name: string) =>
  fileURLToPath(new URL(`../../packages/testkit/src/programs/${name}.ts`, import.meta.url))
const URL_OF_SERVICE = 'https://web.example.com/?bytes=100'

let lab: Lab
const dir = tempDir()
let image: string
let installation: ServerContainers
let node: CreatedNode
let web: HttpService
let tcp: TcpService
let udp: TcpService

beforeAll(async () => {
  image = await buildServerImage()
  lab = await startLab()
  installation = await startServerContainers(lab, dir, { whoami: lab.site.address })
  const { api } = installation
  await startListening(lab.site, [process.execPath, program('counted'), '8080', '8081'], dir, 'counted', 8081)
  node = await api.createNode({ name: 'office' })
  await agentOn(lab.site, installation).connect(node.token)
  web = await api.publish(node.id, {
    name: 'web',
    domain: 'web.example.com',
    backendHost: '127.0.0.1',
    backendPort: 8080,
  })
  const echo = { backendHost: '127.0.0.1', backendPort: 8081 }
  tcp = await api.publishPort(node.id, { name: 'tcp', ...echo })
  udp = await api.publishPort(node.id, { name: 'udp', proto: 'udp', ...echo })
  for (const service of [web, tcp, udp]) await untilLive(service)
})

afterAll(async () => {
  await installation?.close()
  await lab?.close()
})

const untilLive = (service: Service) =>
  until(
    'the service to be live',
    async () => (await installation.api.getService(service)).state.phase === 'live',
  )

const statusOf = async () => (await visit(lab.visitor, URL_OF_SERVICE)).status

/** A visitor for each kind of service. */
async function visitAll(): Promise<void> {
  expect(await statusOf()).toBe(200)
  const echo = (...args: (string | number)[]) =>
    lab.visitor.must(process.execPath, program('echo-visitor'), ...args.map(String))
  // It ends only when everything has come back.
  await echo('tcp', lab.server.address, tcp.port, 100_000)
  expect((await echo('udp', lab.server.address, udp.port, 1000, 5)).trim()).toBe('5')
}

const find = (container: Container, part: string) =>
  container.processes().find(({ argv }) => argv.some((word) => word.includes(part)))

async function kill(container: Container, part: string): Promise<void> {
  const found = find(container, part)
  if (!found) throw new Error(`no process of ${part}`)
  process.kill(found.pid, 'SIGKILL')
  await until(`${part} to be there again`, () => {
    const now = find(container, part)
    return now && now.pid !== found.pid
  })
}

describe('the quick start works in containers', () => {
  test('the first log says where the console is and which password signs in', async () => {
    const log = installation.server.logs()
    expect(log).toMatch(/Console +https:\/\/203\.0\.113\.1\/$/m)
    expect(log).toMatch(/Username +admin$/m)
    expect(log).not.toContain('127.0.0.1')
    expect((await visit(lab.visitor, 'https://203.0.113.1/')).status).toBe(200)
    expect(installation.edge.logs()).toMatch(
      /Data plane +HAProxy \S+, (WireGuard in the kernel|wireguard-go), nftables/,
    )
  })

  test('visitors reach a node’s services over HTTPS, TCP and UDP, on ports that the compose file publishes', async () => {
    await visitAll()
    const { ports = [] } = serviceOf(installation.compose, 'edge')
    const isOpen = (port: number, proto: string) =>
      ports.some((line) => {
        const [, outside = '', last = outside, inside, protocol] =
          /^(\d+)(?:-(\d+))?:([\d-]+)\/(tcp|udp)$/.exec(line) ?? []
        const isSame = inside === line.split(':')[0]
        return isSame && protocol === proto && port >= Number(outside) && port <= Number(last)
      })
    const wanted = [
      [80, 'tcp'],
      [443, 'tcp'],
      [51820, 'udp'],
      [tcp.port, 'tcp'],
      [udp.port, 'udp'],
    ] as const
    expect(wanted.filter(([port, proto]) => !isOpen(port, proto))).toEqual([])
  })

  test('a container beside the edge is published by the name of its service', async () => {
    const backend = { backendHost: 'whoami', backendPort: 8080 }
    const form = { name: 'whoami', domain: 'whoami.example.com', ...backend }
    await untilLive(await installation.api.publish(LOCAL_NODE, form))
    expect(await visit(lab.visitor, 'https://whoami.example.com/?bytes=7')).toMatchObject({
      status: 200,
      body: 'xxxxxxx',
    })
  })

  test('the three lines to edit are at the top', () => {
    const [, ...lines] = composeText().split('\n')
    expect(lines.slice(0, 3).map((line) => line.split(':')[0])).toEqual([
      'x-public-host',
      'x-acme-email',
      'x-image',
    ])
  })
})

test('the image has no npm package except Node', () => {
  const modules = join(installation.server.rootfs, 'opt/postern/node_modules')
  expect(readdirSync(modules, { recursive: true }).sort()).toEqual(['.bin', '.bin/node'])
})

describe('the containers are confined', () => {
  test('the server has no capability, the edge two, HAProxy one, and none can gain more', () => {
    const rights = (container: Container) =>
      container.processes().map(({ name, uid, capabilities, noNewPrivileges }) => {
        return { name: name.replace(/^node.*/, 'node'), uid, ...capabilities, noNewPrivileges }
      })
    const none = capabilitySet()
    const both = capabilitySet('NET_ADMIN', 'NET_BIND_SERVICE')
    const ofServer = { uid: 7400, effective: none, permitted: none, bounding: none, noNewPrivileges: true }
    expect(rights(installation.server)).toEqual(
      ['tini', 'node', 'node'].map((name) => ({ name, ...ofServer })),
    )
    const ofEdge = rights(installation.edge)
    const proxies = ofEdge.filter(({ name }) => name === 'haproxy')
    expect(proxies).toHaveLength(1)
    const low = capabilitySet('NET_BIND_SERVICE')
    for (const each of proxies)
      expect(each).toMatchObject({ effective: low, permitted: low, noNewPrivileges: true })
    for (const each of ofEdge.filter(({ name }) => name !== 'haproxy'))
      expect(each).toMatchObject({
        uid: 0,
        effective: both,
        permitted: both,
        bounding: both,
        noNewPrivileges: true,
      })
  })

  test('the edge sees nothing of the server’s data, and neither can write to the image or set what the kernel does', async () => {
    const { server, edge } = installation
    expect((await edge.exec(['ls', '/var/lib/postern/server'])).stderr).toContain('Permission denied')
    expect((await edge.exec(['sh', '-c', 'echo x > /var/lib/postern/run/x'])).stderr).toMatch(
      /Read-only|Permission/,
    )
    for (const container of [server, edge]) {
      expect((await container.exec(['touch', '/opt/postern/x'])).stderr).toContain('Read-only file system')
      const forward = ['sh', '-c', 'echo 0 > /proc/sys/net/ipv4/ip_forward']
      expect((await container.exec(forward)).stderr).toMatch(/Read-only|Permission/)
    }
    expect((await edge.exec(['unshare', '--user', 'true'])).code).not.toBe(0)
    expect((await server.exec(['ls', '/var/lib/postern/edge'])).stderr).toContain('Permission denied')
  })

  test('no secret is in the image or its metadata', async () => {
    const { Env = [], text } = await inspectImage(image)
    expect(Env.map((line) => line.split('=')[0]).sort()).toEqual(['PATH', 'POSTERN_DATA_DIR'])
    expect(text).not.toContain(installation.password)
    const files = await installation.server.exec([
      'find',
      '/',
      '-xdev',
      '-name',
      '.npmrc',
      '-o',
      '-xdev',
      '-name',
      '*.key',
    ])
    expect(files.stdout).toBe('')
  })
})

describe('traffic outlives the programs', () => {
  test('steady visitors are always answered while server and edge are killed and restarted in place', async () => {
    const haproxy = find(installation.edge, 'haproxy.cfg')?.pid
    let isOver = false
    const statuses: number[] = []
    const coming = (async () => {
      while (!isOver) statuses.push(await statusOf())
    })()
    await kill(installation.server, 'server.mjs')
    await kill(installation.edge, 'edge.mjs')
    await installation.untilApplied()
    isOver = true
    await coming
    expect(statuses.length).toBeGreaterThan(5)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(find(installation.edge, 'haproxy.cfg')?.pid).toBe(haproxy)
  })

  test("the server's container is replaced with one from another image, and no visitor notices", async () => {
    const other = `localhost/postern-server:update-${process.pid}`
    const made = (await buildah('from', '--pull-never', image)).trim()
    await buildah('config', '--label', 'version=next', made)
    await buildah('commit', '--rm', made, other)
    let isOver = false
    const statuses: number[] = []
    const coming = (async () => {
      while (!isOver) statuses.push(await statusOf())
    })()
    const stopped = await installation.server.stop()
    expect(stopped).toMatchObject({ code: 0 })
    expect(stopped.seconds).toBeLessThan(10)
    await installation.start('server', { image: other })
    await until('the server to be well', async () => (await installation.server.health()).code === 0)
    await installation.untilApplied()
    isOver = true
    await coming
    expect(new Set(statuses)).toEqual(new Set([200]))
    // The account already exists: no password is generated, and the old one stays valid.
    expect(installation.server.logs()).not.toContain('Password')
    await signIn(`${dir}/run/server.sock`, 'admin', installation.password)
    await installation.server.stop()
    await installation.start('server')
    await installation.untilApplied()
    await buildah('rmi', other)
  })

  test('a new edge container serves the last good state, even before the server is up', async () => {
    const [server, edge] = await Promise.all([installation.server.stop(), installation.edge.stop()])
    expect(Math.max(server.seconds, edge.seconds)).toBeLessThan(10)
    expect([server.code, edge.code]).toEqual([0, 0])
    await installation.start('edge')
    await until('the service to answer again', async () => (await statusOf()) === 200)
    await installation.start('server')
    await installation.untilApplied()
    await untilLive(udp)
    await until('all to be answered', async () => {
      await visitAll()
      return true
    })
  })
})

describe('the health check says', () => {
  const health = async (container: Container) => (await container.health()).code

  test('that both are healthy', async () => {
    expect([await health(installation.server), await health(installation.edge)]).toEqual([0, 0])
  })

  test.for([
    ['server', 'server.mjs'],
    ['edge', 'edge.mjs'],
    ['edge', 'haproxy.cfg'],
  ] as const)('that the %s is not while %s does not answer', async ([name, part]) => {
    const container = installation[name]
    const stuck = find(container, part)?.pid ?? 0
    await suspend(stuck)
    try {
      expect(await health(container)).toBe(1)
    } finally {
      // A process that hangs for long is replaced.
      if (find(container, part)?.pid === stuck) process.kill(stuck, 'SIGCONT')
    }
    await until('it to be well again', async () => (await health(container)) === 0)
  })
})

test('a forgotten password is replaced while the server is stopped, and not while it runs', async () => {
  const tool = ['node', '/opt/postern/scripts/dist/container.mjs', 'password']
  expect((await installation.server.exec(tool)).stderr).toContain('a server already answers')
  await installation.server.stop()
  await installation.start('server', { entrypoint: ['tini', '--', 'sleep', 'infinity'] })
  const { stdout } = await installation.server.exec(tool)
  await installation.server.stop()
  await installation.start('server')
  const password = /Password +(\S+)/.exec(stdout)?.[1] ?? ''
  const signInWith = (word: string) => signIn(`${dir}/run/server.sock`, 'admin', word)
  await until('the new password to be taken', () => signInWith(password))
  await expect(signInWith(installation.password)).rejects.toThrow('401')
})

test('ended containers leave nothing behind', async () => {
  const pids = [...installation.server.pids(), ...installation.edge.pids()]
  await Promise.all([installation.server.stop(), installation.edge.stop()])
  const alive = pids.filter((pid) => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  })
  expect(alive).toEqual([])
  expect(await lab.server.must('ip', '-br', 'link')).not.toContain('postern0')
})
