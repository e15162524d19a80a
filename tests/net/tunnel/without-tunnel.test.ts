import { agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

/** Behind the server's router is a host with the same address as the node in the tunnel, which takes its visitors. */
const SITE = 'https://open.example.com/'

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  const { api, dataDir } = installation
  await startEcho(lab.site, `${dataDir}/upstreams`, 8080)
  const node = await api.createNode({ name: 'plant' })
  await agentOn(lab.site, installation).connect(node.token)
  await api.publish(node.id, { name: 'open', domain: 'open.example.com', backendPort: 8080 })
  await until('the service', isServed)
  await lab.server.must('ip', 'route', 'add', 'default', 'via', lab.visitor.address)
  await lab.visitor.must('ip', 'addr', 'add', `${node.address}/32`, 'dev', 'lo')
  const say = `require('node:http').createServer((_, answer) => answer.end('stranger')).listen(8080, () => console.log('ready'))`
  lab.visitor.start([process.execPath, '-e', say], { logFile: `${dataDir}/stranger.log` })
  await until('the stranger', async () => (await lab.visitor.must('ss', '-Hltn', 'sport = :8080')) !== '')
})

const isServed = async () => (await ask()).includes('"status":200')

const ask = async () => JSON.stringify(await visit(lab.visitor, SITE).catch(String))

/** @returns who answers, until the service does again */
async function askUntilServed(): Promise<string> {
  let who = 'the service'
  await until('the service', async () => {
    for (let turn = 0; turn < 50; turn++) {
      if ((await ask()).includes('stranger')) who = 'a stranger'
    }
    return who === 'a stranger' || (await isServed())
  })
  return who
}

test('a tunnel that is gone leads no visitor to whoever has its addresses elsewhere', async () => {
  await installation.edge.stop()
  await lab.server.must('ip', 'link', 'del', installation.interface)
  // The first may have gone out by an idle connection, which then breaks off without a page.
  expect(await ask()).not.toContain('stranger')
  expect(await ask()).toContain('"status":503')
})

test('nor does one that is not there yet, after a restart of the machine', async () => {
  process.kill(installation.haproxyPid(), 'SIGKILL')
  await lab.server.must('ip', 'route', 'flush', 'type', 'unreachable')
  installation.startEdge()
  expect(await askUntilServed()).toBe('the service')
})
