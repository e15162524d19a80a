import { existsSync, writeFileSync } from 'node:fs'
import { shared } from '@postern/testkit/shared'
import { afterEach, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab } from './lab.ts'

const lab = shared(createLab)
afterEach(async () => {
  await lab.agent(['disconnect', '--forget'])
})

const trusted = () => ['--fingerprint', lab.authority.fingerprint]
const isUntouched = async () =>
  !existsSync(`${lab.configDir}/agent.json`) &&
  !(await lab.node.must('ip', '-br', 'link')).includes(lab.links.agent)

test('a wrong fingerprint: nothing is sent and nothing is written', async () => {
  lab.calls.length = 0
  const outcome = await lab.connect('--token', TOKEN, '--fingerprint', `sha256:${'a'.repeat(64)}`)
  expect(outcome.code).toBe(6)
  expect(outcome.stderr).toContain('another certificate authority than the fingerprint says')
  expect(lab.calls).toEqual([])
  expect(await isUntouched()).toBe(true)
})

test('an untrusted certificate: both ways out are named, the token is not sent', async () => {
  lab.calls.length = 0
  const outcome = await lab.connect('--token', TOKEN)
  expect(outcome.code).toBe(6)
  expect(outcome.stderr).toMatch(/--fingerprint sha256:.*--ca-file/)
  expect(lab.calls).toEqual([])
  expect(await isUntouched()).toBe(true)
})

test('a certificate for another name is not trusted, though the authority is', async () => {
  writeFileSync(`/etc/netns/${lab.node.name}/hosts`, '203.0.113.1 edge.example other.example\n')
  const args = ['--url', 'https://other.example', '--token', TOKEN, ...trusted()]
  const outcome = await lab.connect(...args)
  expect(outcome.code).toBe(6)
  expect(outcome.stderr).toContain('is for another name')
})

test('the authority may come from a file, and the token from a file or standard input', async () => {
  writeFileSync(`${lab.directory}/token`, `${TOKEN}\n`)
  const byFile = ['--ca-file', lab.authority.file, '--token-file', `${lab.directory}/token`]
  expect((await lab.connect(...byFile)).code).toBe(0)
  await lab.agent(['disconnect', '--forget'])
  const args = ['connect', '--url=https://edge.example/', '--token=-', '--interface', lab.links.agent]
  expect(await lab.agent([...args, ...trusted(), '--json'], `${TOKEN}\n`)).toMatchObject({
    code: 0,
    stdout: '{"state":"online","node":{"id":2,"name":"office"},"addresses":["10.64.0.2/32","fd64::2/128"]}\n',
  })
})

test('a wrong token', async () => {
  const outcome = await lab.connect('--token', 'wrong', ...trusted())
  expect(outcome.code).toBe(7)
  expect(outcome.stderr).toContain('rejected the token')
  expect(await isUntouched()).toBe(true)
})

test('a name that does not resolve', async () => {
  const outcome = await lab.connect('--url', 'https://nowhere.example', '--token', TOKEN)
  expect(outcome.code).toBe(5)
  expect(outcome.stderr).toMatch(/nowhere\.example (does not exist|cannot be resolved)/)
})

test('nobody listens', async () => {
  const outcome = await lab.connect('--url', 'https://203.0.113.1:444', '--token', TOKEN)
  expect(outcome).toMatchObject({ code: 5, stderr: expect.stringContaining('refused the connection') })
})

test('a blocked UDP port is reported with its number until it is open', async () => {
  const block = 'table inet block { chain in { type filter hook input priority 0; udp dport 51820 drop; }; }'
  writeFileSync(`${lab.directory}/block.nft`, block)
  await lab.edge.must('nft', '-f', `${lab.directory}/block.nft`)
  const outcome = await lab.connect('--token', TOKEN, ...trusted(), '--wait', '8')
  expect(outcome.code).toBe(9)
  expect(outcome.stderr).toContain('Open UDP port 51820')
  expect((await lab.status()).code).toBe(9)
  await lab.edge.must('nft', 'delete', 'table', 'inet', 'block')
  expect((await lab.agent(['connect'])).code).toBe(0)
})

test('a tunnel that carries no traffic is not called online', async () => {
  const block = `table inet block { chain in { type filter hook input priority 0; iifname "${lab.links.edge}" drop; }; }`
  writeFileSync(`${lab.directory}/block.nft`, block)
  await lab.edge.must('nft', '-f', `${lab.directory}/block.nft`)
  const outcome = await lab.connect('--token', TOKEN, ...trusted(), '--wait', '8')
  await lab.edge.must('nft', 'delete', 'table', 'inet', 'block')
  expect(outcome).toMatchObject({ code: 10, stderr: expect.stringContaining('10.64.0.1 does not answer') })
})

test("another program's interface is left alone", async () => {
  const name = lab.links.agent
  await lab.node.must('ip', 'tuntap', 'add', 'dev', name, 'mode', 'tun')
  const outcome = await lab.connect('--token', TOKEN, ...trusted())
  expect(outcome).toMatchObject({ code: 11, stderr: expect.stringContaining('--interface') })
  await lab.agent(['disconnect', '--forget'])
  expect(await lab.node.must('ip', 'link', 'show', name)).toContain(name)
  await lab.node.must('ip', 'link', 'del', name)
})

test('a configuration that contains more than an address is refused as a whole', async () => {
  const { peer } = lab.config()
  await lab.change({ config: { peer: { ...peer, endpoint: '203.0.113.1:51820\nPostUp = id' } } })
  const outcome = await lab.connect('--token', TOKEN, ...trusted())
  await lab.change({ config: { peer } })
  expect(outcome).toMatchObject({ code: 13, stderr: expect.stringContaining('unusable endpoint') })
  expect(await isUntouched()).toBe(true)
})

test('wrong command lines', async () => {
  for (const args of [
    ['--url', 'http://203.0.113.1'],
    ['--url', 'https://203.0.113.1/path'],
    ['--fingerprint', 'sha256:12'],
    ['--token', 'two words'],
    ['--interface', 'Bad Name'],
    ['--wait', '0'],
    ['--unknown'],
  ])
    expect((await lab.connect('--token', TOKEN, ...args)).code, args.join(' ')).toBe(2)
})
