import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import type { HttpService } from '@postern/contract/services/services'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'

const CONSOLE = 'https://203.0.113.1'
/** In seconds: two minutes in the console, and less for a test. */
const TIME = 15

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))

const ask = async (path: string, args: readonly string[] = []) =>
  await visit(lab.visitor, CONSOLE + path, { args: [...args] })

test('an administrator who locks himself out by his own rule is back in after the time, at the public address', async () => {
  const { POSTERN_ADMIN_PASSWORD: password } = installation.env
  const login = await ask('/api/auth/login', ['--json', JSON.stringify({ username: 'admin', password })])
  expect(login.status).toBe(200)
  const signedIn = ['-H', `authorization: Bearer ${JSON.parse(login.body).token}`]
  const services: HttpService[] = JSON.parse((await ask('/api/services/http', signedIn)).body)
  const own = services.find(({ system }) => system)
  const url = `/api/services/${own?.nodeId}/http/${own?.id}`
  const form = ['-X', 'PATCH', '--json', JSON.stringify({ allowedIps: ['192.0.2.1'] })]
  const saved = await ask(url, [...signedIn, ...form, '-H', `${TAKE_BACK_HEADER}: ${TIME}`])
  expect(saved.status).toBe(200)
  const statusNow = async () => (await ask('/api/auth/me', signedIn)).status
  await until('the rule to lock the administrator out', async () => (await statusNow()) === 403)
  // Not so often that the visitor's own rate is used up.
  const back = async () => (await statusNow()) === 200
  await until('the server to take the rule back', back, { timeoutMs: 40_000, everyMs: 2000 })
  expect(JSON.parse((await ask(url, signedIn)).body).allowedIps).toEqual([])
}, 120_000)
