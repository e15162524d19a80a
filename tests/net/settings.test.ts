import { existsSync, readdirSync } from 'node:fs'
import type { InstallationSettings } from '@postern/contract/settings/console-settings'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { must } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'

const [FIRST, SECOND] = ['one.example.com', 'two.example.com']

const lab = shared(startLab)
// Nothing of what the tests change is in the environment. The names lead nowhere, as far as DNS goes.
const installation = shared(() =>
  startInstallation(lab, { POSTERN_PUBLIC_HOST: '', POSTERN_DNS_SERVERS: '127.0.0.1:9' }),
)

async function set(form: object) {
  const { status, text, json } = await installation.api.call('PATCH', '/api/settings', form)
  expect([status, text]).toEqual([200, expect.anything()])
  // Checked against the contract by the call.
  return json as InstallationSettings
}

/** As an agent does it: at this name, with a certificate of the installation's root and a node's token. */
async function askAsAgent(name: string, token: string): Promise<number | string> {
  const args = ['--cacert', `${installation.dataDir}/root.crt`, '-H', `authorization: Bearer ${token}`]
  try {
    // Without -k, which comes first.
    return (
      await visit(lab.visitor, `https://${name}/api/agent/config`, { args: ['--no-insecure', ...args] })
    ).status
  } catch {
    return 'not trusted'
  }
}

test('a public name set in the console answers at once with a certificate, and the previous one until somebody ends it', async () => {
  const { token } = await installation.api.createNode({ name: 'a' })
  const file = `${installation.dataDir}/root.crt`
  await must(lab.visitor.argv('curl', '-sk', '-o', file, 'https://203.0.113.1/install/ca.crt'))
  expect(await askAsAgent(FIRST, token)).toBe('not trusted')

  await set({ POSTERN_PUBLIC_HOST: FIRST, confirmPublicHost: true })
  await until('the first name', async () => (await askAsAgent(FIRST, token)) === 200)
  const { formerHosts } = await set({ POSTERN_PUBLIC_HOST: SECOND, confirmPublicHost: true })
  expect(formerHosts).toEqual([FIRST])
  await until('the second name', async () => (await askAsAgent(SECOND, token)) === 200)
  expect(await askAsAgent(FIRST, token)).toBe(200)
  expect((await visit(lab.visitor, `https://${FIRST}/login`)).status).toBe(200)
  expect((await visit(lab.visitor, 'https://three.example.com/login')).status).toBe(404)

  await set({ formerHosts: [] })
  await until('the first name to end', async () => (await askAsAgent(FIRST, token)) === 'not trusted')
  await until('its page', async () => (await visit(lab.visitor, `https://${FIRST}/login`)).status === 404)
  expect(await askAsAgent(SECOND, token)).toBe(200)
})

test('kept requests are fewer at once, also for an edge that starts without the server', async () => {
  const directory = `${installation.dataDir}/edge/requests`
  const files = () => (existsSync(directory) ? readdirSync(directory) : [])
  await visit(lab.visitor, 'https://203.0.113.1/login')
  await until('a file', () => files().length > 0)
  await set({ POSTERN_REQUESTS_DAYS: '0' })
  await until('no file', () => files().length === 0)

  const { edge, server } = installation
  await server.stop()
  await edge.stop()
  installation.startEdge()
  await until('the edge', () => existsSync(`${installation.dataDir}/edge/edge.sock`))
  await visit(lab.visitor, 'https://203.0.113.1/assets/none')
  await installation.startServer()
  await until('the edge to be there again', async () => (await installation.api.listEdges())[0]?.connected)
  expect(files()).toEqual([])
})

test('queries are kept as soon as somebody wants them', async () => {
  const { api } = installation
  const { id } = await api.createNode({ name: 'b' })
  await api.publish(id, { name: 'web', domain: 'q.example.com', backendPort: 80 })
  await set({ POSTERN_REQUESTS_DAYS: '7', POSTERN_REQUESTS_QUERY: 'yes' })
  await until('the query', async () => {
    await visit(lab.visitor, 'https://q.example.com/page?found=1')
    const { text } = await api.call('GET', '/api/requests?limit=20')
    return text.includes('found=1')
  })
})
