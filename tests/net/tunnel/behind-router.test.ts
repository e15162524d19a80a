import { agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

/** The host `visitor` is the router that has the public address, and leads what comes there to the server. */
const PUBLIC = '203.0.113.50'
const NAT = `table ip router {
  chain in { type nat hook prerouting priority dstnat; ip daddr ${PUBLIC} dnat to 203.0.113.1; }
  chain out { type nat hook postrouting priority srcnat; ip daddr 203.0.113.1 masquerade; }
}`

const lab = shared(startLab)
beforeAll(async () => {
  await lab.visitor.must('ip', 'addr', 'add', `${PUBLIC}/24`, 'dev', 'eth0')
  await lab.visitor.must('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  await lab.visitor.must('nft', NAT)
})
const installation = shared(() => startInstallation(lab, { POSTERN_PUBLIC_HOST: PUBLIC }))

test('a node with internet access does not come back from the router as one of the local network', async () => {
  const { api } = installation
  const node = await api.createNode({ name: 'guest', allowInternet: true })
  await agentOn(lab.site, installation).connect(node.token)
  await api.createDomain({ domain: 'lan.example.com' })
  const form = { name: 'lan', domain: 'lan.example.com', backendPort: 9 }
  await api.publish(node.id, { ...form, allowedIps: [lab.visitor.address] })
  // Nothing is at the port of the service: whom its list lets in gets another answer than 403.
  const from = async (...args: string[]) =>
    (await visit(lab.site, 'https://lan.example.com/', { server: PUBLIC, args })).status
  await until('the service', async () => ![403, 404].includes(await from()))
  const [link] = JSON.parse(await lab.site.must('ip', '-j', 'addr', 'show', 'to', node.address))
  await lab.site.must('ip', 'route', 'add', 'default', 'dev', link.ifname, 'table', '77')
  await lab.site.must('ip', 'rule', 'add', 'from', node.address, 'priority', '100', 'table', '77')
  expect(await from('--interface', node.address)).toBe(403)
})
