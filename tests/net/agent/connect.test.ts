import { readFileSync, statSync } from 'node:fs'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab, isReachable } from './lab.ts'

const lab = shared(createLab)
beforeAll(async () => {
  await lab.change({ config: { targets: { tcp: [22], udp: [] } } })
})

/** The status, once the command ends with this exit code. */
const statusWith = (code: number) =>
  until(`the exit code ${code}`, async () => {
    const status = await lab.status()
    return status.code === code && status
  })
const online = (what: string) => until(what, async () => (await lab.status()).code === 0)

test('connect brings the tunnel up and says so in three lines', async () => {
  const { fingerprint } = lab.authority
  const { code, stdout, stderr } = await lab.connect(`--token=${TOKEN}`, '--fingerprint', fingerprint)
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'Configuring postern...\nConnecting node...\nConnection established!\n',
    stderr: '',
  })
  expect(await isReachable(lab.node, '10.64.0.1')).toBe(true)
  expect(await isReachable(lab.node, 'fd64::1')).toBe(true)
})

test('status describes the tunnel in words, as JSON and as one word', async () => {
  const { code, report } = await lab.status()
  expect(code).toBe(0)
  expect(report).toMatchObject({
    state: 'online',
    node: { id: 2, name: 'office' },
    addresses: ['10.64.0.2/32', 'fd64::2/128'],
    endpoint: '203.0.113.1:51820',
    serverReachable: true,
    problem: null,
  })
  expect(report.rx).toBeGreaterThan(0)
  expect((await lab.agent(['status'])).stdout).toMatch(/^State +online\nNode +office \(2\)$/m)
  expect(await lab.agent(['status', '--health'])).toEqual({ code: 0, stdout: 'online\n', stderr: '' })
})

test('secrets are in files that only root may read, and in no argument or environment', async () => {
  expect(statSync(lab.configDir).mode & 0o777).toBe(0o700)
  expect(statSync(`${lab.configDir}/agent.json`).mode & 0o777).toBe(0o600)
  expect(statSync(`${lab.configDir}/last-good.json`).mode & 0o777).toBe(0o600)
  const { privateKey } = JSON.parse(readFileSync(`${lab.configDir}/agent.json`, 'utf8'))
  const { peer } = lab.config()
  for (const kind of ['cmdline', 'environ'])
    for (const secret of [TOKEN, privateKey, peer.presharedKey])
      expect(readFileSync(`/proc/${lab.daemonPid()}/${kind}`, 'utf8')).not.toContain(secret)
  const log = readFileSync(`${lab.configDir}/run/agent.log`, 'utf8')
  for (const secret of [TOKEN, privateKey, peer.presharedKey]) expect(log).not.toContain(secret)
  const sent = lab.calls.map(({ body }) => body).join()
  expect(sent).toContain('publicKey')
  expect(sent).not.toContain(privateKey)
})

test('connecting again with the same arguments, or none, changes nothing', async () => {
  const pid = lab.daemonPid()
  const stored = readFileSync(`${lab.configDir}/agent.json`, 'utf8')
  const again = await lab.connect(`--token=${TOKEN}`, '--fingerprint', lab.authority.fingerprint)
  expect(again.code).toBe(0)
  expect((await lab.agent(['connect'])).code).toBe(0)
  expect(lab.daemonPid()).toBe(pid)
  expect(readFileSync(`${lab.configDir}/agent.json`, 'utf8')).toBe(stored)
})

test('a change is applied within ten seconds of the hint', async () => {
  const { peer } = lab.config()
  await lab.change({
    config: { addresses: ['10.64.0.7/32'], peer: { ...peer, allowedIps: ['10.64.0.0/16', '10.64.99.0/24'] } },
  })
  expect(await lab.tell({ type: 'hint' })).toBe(1)
  await until(
    'the new address and route',
    async () => {
      const address = await lab.node.must('ip', '-br', 'addr', 'show', 'dev', lab.links.agent)
      const routes = await lab.node.must('ip', 'route', 'show', 'dev', lab.links.agent)
      return (
        /10\.64\.0\.7/.test(address) && !/10\.64\.0\.2|fd64/.test(address) && routes.includes('10.64.99.0/24')
      )
    },
    { timeoutMs: 10_000 },
  )
  await lab.change({ config: { addresses: ['10.64.0.2/32', 'fd64::2/128'], peer } })
  await lab.tell({ type: 'hint' })
  await until(
    'the old route to be gone',
    async () => {
      const routes = await lab.node.must('ip', 'route', 'show', 'dev', lab.links.agent)
      return !routes.includes('10.64.99.0/24')
    },
    { timeoutMs: 10_000 },
  )
})

