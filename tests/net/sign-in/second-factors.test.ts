import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { createSoftPasskey } from '@postern/testkit/soft-passkey'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'

const NAME = 'console.example.com'
const CONSOLE = `https://${NAME}`

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab, { POSTERN_PUBLIC_HOST: NAME }))
const passkey = createSoftPasskey(CONSOLE)

/** A visitor's request to the console's public address; with a body a POST. */
async function ask(
  path: string,
  { token, body, host }: { token?: string; body?: object; host?: string } = {},
) {
  const args = [
    ...(body ? ['--json', JSON.stringify(body)] : []),
    ...(token ? ['-H', `authorization: Bearer ${token}`] : []),
    ...(host ? ['-H', `host: ${host}`] : []),
  ]
  const answer = await visit(lab.visitor, CONSOLE + path, { args })
  const isJson = /content-type: application\/json/i.test(answer.headers)
  return { status: answer.status, json: isJson ? JSON.parse(answer.body) : undefined }
}

const password = () => installation.env.POSTERN_ADMIN_PASSWORD ?? ''
const login = async () =>
  (await ask('/api/auth/login', { body: { username: 'admin', password: password() } })).json

test('where it is required, a person without one gets nothing else at the public address', async () => {
  const { token } = await login()
  expect((await ask('/api/nodes', { token })).status).toBe(200)
  const { api } = installation
  await api.call('PATCH', '/api/settings', { POSTERN_SECOND_FACTOR: 'everybody' })
  expect(await ask('/api/nodes', { token })).toMatchObject({ status: 403, json: { code: 'second_factor' } })
  expect((await ask('/api/account/factors', { token })).json).toMatchObject({ passkeyHost: NAME })
  const begun = await ask('/api/account/passkeys/challenge', { token, body: { password: password() } })
  const made = passkey.create(begun.json.passkey)
  const added = await ask('/api/account/passkeys', {
    token,
    body: { ticket: begun.json.ticket, name: 'Key', passkey: made },
  })
  expect(added.status).toBe(201)
  expect((await ask('/api/nodes', { token })).status).toBe(200)
})

test('at the public address the password alone opens nothing, and a passkey answers for the console alone', async () => {
  const { second_factor: step, token } = await login()
  expect(token).toBeUndefined()
  expect((await ask('/api/nodes', { token: step.ticket })).status).toBe(401)
  expect(step.passkey).toMatchObject({ rpId: NAME, allowCredentials: [{ id: passkey.id }] })
  const give = (answer: object) => ask('/api/auth/passkey', { body: { ticket: step.ticket, answer } })
  // As a service at a port, or at a name below the console's, could ask for it.
  for (const origin of [`${CONSOLE}:32660`, `https://app.${NAME}`, 'http://console.example.com'])
    expect(await give(passkey.answer(step.passkey, { origin }))).toMatchObject({ status: 401 })
  const opened = await give(passkey.answer(step.passkey))
  expect((await ask('/api/auth/me', { token: opened.json.token })).json.username).toBe('admin')
  const forged = await ask('/api/auth/passkey/challenge', { body: {}, host: 'evil.example' })
  expect(JSON.stringify(forged.json ?? {})).not.toContain('evil.example')
})
