import { readFileSync, writeFileSync } from 'node:fs'
import { addNamespace, connect } from '@postern/testkit/lab/namespace'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab, isReachable } from './lab.ts'

/** A server that somebody has taken over, and a node that was connected as a plain one. */
const lab = shared(createLab)
const host = shared(
  () => addNamespace(`${lab.id}-host`),
  (it) => it.remove(),
)
beforeAll(async () => {
  await connect(lab.node, 'lan0', host, 'lan0')
  for (const network of ['192.168.77', '169.254.169']) {
    await lab.node.must('ip', 'addr', 'add', `${network}.1/24`, 'dev', 'lan0')
    await host.must('ip', 'addr', 'add', `${network}.254/24`, 'dev', 'lan0')
  }
  await lab.edge.must('ip', 'route', 'add', '169.254.169.0/24', 'dev', lab.links.edge)
  await lab.edge.must('ip', 'addr', 'add', '198.51.100.1/32', 'dev', 'lo')
})

const HOSTILE = ['169.254.169.0/24', '192.168.77.0/24'].map((subnet) => ({ interface: 'lan0', subnet }))
const notes = async () => String((await lab.status()).report.notes)
const connectPlain = (...args: string[]) =>
  lab.agent(['connect', '--url', 'https://203.0.113.1', '--interface', lab.links.agent, ...args])

async function attack(): Promise<void> {
  const { peer } = lab.config()
  const allowedIps = ['0.0.0.0/0', '::/0']
  const addresses = ['10.64.0.2/32', 'fd64::2/128', '198.18.0.1/15']
  await lab.change({
    config: { gateway: HOSTILE, dns: ['10.64.0.1'], addresses, peer: { ...peer, allowedIps } },
  })
  await lab.tell({ type: 'hint' })
}

test('whatever the server wants later, a plain node stays plain, and its status says what was refused', async () => {
  const { code } = await connectPlain('--token', TOKEN, '--fingerprint', lab.authority.fingerprint)
  expect(code).toBe(0)
  await attack()
  await until('the notes', async () => (await notes()).includes('192.168.77.0/24'))
  const shown = await notes()
  for (const part of [
    '--gateway=192.168.77.0/24',
    '--all-traffic',
    '--dns',
    '198.18.0.1/15',
    'never forwards',
  ])
    expect(shown).toContain(part)
  const reported = () => lab.calls.findLast(({ path }) => path === '/api/agent/report')?.body ?? '{}'
  await until('the report', () => reported().includes('192.168.77.0/24'))
  expect(JSON.parse(reported()).beyond).toEqual({
    gateway: ['169.254.169.0/24', '192.168.77.0/24'],
    tunnel: ['198.18.0.1/15'],
    allTraffic: true,
    dns: true,
  })
  expect(await isReachable(lab.edge, '192.168.77.254')).toBe(false)
  expect(await isReachable(lab.edge, '169.254.169.254')).toBe(false)
  expect(await isReachable(lab.node, '198.51.100.1')).toBe(false)
  expect(await lab.node.must('ip', '-br', 'addr', 'show', lab.links.agent)).not.toContain('198.18.')
  expect(await lab.node.must('nft', 'list', 'tables')).not.toContain('postern_agent_')
  expect(await isReachable(lab.node, '10.64.0.1')).toBe(true)
})

test("it still holds after a restart, although the server's answer is what is stored", async () => {
  process.kill(lab.daemonPid(), 'SIGKILL')
  await until('the daemon to be gone', async () => (await lab.status()).report.state === 'stopped')
  expect((await lab.agent(['connect'])).stderr).toContain('unusable addresses')
  await lab.change({ config: { addresses: ['10.64.0.2/32', 'fd64::2/128'] } })
  expect((await lab.agent(['connect'])).code).toBe(0)
  expect(await isReachable(lab.edge, '192.168.77.254')).toBe(false)
  expect(await isReachable(lab.node, '198.51.100.1')).toBe(false)
})

test('it becomes what its owner allows; it never forwards to link-local networks', async () => {
  const { stdout } = await connectPlain('--gateway', '--all-traffic')
  expect(stdout).toContain('Note: The server wants this node to forward to 169.254.169.0/24')
  await until('the network', () => isReachable(lab.edge, '192.168.77.254'))
  await until('all traffic', () => isReachable(lab.node, '198.51.100.1'))
  expect(await isReachable(lab.edge, '169.254.169.254')).toBe(false)
})

test('--plain takes it back', async () => {
  await connectPlain('--plain')
  await until('the network to close', async () => !(await isReachable(lab.edge, '192.168.77.254')))
  expect(await isReachable(lab.node, '198.51.100.1')).toBe(false)
})

test('a gateway that an older agent connected stays a gateway, into the same networks', async () => {
  await connectPlain('--gateway=192.168.77.0/24')
  const file = `${lab.configDir}/agent.json`
  const { policy: _, ...older } = JSON.parse(readFileSync(file, 'utf8'))
  await lab.agent(['disconnect'])
  writeFileSync(file, JSON.stringify(older))
  writeFileSync(
    `${lab.configDir}/last-good.json`,
    JSON.stringify({ ...lab.config(), gateway: HOSTILE.slice(1) }),
  )
  const daemon = lab.startDaemon()
  await until('the network', () => isReachable(lab.edge, '192.168.77.254'))
  expect(JSON.parse(readFileSync(file, 'utf8')).policy).toMatchObject({ gateway: ['192.168.77.0/24'] })
  await lab.change({ config: { gateway: [{ interface: 'wire0', subnet: '203.0.113.0/24' }] } })
  await lab.tell({ type: 'hint' })
  await until('the note', async () => (await notes()).includes('--gateway=192.168.77.0/24,203.0.113.0/24'))
  await daemon.stop()
})
