import { writeFileSync } from 'node:fs'
import { must } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { renderNodeFile } from '../../../apps/server/src/core/nodes/file.ts'
import { resolve } from '../agent/lab.ts'
import type { LabEdge } from './edge.ts'
import { AT, startEdgesLab, TARGETS } from './lab.ts'

const lab = shared(startEdgesLab)
type LabAgent = Awaited<ReturnType<typeof lab.startAgent>>
let site: LabAgent
let gateway: LabAgent
let first: LabEdge
let second: LabEdge
let third: LabEdge
let privateKey = ''

beforeAll(async () => {
  await lab.startPrograms()
  const [one, two, three] = lab.edges
  if (!one || !two || !three) throw new Error('three edges')
  ;[first, second, third] = [one, two, three]
  site = await lab.startAgent('site', lab.site, 443)
  gateway = await lab.startAgent('gateway', lab.gateway, 444, '--gateway=192.168.77.0/24')
  privateKey = (await must(['wg', 'genkey'])).trim()
  await lab.admit('filed', (await must(['wg', 'pubkey'], { input: privateKey })).trim())
  await bringUpFile(3)
})

const device = () => `${lab.id}f`

/** The node's file as it was downloaded when there were so many edges. */
async function bringUpFile(edges: number): Promise<void> {
  const file = `${lab.directory}/${device()}.conf`
  const quick = (verb: string) =>
    `WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-go wg-quick ${verb} ${file} >> ${lab.directory}/quick.log 2>&1`
  await lab.filed.run('sh', '-c', quick('down'))
  const config = lab.configOf('filed')
  const { text } = renderNodeFile({ ...config, edges: config.edges?.slice(0, edges) }, privateKey)
  writeFileSync(file, text, { mode: 0o600 })
  await lab.filed.must('sh', '-c', quick('up'))
  for (const edge of lab.edges.slice(0, edges))
    await until(`the file's tunnel to edge ${edge.number}`, async () => {
      return (await askFiled(edge)) === `filed ${own4(edge)}`
    })
}

const askFiled = (edge: LabEdge) => lab.ask(lab.visitor, 'tcp', edge.address, AT.filed)

const own4 = ({ number }: LabEdge) => (number === 1 ? '10.64.0.1' : `10.64.255.${number}`)
const own6 = ({ number }: LabEdge) => (number === 1 ? 'fd00:1:2::1' : `fd00:1:2::a40:ff0${number}`)
const port = async ({ space, device }: LabAgent) =>
  (await space.must('wg', 'show', device, 'listen-port')).trim()
/** The interface's number, and WireGuard's port on the node: both are others after a restart. */
const identity = async (agent: LabAgent) =>
  `${(await agent.space.must('ip', '-o', 'link', 'show', agent.device)).split(':')[0]} ${await port(agent)}`

async function expectAll(edge: LabEdge): Promise<void> {
  const ask = (proto: 'tcp' | 'udp', at: number, host = edge.address) => lab.ask(lab.visitor, proto, host, at)
  expect({
    loopback: await ask('tcp', AT.loopback),
    loopbackUdp: await ask('udp', AT.loopbackUdp),
    lan: await ask('tcp', AT.lan),
    lanUdp: await ask('udp', AT.lanUdp),
    filed: await ask('tcp', AT.filed),
    udp6: await ask('udp', AT.udp6, `2001:db8::${20 + edge.number}`),
  }).toEqual({
    loopback: `loopback ${own4(edge)}`,
    loopbackUdp: `loopback ${own4(edge)}`,
    lan: 'lan 192.168.77.1',
    lanUdp: 'lan 192.168.77.1',
    filed: `filed ${own4(edge)}`,
    udp6: `six ${own6(edge)}`,
  })
}

