import { existsSync } from 'node:fs'
import { haproxyPaths } from '@postern/render/haproxy/options'
import { haproxyCommand } from '@postern/testkit/haproxy'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))

/** The certificates that HAProxy holds, and the names in its list. */
async function inHaproxy(): Promise<string> {
  const { certificateList } = haproxyPaths(installation.paths.haproxyDir)
  const commands = ['show ssl cert', `show ssl crt-list ${certificateList}`]
  return (await Promise.all(commands.map((command) => haproxyCommand(installation, command)))).join('\n')
}

test('a domain with services stays; deleting one without removes its certificate and key from HAProxy and the disk', async () => {
  const { api } = installation
  const pid = installation.haproxyPid()
  const node = await api.createNode({ name: 'office' })
  const service = await api.publish(node.id, { name: 'shop', domain: 'shop.example.com' })
  const domains = (await api.call('GET', '/api/domains?search=shop')).json as { id: number }[]
  const path = `/api/domains/${domains[0]?.id}`
  await until('the certificate to be in HAProxy', async () =>
    (await inHaproxy()).includes('shop.example.com'),
  )
  const [, file = ''] = /^(\S+\.pem).*shop\.example\.com/m.exec(await inHaproxy()) ?? []
  expect(existsSync(file)).toBe(true)

  const refused = await api.call('DELETE', path)
  expect(refused.status).toBe(409)
  expect(refused.json).toMatchObject({
    message: 'shop.example.com is used by “shop”. Delete its services first.',
  })
  expect(await inHaproxy()).toContain('shop.example.com')

  await api.removeService(service)
  expect((await api.call('DELETE', path)).status).toBe(200)
  await until('it to be gone from HAProxy', async () => !(await inHaproxy()).includes(file))
  expect(await inHaproxy()).not.toContain('shop.example.com')
  await until('its file to be gone', () => !existsSync(file))
  expect(installation.haproxyPid()).toBe(pid)
})
