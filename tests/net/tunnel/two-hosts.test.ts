import { writeFileSync } from 'node:fs'
import { startInstallation } from '@postern/testkit/installation'
import { type Host, startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

/** The file of one node, brought up on two hosts. */
const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))

async function bringUp(host: Host, name: string, text: string): Promise<void> {
  const file = `${installation.dataDir}/${name}.conf`
  writeFileSync(file, text, { mode: 0o600 })
  // Its streams stay open, since wireguard-go, which it starts, keeps them.
  const up = `WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-go wg-quick up ${file} > ${file}.log 2>&1`
  await host.must('sh', '-c', up)
}

test('the node reports that two hosts use it, and which', async () => {
  const { api } = installation
  const node = await api.createNode({ name: 'copied', keepalive: 1 })
  const { text } = await api.call('GET', `/api/nodes/${node.id}/download`)
  await bringUp(lab.site, `${lab.id.slice(-10)}t1`, text)
  await until('the node', async () => (await api.getNode(node.id)).status === 'online')
  expect((await api.getNode(node.id)).problem).toBe(null)
  await bringUp(lab.visitor, `${lab.id.slice(-10)}t2`, text)
  const problem = await until('the problem', async () => (await api.getNode(node.id)).problem, {
    timeoutMs: 55_000,
  })
  expect(problem).toBe(
    "Two hosts use this node's configuration: 203.0.113.10 and 203.0.113.100. Give each host a node of its own.",
  )
})
