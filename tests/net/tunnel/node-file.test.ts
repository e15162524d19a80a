import { writeFileSync } from 'node:fs'
import { addNamespace, connect, type Namespace } from '@postern/testkit/lab/namespace'
import { must } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderNodeFile } from '../../../apps/server/src/core/nodes/file.ts'
import { createLab, isReachable } from '../agent/lab.ts'

/**
 * The downloaded file of a gateway for 192.168.77.0/24, brought up by wg-quick. `host` has an address in that network
 * and one in a network that the gateway does not list, and answers all requests via the edge.
 */
let host: Namespace
let name: string

const lab = shared(
  () => createLab(),
  (it) => it.close(),
)
beforeAll(async () => {
  name = lab.links.agent
  host = await addNamespace(`${lab.id}-host`)
  await connect(lab.node, 'lan0', host, 'lan0')
  for (const network of ['192.168.77', '192.168.88']) {
    await lab.node.must('ip', 'addr', 'add', `${network}.1/24`, 'dev', 'lan0')
    await host.must('ip', 'addr', 'add', `${network}.10/24`, 'dev', 'lan0')
  }
  await host.must('ip', 'route', 'add', '10.64.0.0/16', 'via', '192.168.77.1')
  await lab.edge.must('ip', 'route', 'add', '192.168.88.0/24', 'dev', lab.links.edge)
})
afterAll(async () => {
  await wgQuick('down')
  await host.remove()
})

const file = () => `${lab.directory}/${name}.conf`

/** @returns its exit code. Its streams stay open, since wireguard-go, which it starts, keeps them. */
async function wgQuick(verb: 'up' | 'down'): Promise<number | null> {
  const command = ['env', 'WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-go', 'wg-quick', verb, file()]
  const script = `${command.join(' ')} > ${lab.directory}/quick.log 2>&1`
  return (await lab.node.run('sh', '-c', script)).code
}

async function writeNodeFile(): Promise<void> {
  const privateKey = (await must(['wg', 'genkey'])).trim()
  const publicKey = (await must(['wg', 'pubkey'], { input: privateKey })).trim()
  const config = { ...lab.config(), gateway: [{ interface: 'lan0', subnet: '192.168.77.0/24' }] }
  writeFileSync(file(), renderNodeFile(config, privateKey).text, { mode: 0o600 })
  writeFileSync(`${lab.directory}/psk`, config.peer.presharedKey, { mode: 0o600 })
  const allowed = '10.64.0.2/32,192.168.77.0/24,192.168.88.0/24'
  const peer = ['peer', publicKey, 'preshared-key', `${lab.directory}/psk`, 'allowed-ips', allowed]
  await lab.edge.must('wg', 'set', lab.links.edge, ...peer)
}

test('wg-quick brings it up, and the listed network is reached through it', async () => {
  await writeNodeFile()
  expect(await wgQuick('up')).toBe(0)
  await until('the way behind the gateway', () => isReachable(lab.edge, '192.168.77.10'))
})

test('what an agent drops, it drops: other networks, and whatever its neighbours send into the tunnel', async () => {
  const ways = [() => isReachable(lab.edge, '192.168.88.10'), () => isReachable(host, '10.64.0.1')]
  for (const way of ways) expect(await way()).toBe(false)
  const rules = await lab.node.must('nft', '-s', 'list', 'ruleset')
  await lab.node.must('nft', 'flush', 'ruleset')
  // Without the table both work, so the table is what drops them.
  for (const way of ways) expect(await way()).toBe(true)
  writeFileSync(`${lab.directory}/rules.nft`, rules)
  await lab.node.must('nft', '-f', `${lab.directory}/rules.nft`)
})

test('down removes its rules, and up works again after a hard end', async () => {
  expect(await wgQuick('down')).toBe(0)
  expect(await lab.node.must('nft', 'list', 'ruleset')).toBe('')
  expect(await wgQuick('up')).toBe(0)
  await lab.node.must('ip', 'link', 'del', name)
  await until('the interface to go', async () => (await lab.node.run('wg', 'show', name)).code !== 0)
  expect(await wgQuick('up')).toBe(0)
  await until('the way behind the gateway', () => isReachable(lab.edge, '192.168.77.10'))
})
