import { readFileSync, writeFileSync } from 'node:fs'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab } from './lab.ts'

/** A node that reaches private networks of its own, and a server that names one of them as its tunnel's. */
const lab = shared(createLab)
beforeAll(async () => {
  const bridge = async (name: string, address: string) => {
    await lab.node.must('ip', 'link', 'add', name, 'type', 'bridge')
    await lab.node.must('ip', 'addr', 'add', address, 'dev', name)
    await lab.node.must('ip', 'link', 'set', name, 'up')
  }
  await bridge('lan0', '10.20.0.1/12')
  await bridge('docker0', '172.17.0.1/16')
  await bridge('vpn0', '10.60.0.2/32')
  await lab.node.must('ip', 'route', 'add', '10.60.0.0/16', 'dev', 'vpn0')
  await lab.node.must('ip', 'route', 'add', '10.90.5.0/24', 'via', '203.0.113.9')
  await lab.node.must('ip', 'route', 'add', '192.168.60.0/24', 'dev', 'vpn0', 'table', '52')
  await lab.node.must('ip', '-6', 'route', 'add', 'fd55::/64', 'dev', 'lan0')
})

const connect = () =>
  lab.connect('--token', TOKEN, '--fingerprint', lab.authority.fingerprint, '--wait', '20')

test.each([
  ['is half of its own', ['10.21.0.5/32'], 'reaches by lan0'],
  ['is that of its containers', ['172.17.0.5/32'], 'reaches by docker0'],
  ['is that of another VPN', ['10.60.0.5/32'], 'reaches by vpn0'],
  ['has a network with a route in it', ['10.90.7.5/32'], 'reaches by wire0'],
  ['has a network with a route in another table', ['192.168.60.5/32'], 'reaches by vpn0'],
  ['is its own by IPv6', ['10.64.0.2/32', 'fd55::5/128'], 'reaches by lan0'],
  ['is a public one', ['8.8.0.5/32'], 'is not for private use'],
])('a node does not connect to a tunnel whose network %s', async (_, addresses, why) => {
  await lab.change({ config: { addresses } })
  expect(await connect()).toMatchObject({ code: 13, stderr: expect.stringContaining(why) })
  expect((await lab.node.run('ip', 'link', 'show', lab.links.agent)).code).not.toBe(0)
})

test('nor to one with its name server in it, which only the default route leads to', async () => {
  const file = `/etc/netns/${lab.node.name}/resolv.conf`
  const before = readFileSync(file, 'utf8')
  writeFileSync(file, `${before}nameserver 10.77.0.53\n`)
  await lab.change({ config: { addresses: ['10.77.0.5/32'] } })
  expect(await connect()).toMatchObject({ code: 13, stderr: expect.stringContaining('10.77.0.53') })
  writeFileSync(file, before)
})

test('it connects to one of its own, also again, and by another interface', async () => {
  await lab.change({ config: { addresses: ['10.64.0.2/32', 'fd64::2/128'] } })
  expect(await connect()).toMatchObject({ code: 0 })
  expect(await connect()).toMatchObject({ code: 0 })
  const other = ['--interface', `${lab.links.agent}2`]
  expect(await lab.agent(['connect', ...other])).toMatchObject({ code: 0 })
})
