import { fileURLToPath } from 'node:url'
import type { CreatedApiToken } from '@postern/contract/api-tokens'
import type { Config } from '@postern/contract/config'
import type { Service } from '@postern/contract/services/services'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { run } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, expect, test } from 'vitest'

const PORT = 8086
const COMMAND = fileURLToPath(new URL('../../apps/agent/dist/postern.mjs', import.meta.url))

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const home = tempDir()
const server = () => `https://${lab.server.address}`
/** From another host, as a person without root of the server. */
const argv = (...args: string[]) => [
  ...lab.visitor.argv('env', `HOME=${home}`, process.execPath, COMMAND, ...args),
]
const call = async <T>(method: string, path: string, body?: unknown) =>
  // `call` has checked it against the contract.
  (await installation.api.call(method, path, body)).json as T
const listServices = () => call<Service[]>('GET', '/api/services')

/** The program gets the path without the secret part; the console answers at paths that nobody has. */
const isThere = async (address: string) => (await visit(lab.visitor, address)).body.includes('"url":"/"')

let token = ''
beforeAll(async () => {
  await startEcho(lab.server, `${installation.dataDir}/upstreams`, PORT, '127.0.0.1')
  const form = { name: 'share', role: 'editor', password: installation.password }
  token = (await call<CreatedApiToken>('POST', '/api/tokens', form)).token
})

test('without the fingerprint of the server nothing is sent to it; with a wrong one neither', async () => {
  const plain = await run(argv('login', server(), '--token', '-'), { input: token })
  expect(plain).toMatchObject({ code: 6, stderr: expect.stringContaining('Add --fingerprint') })
  const wrong = ['--fingerprint', `sha256:${'0'.repeat(64)}`]
  expect(await run(argv('login', server(), '--token', '-', ...wrong), { input: token })).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('Nothing was sent'),
  })
  expect(await run(argv('ls'))).toMatchObject({ code: 15 })
  const { caFingerprint: fingerprint } = await call<Config>('GET', '/api/config')
  const right = await run(argv('login', server(), '--token', '-', '--fingerprint', fingerprint), {
    input: token,
  })
  expect(right).toMatchObject({ code: 0, stderr: '' })
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'what is shared is there until %s, and then gone',
  async (signal) => {
    const program = lab.visitor.start(
      ['env', `HOME=${home}`, process.execPath, COMMAND, 'share', `127.0.0.1:${PORT}`, '--node', '1'],
      { logFile: `${home}/${signal}.log` },
    )
    const [, address = ''] = await until('its address', () => /(https:\/\/\S+) ->/.exec(program.output()))
    expect(address).toMatch(/^https:\/\/203\.0\.113\.1\/share-[a-z2-9]{16}$/)
    await until('a visitor to reach it', () => isThere(address))
    const [service] = await listServices()
    expect(Date.parse(service?.endsAt ?? '') - Date.now()).toBeGreaterThan(3_500_000)
    await program.stop(signal)
    expect(await program.exited).toBe(0)
    expect(program.output()).toContain('is not shared any more')
    await until('it to be gone', async () => !(await isThere(address)))
    expect(await listServices()).toEqual([])
  },
)

test('it ends by itself, also when the command was killed', async () => {
  const program = lab.visitor.start(
    [
      'env',
      `HOME=${home}`,
      process.execPath,
      COMMAND,
      'share',
      `127.0.0.1:${PORT}`,
      '--node',
      '1',
      '--tcp',
      '--ttl',
      '8s',
    ],
    { logFile: `${home}/killed.log` },
  )
  await until('its address', () => /tcp:\/\/\S+ ->/.test(program.output()))
  const [service] = await listServices()
  await program.stop('SIGKILL')
  expect(await listServices()).toHaveLength(1)
  await until('its end', async () => (await listServices()).length === 0)
  expect(Date.now() - Date.parse(service?.endsAt ?? '')).toBeLessThan(10_000)
})