test('a disabled node leaves the tunnel and comes back when it is enabled', async () => {
  const { node } = lab.config()
  await lab.change({ config: { node: { ...node, enabled: false } } })
  await lab.tell({ type: 'hint' })
  await until('the interface to go', async () => {
    const link = await lab.node.run('ip', 'link', 'show', lab.links.agent)
    return link.code !== 0
  })
  const { report } = await statusWith(8)
  expect(report.state).toBe('disabled')
  expect((await lab.agent(['connect'])).code).toBe(8)
  await lab.change({ config: { node } })
  expect(await lab.tell({ type: 'hint' })).toBe(1)
  await online('the node to be back')
})

test('a server that was down is found again, and traffic passes meanwhile', async () => {
  await lab.stopServer()
  await until('the agent to notice', async () => isReachable(lab.node, '10.64.0.1'))
  await lab.startServer()
  await lab.tell({ type: 'publicKey', publicKey: null })
  await until('the socket to be back', async () => (await lab.tell({ type: 'hint' })) === 1)
  await online('the agent to be online')
  const registered = lab.calls.findLast(({ path }) => path === '/api/agent/key')
  expect(registered?.body).toContain('publicKey')
})

test('a killed daemon does not interrupt traffic, and a new one takes over the tunnel', async () => {
  process.kill(lab.daemonPid(), 'SIGKILL')
  await until('the daemon to be gone', async () => (await lab.status()).report.state === 'stopped')
  expect(await isReachable(lab.node, '10.64.0.1')).toBe(true)
  const port = await lab.node.must('wg', 'show', lab.links.agent, 'listen-port')
  expect((await lab.agent(['connect'])).code).toBe(0)
  expect(await lab.node.must('wg', 'show', lab.links.agent, 'listen-port')).toBe(port)
})

test('a removed interface is created again', async () => {
  await lab.node.must('ip', 'link', 'del', lab.links.agent)
  await until('the tunnel to be back', () => isReachable(lab.node, '10.64.0.1'), { timeoutMs: 40_000 })
})

test('a revoked token takes the tunnel down and status says why', async () => {
  await lab.change({ isRevoked: true })
  await lab.tell({ type: 'hint' })
  await until('the interface to go', async () => {
    const link = await lab.node.run('ip', 'link', 'show', lab.links.agent)
    return link.code !== 0
  })
  const { report } = await statusWith(7)
  expect(report.problem).toContain('token was revoked')
  await lab.change({ isRevoked: false })
  await lab.tell({ type: 'hint' })
  await online('the node to be back')
})

test('connect with other arguments moves over with a new key', async () => {
  const before = JSON.parse(readFileSync(`${lab.configDir}/agent.json`, 'utf8'))
  const name = `${lab.links.agent}2`
  await lab.change({ token: 'another-token' })
  const args = ['--token', 'another-token', '--interface', name, '--url', 'https://edge.example']
  expect((await lab.connect(...args, '--ca-file', lab.authority.file)).code).toBe(0)
  const after = JSON.parse(readFileSync(`${lab.configDir}/agent.json`, 'utf8'))
  expect(after).toMatchObject({ url: 'https://edge.example', token: 'another-token', interface: name })
  expect(after.publicKey).not.toBe(before.publicKey)
  const links = await lab.node.must('ip', '-br', 'link')
  expect(links.match(new RegExp(`^${lab.links.agent}`, 'gm'))).toHaveLength(1)
  expect((await lab.programs()).filter((line) => line.includes(' run '))).toHaveLength(1)
})

test('disconnect leaves nothing behind, also the second time, and connect works again', async () => {
  expect(await lab.node.must('nft', 'list', 'ruleset')).toContain(' to 127.0.0.1')
  expect(await lab.agent(['disconnect'])).toMatchObject({ code: 0, stdout: 'Disconnected.\n' })
  const links = await lab.node.must('ip', '-br', 'link')
  expect(links).not.toContain(lab.links.agent)
  expect(await lab.node.must('ip', 'route')).not.toContain('10.64')
  expect(await lab.node.must('nft', 'list', 'ruleset')).toBe('')
  await until('all programs to end', async () => (await lab.programs()).length === 0)
  expect((await lab.agent(['disconnect'])).code).toBe(0)
  expect((await lab.status()).code).toBe(12)
  expect((await lab.agent(['connect'])).code).toBe(0)
  expect((await lab.agent(['disconnect', '--forget'])).code).toBe(0)
  expect((await lab.agent(['connect'])).code).toBe(2)
})
