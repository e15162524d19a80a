import { fileURLToPath } from 'node:url'
import type { ApiToken } from '@postern/contract/api-tokens'
import type { Config } from '@postern/contract/config'
import type { DeviceCodes, DeviceRequest } from '@postern/contract/sign-in/device'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { run } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'
import { startOnTerminal } from '../e2e/command/terminal.ts'

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
const post = (path: string, body: object, ...headers: string[]) =>
  visit(lab.visitor, `${server()}${path}`, {
    args: [
      ...['content-type: application/json', ...headers].flatMap((header) => ['-H', header]),
      ...['-d', JSON.stringify(body)],
    ],
  })

test('at the public address a command gets a token by the word of a person, once', async () => {
  const { caFingerprint } = await call<Config>('GET', '/api/config')
  const terminal = startOnTerminal(argv('login', server(), '--fingerprint', caFingerprint), {})
  try {
    const [, code = ''] = await terminal.says(/\n {2}([A-Z]{4}-[A-Z]{4})\n/)
    expect(terminal.said()).toContain(`${server()}/device\n`)
    expect((await visit(lab.visitor, `${server()}/device`)).body).toContain('<div id="root">')
    expect(await call<DeviceRequest>('POST', '/api/auth/device/read', { code })).toMatchObject({
      address: lab.visitor.address,
      isSameNetwork: false,
    })
    const form = { code, name: 'laptop', role: 'viewer', password: installation.password }
    await call<ApiToken>('POST', '/api/auth/device/approve', form)
    expect(await terminal.exited).toBe(0)
    expect(terminal.said()).toContain('as admin (viewer)')
  } finally {
    await terminal.close()
  }
  expect(await run(argv('ls', 'nodes'))).toMatchObject({ code: 0, stderr: '' })
  expect(await run(argv('udp', '53', '--node', '1'))).toMatchObject({ code: 16 })
})

test('the address that a person sees is the one that asks, whatever it says of itself', async () => {
  const forged = ['x-forwarded-for: 203.0.113.99', 'forwarded: for=203.0.113.99']
  const begun = await post('/api/auth/device', { client: 'laptop' }, ...forged)
  const { user_code: code } = JSON.parse(begun.body) as DeviceCodes
  expect(await call<DeviceRequest>('POST', '/api/auth/device/read', { code })).toMatchObject({
    client: 'laptop',
    address: lab.visitor.address,
  })
  // Nobody answers without a session.
  for (const act of ['read', 'approve', 'deny'])
    expect((await post(`/api/auth/device/${act}`, { code, name: 'x', role: 'admin' })).status).toBe(401)
})
