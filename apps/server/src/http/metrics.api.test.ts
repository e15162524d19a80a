import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, METRICS_TOKEN, metricsSettings, openMetricsOf } from '../../test/metrics-lab.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function start(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer({ settings })
  ends.push(() => server.close())
  ends.push(await openMetricsOf(server))
  return server
}

describe('the address of metrics', () => {
  it('answers nobody without the token, whatever they ask for', async () => {
    const server = await start(await metricsSettings())
    const client = await server.signIn()
    const wrong = [null, '', 'x'.repeat(METRICS_TOKEN.length), `${METRICS_TOKEN}x`, client.token]
    for (const token of wrong)
      for (const path of ['/metrics', '/', '/api/health', '/metrics/'])
        expect([token, path, (await ask(server, path, { token })).status]).toEqual([token, path, 401])
    expect((await ask(server, '/metrics', { token: null })).headers.get('www-authenticate')).toBe('Bearer')
    expect(server.logged().match(/without the right token/g)).toHaveLength(1)
    expect(server.logged()).not.toContain(METRICS_TOKEN)
  })

  it('is not kept from others by one that holds connections', async () => {
    const server = await start(await metricsSettings())
    const { host = '', port = 0 } = server.context.config.settings.POSTERN_METRICS_ADDRESS ?? {}
    const held = Array.from({ length: 40 }, () => connect({ host, port, localAddress: '127.0.0.2' }))
    for (const socket of held) socket.on('error', () => undefined)
    ends.push(async () => held.forEach((socket) => void socket.destroy()))
    await until('their end', () => held.filter(({ closed }) => closed).length >= 32)
    expect((await ask(server)).status).toBe(200)
  })

  it('has metrics and nothing else', async () => {
    const server = await start(await metricsSettings())
    expect((await ask(server)).status).toBe(200)
    expect((await ask(server, '/metrics?name[]=x')).status).toBe(200)
    expect((await ask(server, '/api/nodes')).status).toBe(404)
    expect((await ask(server, '/metrics', { method: 'POST' })).status).toBe(405)
  })

  it('is the only one: not that of the console, where the token is good for nothing', async () => {
    const server = await start(await metricsSettings())
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    for (const url of ['/metrics', '/api/metrics'])
      expect((await server.app.inject({ url, headers })).statusCode).toBe(404)
    expect((await server.app.inject({ url: '/api/nodes', headers })).statusCode).toBe(401)
  })

  it('takes the token from a file', async () => {
    const file = join(tempDir(), 'token')
    const { POSTERN_METRICS_ADDRESS } = await metricsSettings()
    const settings = { POSTERN_METRICS_ADDRESS, POSTERN_METRICS_TOKEN_FILE: file }
    await expect(start(settings)).rejects.toThrow(/POSTERN_METRICS_TOKEN_FILE cannot be read/)
    writeFileSync(file, 'short\n')
    await expect(start(settings)).rejects.toThrow(/POSTERN_METRICS_TOKEN_FILE must hold/)
    writeFileSync(file, `${METRICS_TOKEN}\n`)
    expect((await ask(await start(settings))).status).toBe(200)
  })

  it('is closed by default', async () => {
    const server = await start({})
    expect(server.context.config.settings.POSTERN_METRICS_ADDRESS).toBeNull()
  })

  it('is waited for, and said to be taken meanwhile', async () => {
    const settings = await metricsSettings()
    const port = Number(settings.POSTERN_METRICS_ADDRESS.split(':')[1])
    const holder = createServer((_, response) => response.end('another'))
    await new Promise<void>((resolve) => holder.listen(port, '127.0.0.1', resolve))
    const server = await start(settings)
    const client = await server.signIn()
    const problem = async () => (await client.get('/api/edges')).json()[0].problems[0]?.message
    expect(await problem()).toMatch(/^port \d+ of 127.0.0.1 is taken: .* POSTERN_METRICS_ADDRESS/)
    holder.closeAllConnections()
    await new Promise((resolve) => holder.close(resolve))
    await until('the port to be ours', async () => (await problem()) === undefined)
    expect((await ask(server)).status).toBe(200)
  })

  it('is the port of no service', async () => {
    const server = await start(await metricsSettings())
    const client = await server.signIn()
    const { port } = server.context.config.settings.POSTERN_METRICS_ADDRESS ?? {}
    const form = {
      name: 'out',
      backendHost: '127.0.0.1',
      backendPort: port,
      domain: 'a.example.com',
      skipValidation: true,
    }
    const answer = await client.post('/api/services/1/http', form)
    expect(answer.statusCode).toBe(422)
    expect(answer.body).toContain('is used by Postern itself on this port')
  })
})
