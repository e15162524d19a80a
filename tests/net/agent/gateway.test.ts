import { readFileSync, writeFileSync } from 'node:fs'
import { addNamespace, connect } from '@postern/testkit/lab/namespace'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab, isReachable, resolve, startNameServer } from './lab.ts'

/** A host at 192.168.77.10 that does not know the tunnel: packets that reach it and are answered were masqueraded. */
const lab = shared(createLab)
const host = shared(
  () => addNamespace(`${lab.id}-host`),
  (it) => it.remove(),
)
beforeAll(async () => {
  await connect(lab.node, 'lan0', host, 'lan0')
  for (const network of ['192.168.77', '192.168.88']) {
    await lab.node.must('ip', 'addr', 'add', `${network}.1/24`, 'dev', 'lan0')
    await host.must('ip', 'addr', 'add', `${network}.10/24`, 'dev', 'lan0')
  }
  await lab.edge.must('ip', 'route', 'add', '192.168.88.0/24', 'dev', lab.links.edge)
  writeFileSync(
    `/etc/netns/${lab.node.name}/resolv.conf`,
    'nameserver 192.168.77.99\nnameserver 192.168.77.10\n',
  )
  startNameServer(host, '192.168.77.10', lab.directory)
  await lab.node.must('sysctl', '-qw', 'net.ipv4.ip_forward=0')
  await lab.change({ config: { gateway: [{ interface: 'lan0', subnet: '192.168.77.0/24' }] } })
  await lab.connect('--token', TOKEN, '--fingerprint', lab.authority.fingerprint)
})

test('the edge reaches a host behind the gateway, which sees the gateway', async () => {
  expect((await lab.status()).report.notes).toEqual([])
  expect(await isReachable(lab.edge, '192.168.77.10')).toBe(true)
})

test('an unlisted network stays closed, and so does the way into the tunnel', async () => {
  expect(await isReachable(lab.edge, '192.168.88.10')).toBe(false)
  await host.must('ip', 'route', 'add', '10.64.0.0/16', 'via', '192.168.77.1')
  expect(await isReachable(host, '10.64.0.1')).toBe(false)
  await host.must('ip', 'route', 'del', '10.64.0.0/16')
})

test('names behind the gateway resolve for the edge, past a name server that is silent', async () => {
  const answer = await resolve(lab.edge, '10.64.0.2', 'printer.lan')
  expect(answer).toBe('192.168.77.20')
})

test('nobody else gets an answer', async () => {
  expect(await resolve(lab.node, '10.64.0.2', 'printer.lan')).toBe('ETIMEOUT')
  await lab.edge.must('ip', 'addr', 'add', '10.64.0.9/32', 'dev', lab.links.edge)
  expect(await resolve(lab.edge, '10.64.0.2', 'printer.lan', '10.64.0.9')).toBe('ETIMEOUT')
})

test('a name that does not exist is answered as such', async () => {
  expect(await resolve(lab.edge, '10.64.0.2', 'nobody.lan')).toBe('ENOTFOUND')
})

test('a firewall that drops forwarded packets is named', async () => {
  writeFileSync(
    `${lab.directory}/docker.nft`,
    'table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; }; }',
  )
  await lab.node.must('nft', '-f', `${lab.directory}/docker.nft`)
  await lab.change({ config: { gateway: [{ interface: 'lan', subnet: '192.168.88.0/24' }] } })
  await lab.tell({ type: 'hint' })
  await until('the note', async () => String((await lab.status()).report.notes).includes('FORWARD'))
  await lab.node.must('nft', 'delete', 'table', 'ip', 'filter')
})

test('a new subnet opens at once, and the old one closes', async () => {
  await until('the new subnet', () => isReachable(lab.edge, '192.168.88.10'))
  await until('the old one to close', async () => !(await isReachable(lab.edge, '192.168.77.10')))
})

test('a flushed table is restored', async () => {
  await lab.node.must('nft', 'flush', 'table', 'inet', `postern_agent_${lab.links.agent}`)
  await until(
    'the rules',
    async () => (await lab.node.must('nft', 'list', 'ruleset')).includes('masquerade'),
    { timeoutMs: 45_000 },
  )
})

test('no gateway any more: table, forwarding and forwarder go', async () => {
  await lab.change({ config: { gateway: null } })
  await lab.tell({ type: 'hint' })
  // That of services stays: it keeps what is not published closed.
  const tables = () => lab.node.must('nft', 'list', 'tables')
  await until('the table to go', async () => !(await tables()).includes('postern_agent_'))
  await until('port 53 to be free', async () => !(await lab.node.must('ss', '-Hlun', 'sport = :53')))
  const isForwarding = async () =>
    (await lab.node.must('cat', '/proc/sys/net/ipv4/ip_forward')).trim() === '1'
  await until('forwarding to end', async () => !(await isForwarding()))
  expect(readFileSync('/etc/resolv.conf', 'utf8')).not.toContain('192.168.77')
})
