import type { HttpService, HttpServiceFormInput } from '@postern/contract/services/services'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { beforeAll, describe, expect, it } from 'vitest'

const PORTS = { echo: 8081, tls: 8444, late: 8082 }

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  await startEcho(lab.server, dir, PORTS.echo)
  const [key, cert] = [`${dir}/tls.key`, `${dir}/tls.crt`]
  const make = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=tls',
    '-keyout',
    key,
    '-out',
    cert,
  ]
  await lab.server.must('openssl', ...make)
  const serve = [
    'openssl',
    's_server',
    '-quiet',
    '-www',
    '-key',
    key,
    '-cert',
    cert,
    '-accept',
    String(PORTS.tls),
  ]
  await startListening(lab.server, serve, dir, 'tls', PORTS.tls)
})

const publish = (form: Partial<HttpServiceFormInput> & { name: string }) =>
  installation.api.publish(1, { backendHost: '127.0.0.1', domain: `${form.name}.example.com`, ...form })
const stateOf = async (service: HttpService) => (await installation.api.getService(service)).state
const ask = ({ domain }: HttpService) => visit(lab.visitor, `https://${domain}/`)

async function published(form: Partial<HttpServiceFormInput> & { name: string }): Promise<HttpService> {
  const service = await publish(form)
  await until('the service to be live', async () => (await stateOf(service)).phase === 'live')
  return service
}

async function unanswered(form: Partial<HttpServiceFormInput> & { name: string }): Promise<HttpService> {
  const service = await publish(form)
  await until('it to be silent', async () => {
    const { phase } = await stateOf(service)
    // It is never reported as live in between.
    expect(['applying', 'checking', 'unanswered']).toContain(phase)
    return phase === 'unanswered'
  })
  return service
}

/** Sends a visitor's request, and waits for the reason on the row. */
async function expectUnanswered(service: HttpService, page: string, reason: string): Promise<void> {
  await until('our page', async () => (await ask(service)).body.includes(page))
  const state = await until('the reason', async () => {
    const now = await stateOf(service)
    return now.phase === 'unanswered' && now
  })
  expect(state.problem).toContain(reason)
}

describe('a service is not answering', () => {
  it('from the first moment, and until it is there: nobody need come for that', async () => {
    const service = await unanswered({ name: 'late', backendPort: PORTS.late })
    const log = installation.api.stream(`/api/logs/stream?type=http&id=${service.id}`)
    await expectUnanswered(service, 'The service does not answer', 'The service refused the connection')
    await until('its line', () => log.events.some(({ data }) => data.includes('refused the connection')))
    log.close()

    await installation.server.stop()
    await installation.startServer()
    await until('the reason again', async () => (await stateOf(service)).phase === 'unanswered')

    await startEcho(lab.server, `${installation.dataDir}/upstreams`, PORTS.late)
    const since = performance.now()
    await until('it to be live', async () => (await stateOf(service)).phase === 'live')
    console.info('ms until it is live again', Math.round(performance.now() - since))
    expect((await ask(service)).status).toBe(200)
  })

  it('when it does not speak TLS where it should', async () => {
    const service = await unanswered({ name: 'plain', backendProto: 'https', backendPort: PORTS.echo })
    await expectUnanswered(service, 'The service does not answer', 'does not speak TLS on this port')
    await installation.api.setEnabled(service, false)
    await until('shows no reason while it is disabled', async () => (await stateOf(service)).phase === 'live')
  })

  it('when it speaks TLS where it should not', async () => {
    const service = await published({ name: 'tls', backendPort: PORTS.tls })
    await expectUnanswered(service, 'The service gave no valid answer', 'speaks TLS on this port')
    const { call } = installation.api
    await call('PATCH', `/api/services/1/http/${service.id}`, { backendProto: 'https' })
    await until('it to be live', async () => (await stateOf(service)).phase === 'live')
    await until('its answer', async () => (await ask(service)).status === 200)
    expect((await stateOf(service)).phase).toBe('live')
  })
})
