import type { HttpService } from '@postern/contract/services/services'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'

const PORT = 8085
/** What a visitor of a service that has ended may still see of it, in ms. Two seconds are promised; a busy machine gets five times that. */
const MOST_LATE = 10_000

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const ask = async ({ domain }: HttpService) => (await visit(lab.visitor, `https://${domain}/`)).status

test('a visitor gets 404 within two seconds of the end of a service, also after the server was away', async () => {
  const { api, dataDir } = installation
  await startEcho(lab.server, `${dataDir}/upstreams`, PORT)
  const form = (name: string, ttl: string | null) => ({
    ...{ name, domain: `${name}.example.com`, backendHost: '127.0.0.1', backendPort: PORT, ttl },
  })
  const short = await api.publish(1, form('short', '12s'))
  const long = await api.publish(1, form('long', '90d'))
  await until('both to be there', async () => (await ask(short)) === 200 && (await ask(long)) === 200)
  await until('its end', async () => (await ask(short)) === 404)
  expect(Date.now() - Date.parse(short.endsAt ?? '')).toBeLessThan(MOST_LATE)
  expect(await ask(long)).toBe(200)

  const [overdue, soon] = [
    await api.publish(1, form('overdue', '8s')),
    await api.publish(1, form('soon', '45s')),
  ]
  await until('both to be there', async () => (await ask(overdue)) === 200 && (await ask(soon)) === 200)
  await installation.server.stop('SIGKILL')
  await until('the first end', () => Date.now() > Date.parse(overdue.endsAt ?? ''))
  // The data plane does not need the server.
  expect(await ask(overdue)).toBe(200)
  await installation.startServer()
  await until('the end of what is overdue', async () => (await ask(overdue)) === 404)
  expect(await ask(soon)).toBe(200)
  await until('its end', async () => (await ask(soon)) === 404, { timeoutMs: 60_000 })
  expect(Date.now() - Date.parse(soon.endsAt ?? '')).toBeLessThan(MOST_LATE)
  expect(await ask(long)).toBe(200)
}, 180_000)
