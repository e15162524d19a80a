import type { CreatedNode } from '@postern/contract/nodes'
import { agentOn } from '@postern/testkit/agent'
import { haproxyCommand } from '@postern/testkit/haproxy'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { repeatableMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { openSocket, visit } from '@postern/testkit/visitor'
import { beforeAll, describe, expect, it } from 'vitest'

const PORT = 8080
/** How long the tunnel is gone during a download and a WebSocket that must survive it, in ms. */
const GAP = 60_000
const DOMAIN = 'app.example.com'

let node: CreatedNode

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  await startEcho(lab.site, `${installation.dataDir}/upstreams`, PORT)
  node = await installation.api.createNode({ name: 'office' })
})

/** Makes the node's host drop packets until it is `heard` again. @param rules each like `in icmp type echo-request` */
async function silence(...rules: string[]): Promise<void> {
  const chains = ['input', 'output'].map((hook) => {
    const name = hook.replace('put', '')
    return `add chain inet silence ${name} { type filter hook ${hook} priority -300; }`
  })
  const drops = rules.map((rule) => `add rule inet silence ${rule} drop`)
  await lab.site.must('nft', ['add table inet silence', ...chains, ...drops].join('; '))
}

async function heard(): Promise<void> {
  await lab.site.must('nft', 'delete table inet silence')
}

const ask = (path: string, ...args: string[]) => visit(lab.visitor, `https://${DOMAIN}${path}`, { args })

/** A request that may take long, or get no answer at all. */
function startAsking(path: string, ...args: string[]): Running {
  const logFile = `${installation.dataDir}/asked-${asked++}.log`
  const resolve = `${DOMAIN}:443:${lab.server.address}`
  const command = ['curl', '-sk', '-i', '-N', '-m', '240', '--resolve', resolve, ...args]
  return lab.visitor.start([...command, `https://${DOMAIN}${path}`], { logFile })
}

let asked = 0
const statusOf = async () => (await installation.api.getNode(node.id)).status

describe('a node that has never answered a probe', () => {
  it('is reachable all the same', async () => {
    await silence('in icmp type echo-request')
    await agentOn(lab.site, installation).connect(node.token)
    await installation.api.publish(node.id, { name: 'app', domain: DOMAIN, backendPort: PORT })
    await until('the service', async () => (await ask('/')).status === 200)
    expect(await statusOf()).toBe('idle')
    const since = performance.now()
    await until('a period after which others would be down', () => performance.now() - since > 15_000, {
      timeoutMs: 20_000,
    })
    expect((await ask('/')).status).toBe(200)
    await heard()
    await until('its first answer', async () => (await statusOf()) === 'online')
  })
})

describe('a node that dies silently', () => {
  it('blocks nobody for longer than 15 s, breaks no download, and is up again with its first answer', async () => {
    const socket = openSocket(lab.visitor, DOMAIN, `${installation.dataDir}/socket.log`)
    await until('an echo', () => socket.output().includes('echo'))
    // The service ends its connection long before the host has sent all of it; by default that is given up too soon.
    await lab.site.must('sysctl', '-qw', 'net.ipv4.tcp_orphan_retries=15')
    const download = startAsking(`/drip?ms=${GAP + 20_000}`)
    await until('the download to run', () => /\n\d+\n\d+\n/.test(download.output()))
    const hung = [startAsking('/slow?ms=9000'), startAsking('/slow?ms=9000', '-d', 'x=1')]
    await until('both to wait for their answers', async () => {
      const sessions = await haproxyCommand(installation, 'show sess all')
      return (sessions.match(/ rsp\.st=MSG_RPBEFORE /g)?.length ?? 0) >= hung.length
    })
    await silence('in iifname "eth0"', 'out oifname "eth0"')
    const silentSince = performance.now()
    const late = [startAsking('/'), startAsking('/', '-d', 'x=1')]
    await Promise.all([...hung, ...late].map(({ exited }) => exited))
    const took = performance.now() - silentSince
    console.info('ms until hung requests ended', Math.round(took))
    expect(took).toBeLessThan(45_000)
    for (const each of [...hung, ...late])
      expect(each.output()).toMatch(/^HTTP\/\S+ 50[234].*<footer>Postern\b/s)
    const refused = async () =>
      expect((await ask('/')).body).toContain('The private network is not connected')
    expect(await repeatableMs(1000, refused)).toBeLessThan(1000)

    await until('the end of the gap', () => performance.now() - silentSince > GAP, { timeoutMs: GAP })
    await heard()
    const heardAt = performance.now()
    await until('the service', async () => (await ask('/')).status === 200)
    console.info('ms until it was up again', Math.round(performance.now() - heardAt))
    // The service's host resends what was lost at its next TCP retry, which may take as long again as the gap.
    await download.exited
    expect(download.output()).toMatch(/\n1\n0\nend\n$/)
    expect(socket.isRunning()).toBe(true)
    await socket.stop()
  }, 360_000)
})