test('every edge serves all services at once: TCP, UDP, IPv6 inside, loopback, behind a gateway, with a file', async () => {
  await Promise.all(lab.edges.map(expectAll))
  expect(lab.edges.flatMap((edge) => edge.problems())).toEqual([])
  const { code, report } = await site.status()
  expect(code).toBe(0)
  expect(report).toMatchObject({ state: 'online', problem: null, notes: [] })
  expect(report.edges).toMatchObject(
    lab.edges.map((edge) => ({
      name: `edge-${edge.number}`,
      address: own4(edge),
      state: 'online',
      problem: null,
      endpoint: `${edge.address}:51820`,
      latestHandshake: expect.any(Number),
    })),
  )
  const { stdout } = await site.agent('status')
  expect(stdout.match(/^Edge .*$/gm)).toEqual(
    lab.edges.map(({ number, address }) =>
      expect.stringMatching(
        `^Edge +edge-${number} \\(10\\.64\\.\\d+\\.${number}\\), online, handshake \\d+ s ago, ${address}:51820$`,
      ),
    ),
  )
})

test('a gateway resolves the names of its network for every edge', async () => {
  for (const edge of lab.edges)
    expect(await resolve(edge.space, '10.64.0.3', 'printer.lan')).toBe('192.168.77.20')
})

test('each edge reaches on a node what the others may, no port more, and speaks only for itself', async () => {
  for (const edge of lab.edges) {
    const ask = (at: number) => lab.ask(edge.space, 'tcp', '10.64.0.2', at)
    expect([await ask(8001), await ask(8009)]).toEqual([`loopback ${own4(edge)}`, 'silence'])
  }
  // A hostile edge, which would otherwise repair it, under the address of another, and of a node.
  second.suspend()
  for (const stolen of [own4(first), own4(third), '10.64.0.3']) {
    await second.space.must('ip', 'addr', 'add', `${stolen}/32`, 'dev', second.tunnel)
    await second.space.must('ip', 'route', 'add', '10.64.0.2/32', 'dev', second.tunnel, 'src', stolen)
    expect(await lab.ask(second.space, 'tcp', '10.64.0.2', 8001)).toBe('silence')
    await second.space.must('ip', 'route', 'del', '10.64.0.2/32', 'dev', second.tunnel)
    await second.space.must('ip', 'addr', 'del', `${stolen}/32`, 'dev', second.tunnel)
  }
  second.resume()
  expect(await lab.ask(second.space, 'tcp', '10.64.0.2', 8001)).toBe(`loopback ${own4(second)}`)
})

test('with one edge cut off nothing fails at the others, and it is back with its link', async () => {
  const before = await Promise.all([identity(site), identity(gateway)])
  const visits = async () => {
    const found = await Promise.all(
      [first, third].flatMap((edge) => [AT.loopback, AT.lan, AT.filed].map((at) => lab.visit(edge, at, 200))),
    )
    return found.map(({ failed }) => failed)
  }
  const running = visits()
  await lab.link(second, 'down')
  expect(await running).toEqual([0, 0, 0, 0, 0, 0])
  const seen = await until('the agent to see it', async () => {
    const { code, report } = await site.status()
    return report.edges[1].state !== 'online' && { code, report }
  })
  expect(seen.code).toBe(0)
  expect(seen.report).toMatchObject({ state: 'online', problem: null })
  expect(seen.report.notes).toEqual([seen.report.edges[1].problem])
  expect(seen.report.notes[0]).toContain('edge-2')
  expect(seen.report.edges.map(({ state }: { state: string }) => state === 'online')).toEqual([
    true,
    false,
    true,
  ])
  expect(await visits()).toEqual([0, 0, 0, 0, 0, 0])
  await lab.link(second, 'up')
  const began = performance.now()
  for (const at of [AT.loopback, AT.lan, AT.filed])
    await until('the edge to serve again', async () => (await lab.visit(second, at, 1)).failed === 0)
  // Five times what is promised, for a busy machine.
  expect(performance.now() - began).toBeLessThan(10_000)
  await until('the agent to see it', async () => (await site.status()).report.edges[1].state === 'online')
  await expectAll(second)
  expect(await Promise.all([identity(site), identity(gateway)])).toEqual(before)
})

