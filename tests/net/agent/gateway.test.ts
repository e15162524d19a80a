import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLab, type Lab, TOKEN, waitFor } from './lab.ts'

/** A host at 192.168.77.10 that knows nothing of the tunnel: what reaches it and is answered was masqueraded. */
let lab: Lab
let table = ''
beforeAll(async () => {
  lab = await createLab()
  const { spaces, links } = lab
  table = `postern_agent_${links.agent}`
  const lan = { node: `${links.agent}l`, host: `${links.agent}h` }
  await lab.inside(
    'node',
    'ip',
    'link',
    'add',
    lan.node,
    'type',
    'veth',
    'peer',
    lan.host,
    'netns',
    spaces.host,
  )
  await lab.inside('node', 'ip', 'addr', 'add', '192.168.77.1/24', 'dev', lan.node)
  await lab.inside('node', 'ip', 'addr', 'add', '192.168.88.1/24', 'dev', lan.node)
  await lab.inside('node', 'ip', 'link', 'set', lan.node, 'up')
  await lab.inside('host', 'ip', 'addr', 'add', '192.168.77.10/24', 'dev', lan.host)
  await lab.inside('host', 'ip', 'addr', 'add', '192.168.88.10/24', 'dev', lan.host)
  await lab.inside('host', 'ip', 'link', 'set', lan.host, 'up')
  await lab.inside('edge', 'ip', 'route', 'add', '192.168.88.0/24', 'dev', links.edge)
  writeFileSync(
    `/etc/netns/${spaces.node}/resolv.conf`,
    'nameserver 192.168.77.99\nnameserver 192.168.77.10\n',
  )
  lab.startNameServer('host', '192.168.77.10')
  await lab.inside('node', 'sysctl', '-qw', 'net.ipv4.ip_forward=0')
  await lab.change({ config: { gateway: [{ interface: lan.node, subnet: '192.168.77.0/24' }] } })
  await lab.connect('--token', TOKEN, '--fingerprint', lab.authority.fingerprint)
})
afterAll(() => lab.dispose())

test('the edge reaches a host behind the gateway, which sees the gateway', async () => {
  expect((await lab.status()).report.notes).toEqual([])
  expect(await lab.isReachable('edge', '192.168.77.10')).toBe(true)
})

test('a network that is not named stays closed, and so does the way into the tunnel', async () => {
  expect(await lab.isReachable('edge', '192.168.88.10')).toBe(false)
  await lab.inside('host', 'ip', 'route', 'add', '10.64.0.0/16', 'via', '192.168.77.1')
  expect(await lab.isReachable('host', '10.64.0.1')).toBe(false)
  await lab.inside('host', 'ip', 'route', 'del', '10.64.0.0/16')
})

test('names behind the gateway resolve for the edge, past a name server that is silent', async () => {
  const answer = await lab.resolve('edge', '10.64.0.2', 'printer.lan')
  expect(answer).toBe('192.168.77.20')
})

test('nobody else gets an answer', async () => {
  expect(await lab.resolve('node', '10.64.0.2', 'printer.lan')).toBe('ETIMEOUT')
  await lab.inside('edge', 'ip', 'addr', 'add', '10.64.0.9/32', 'dev', lab.links.edge)
  expect(await lab.resolve('edge', '10.64.0.2', 'printer.lan', '10.64.0.9')).toBe('ETIMEOUT')
})

test('a name that does not exist keeps its meaning', async () => {
  expect(await lab.resolve('edge', '10.64.0.2', 'nobody.lan')).toBe('ENOTFOUND')
})

test('a firewall that drops forwarded packets is named', async () => {
  writeFileSync(
    `${lab.directory}/docker.nft`,
    'table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; }; }',
  )
  await lab.inside('node', 'nft', '-f', `${lab.directory}/docker.nft`)
  await lab.change({ config: { gateway: [{ interface: 'lan', subnet: '192.168.88.0/24' }] } })
  await lab.tell({ type: 'hint' })
  await waitFor('the note', async () => String((await lab.status()).report.notes).includes('FORWARD'))
  await lab.inside('node', 'nft', 'delete', 'table', 'ip', 'filter')
})

test('another subnet is open at once and the old one closed', async () => {
  await waitFor('the new subnet', () => lab.isReachable('edge', '192.168.88.10'))
  expect(await lab.isReachable('edge', '192.168.77.10')).toBe(false)
})

test('a flushed table is put right', async () => {
  await lab.inside('node', 'nft', 'flush', 'table', 'inet', table)
  await waitFor(
    'the rules',
    async () => (await lab.inside('node', 'nft', 'list', 'ruleset')).includes('masquerade'),
    45_000,
  )
})

test('no gateway any more: table, forwarding and forwarder go', async () => {
  await lab.change({ config: { gateway: null } })
  await lab.tell({ type: 'hint' })
  await waitFor('the table to go', async () => (await lab.inside('node', 'nft', 'list', 'ruleset')) === '')
  await waitFor('port 53 to be free', async () => !(await lab.inside('node', 'ss', '-Hlun', 'sport = :53')))
  expect((await lab.inside('node', 'cat', '/proc/sys/net/ipv4/ip_forward')).trim()).toBe('0')
  expect(readFileSync('/etc/resolv.conf', 'utf8')).not.toContain('192.168.77')
})
