import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Service } from '@postern/contract/services/services'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { start } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, it } from 'vitest'
import { COMMAND, NODE, startCommandLab } from './lab.ts'

const lab = shared(startCommandLab)
const node = shared(() => lab.site.api.createNode({ name: 'office', agentMayPublish: true }))
const directory = () => `${lab.home}/agent`
const postern = (...args: string[]) => lab.postern([...args, '--config-dir', directory()])
const listServices = async () =>
  // `call` checks it against the contract.
  (await lab.site.api.call('GET', `/api/services/${node.id}/tcp`)).json as Service[]

beforeAll(() => {
  mkdirSync(directory(), { mode: 0o700 })
  const credentials = {
    url: lab.site.origin,
    token: node.token,
    ca: null,
    interface: 'pw',
    ...createWireGuardKeys(randomBytes(32)),
  }
  writeFileSync(`${directory()}/agent.json`, JSON.stringify(credentials), { mode: 0o600 })
})

it('publishes with the token of the node where nobody has signed in, and changes what has the same name', async () => {
  expect(await postern('tcp', '5432', '--name', 'db')).toMatchObject({
    code: 0,
    stdout: 'tcp db is published at tcp://203.0.113.1:32660\n',
  })
  expect(await postern('tcp', '5433', '--name', 'db')).toMatchObject({ code: 0 })
  expect(await postern('udp', '53', '--name', 'dns')).toMatchObject({ code: 0 })
  expect(await listServices()).toMatchObject([
    { name: 'db', backendPort: 5433, source: 'command' },
    { name: 'dns', proto: 'udp' },
  ])
  expect((await postern('ls')).stdout).toMatch(
    /^NAME +KIND +DOMAIN +PORT\ndb +tcp +- +5433\ndns +udp +- +53\n$/,
  )
  expect(await postern('rm', 'db')).toMatchObject({ code: 0, stdout: 'Deleted db\n' })
  expect(await postern('rm', 'db')).toMatchObject({ code: 17 })
  expect((await listServices()).map(({ name }) => name)).toEqual(['dns'])
})

it('what the server refuses is not kept, and takes nothing else away', async () => {
  const refused = await postern('tcp', '1', '--name', 'low', '--port', '80')
  expect(refused).toMatchObject({ code: 18, stderr: expect.stringContaining('tcp low is refused: port') })
  const ofPeople = await postern('http', '1', '--domain', 'a.example.com', '--sign-in')
  expect(ofPeople).toMatchObject({ code: 18, stderr: expect.stringContaining('Only people set sign-in') })
  expect((await postern('ls', '--json')).stdout).toContain('"dns"')
  expect((await listServices()).map(({ name }) => name)).toEqual(['dns'])
})

it('shares until it ends, and by its time if it is killed', async () => {
  const share = (...args: string[]) => {
    const all = ['share', '3000', '--tcp', ...args, '--config-dir', directory()]
    return start([NODE, COMMAND, ...all], {
      logFile: `${lab.home}/share${args.join('')}`,
      env: { HOME: lab.home },
    })
  }
  const names = async () => (await listServices()).map(({ name }) => name)
  const ended = share()
  await until('it to be there', async () => (await names()).includes('share 3000'))
  await ended.stop('SIGINT')
  expect(await ended.exited).toBe(0)
  expect(await names()).toEqual(['dns'])
  const killed = share('--ttl', '6s')
  await until('it to be there', async () => (await names()).includes('share 3000'))
  await killed.stop('SIGKILL')
  await until('its end', async () => !(await names()).includes('share 3000'))
  // What has ended is not sent again.
  expect(await postern('tcp', '22', '--name', 'ssh')).toMatchObject({ code: 0 })
  expect(await names()).toEqual(['dns', 'ssh'])
})

it('needs the right that the console gives', async () => {
  await lab.site.api.call('PATCH', `/api/nodes/${node.id}`, { agentMayPublish: false })
  expect(await postern('tcp', '1')).toMatchObject({
    code: 13,
    stderr: expect.stringContaining('turn on Agent May'),
  })
})