describe('an agent', () => {
  it('follows edges that go and come, and the others do not notice', async () => {
    const before = await identity(site)
    const { edges = [] } = lab.configOf('site')
    const running = lab.visit(first, AT.loopback, 400)
    await site.tellAgent({ edges: edges.slice(0, 2) })
    const peers = async () =>
      (await lab.site.must('wg', 'show', site.device, 'peers')).trim().split('\n').sort()
    const has = (some: readonly LabEdge[]) => {
      const keys = some.map(({ publicKey }) => publicKey).sort()
      return until('the peers', async () => (await peers()).join() === keys.join())
    }
    await has([first, second])
    expect(await lab.ask(third.space, 'tcp', '10.64.0.2', 8001)).toBe('silence')
    await site.tellAgent({ edges })
    await has(lab.edges)
    await until('the third edge', async () => (await lab.visit(third, AT.loopback, 1)).failed === 0)
    expect(await running).toMatchObject({ failed: 0 })
    expect(await identity(site)).toBe(before)
  })

  it('of an older server goes on with the edge beside it, and takes up the others after the upgrade', async () => {
    const before = await identity(site)
    const { edges } = lab.configOf('site')
    const running = lab.visit(first, AT.loopback, 400)
    await site.tellAgent({ edges: undefined })
    const states = async () => (await site.status()).report.edges.map(({ name }: { name: string }) => name)
    await until('the only edge', async () => (await states()).join() === '')
    expect(await lab.visit(first, AT.loopback, 20)).toMatchObject({ failed: 0 })
    expect((await site.status()).code).toBe(0)
    await site.tellAgent({ edges })
    await until('all edges', async () => (await states()).length === 3)
    expect(await running).toMatchObject({ failed: 0 })
    await Promise.all(lab.edges.map(expectAll))
    expect(await identity(site)).toBe(before)
  })

  it('does not wait for an edge whose name cannot be found, which goes on where it was', async () => {
    const { edges = [] } = lab.configOf('site')
    const lost = edges.map((edge) =>
      edge.id === 3 ? { ...edge, peer: { ...edge.peer, endpoint: 'nowhere.example:51820' } } : edge,
    )
    const began = performance.now()
    await site.tellAgent({ edges: lost, targets: { ...TARGETS, tcp: [8001, 8009] } })
    const another = () => lab.ask(first.space, 'tcp', '10.64.0.2', 8009)
    await until('another port', async () => (await another()) === 'private 10.64.0.1')
    // Five times what is promised; the name server's silence lasts ten seconds.
    expect(performance.now() - began).toBeLessThan(5000)
    expect(await lab.visit(third, AT.loopback, 20)).toMatchObject({ failed: 0 })
    await site.tellAgent({ edges, targets: TARGETS })
    await until('it to close', async () => (await another()) === 'silence')
  })

  it('says that the node is not online when no edge carries its traffic', async () => {
    for (const edge of lab.edges) await lab.link(edge, 'down')
    const seen = await until('the state', async () => {
      const { code, report } = await site.status()
      return code !== 0 && { code, report }
    })
    expect(['no-traffic', 'no-handshake']).toContain(seen.report.state)
    expect([9, 10]).toContain(seen.code)
    for (const edge of lab.edges) await lab.link(edge, 'up')
    await until('the state', async () => (await site.status()).code === 0)
  })
})

test('what knows only the edge beside the server goes on with that one: an older agent, a file of before', async () => {
  await bringUpFile(1)
  for (const edge of [second, third]) expect(await askFiled(edge)).not.toContain('filed')
  expect(await lab.visit(first, AT.filed, 20)).toMatchObject({ failed: 0 })
  await bringUpFile(3)
})
