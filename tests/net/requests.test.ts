import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RequestPage, ShownRequest } from '@postern/contract/requests/query'
import { must, run } from '@postern/host/processes/exec'
import { isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'

const UDP_VISITOR = fileURLToPath(new URL('../../apps/edge/test/udp-visitor.ts', import.meta.url))
const PORTS = { echo: 8081, rude: 8082, udp: 7001 }
const RUDE = `require('node:net').createServer((socket) => socket.on('error', () => {}).once('data', () =>
  socket.destroy())).listen(${PORTS.rude}, '127.0.0.1')`

const lab = shared(startLab)
const accessLog = () => `/tmp/access-${lab.id}.log`
const installation = shared(() => startInstallation(lab, { POSTERN_REQUESTS_LOG: `file:${accessLog()}` }))
const services: Record<string, number> = {}
let ports: Record<'tcp' | 'udp', number>

beforeAll(async () => {
  const { api, dataDir } = installation
  const dir = `${dataDir}/upstreams`
  await startEcho(lab.server, dir, PORTS.echo, '127.0.0.1')
  await startListening(lab.server, [process.execPath, '-e', RUDE], dir, 'rude', PORTS.rude)
  const echo = `const socket = require('node:dgram').createSocket('udp4').bind(${PORTS.udp}, '127.0.0.1')
    socket.on('message', (_, { address, port }) => socket.send('pong', port, address))`
  lab.server.start([process.execPath, '-e', echo], { logFile: `${dir}/udp.log` })
  const publish = async (name: string, backendPort: number, more = {}) => {
    const form = { name, domain: `${name}.example.com`, backendHost: '127.0.0.1', backendPort, ...more }
    services[name] = (await api.publish(1, form)).id
  }
  await publish('web', PORTS.echo)
  await publish('listed', PORTS.echo, { blockedIps: [lab.visitor.address] })
  await publish('rude', PORTS.rude)
  const port = async (proto: 'tcp' | 'udp', backendPort: number) => {
    const form = { name: proto, proto, backendHost: '127.0.0.1', backendPort }
    const service = await api.publishPort(1, form)
    services[proto] = service.id
    return service.port
  }
  ports = { tcp: await port('tcp', PORTS.echo), udp: await port('udp', PORTS.udp) }
  for (const host of ['web', 'listed', 'rude'])
    await until(`${host} to be there`, async () => (await ask(host, '/')).status !== 404)
})

const ask = (host: string, path: string) => visit(lab.visitor, `https://${host}.example.com${path}`)
const find = async (query: string): Promise<ShownRequest[]> =>
  ((await installation.api.call('GET', `/api/requests?${query}`)).json as RequestPage).data
/** The one that a query finds, once it is there. */
const found = (query: string) =>
  until(`a request with ${query}`, async () => {
    const [request] = await find(query)
    return request
  })
const untilKept = (path: string) =>
  until(`${path} to be kept`, async () => {
    await ask('web', path)
    return (await find(`path=${path}`)).length > 0
  })
const problems = async () => (await installation.api.listEdges()).flatMap((edge) => edge.problems)

test('a request is kept with what it was and where it went, and without its query', async () => {
  await until('an answer', async () => (await ask('web', '/deep/page?token=s3cr3t')).status === 200)
  const request = await found(`service=${services.web}&status=200&path=/deep`)
  expect(request).toMatchObject({
    ...{ type: 'http', method: 'GET', path: '/deep/page', query: null, reason: null, person: null },
    source: lab.visitor.address,
    target: `127.0.0.1:${PORTS.echo}`,
    service: { name: 'web', domain: 'web.example.com' },
  })
  expect(request.total).toBeGreaterThanOrEqual(request.response ?? 0)
  expect([request.received, request.sent].every((bytes) => bytes > 50)).toBe(true)
  expect(Math.abs(request.at - Date.now())).toBeLessThan(60_000)
  const { requestsDir } = installation.paths
  for (const name of readdirSync(requestsDir)) {
    expect(statSync(`${requestsDir}/${name}`).mode & 0o777).toBe(0o600)
    expect(readFileSync(`${requestsDir}/${name}`, 'latin1')).not.toContain('s3cr3t')
  }
})

test('so is one that a list refuses, and one that the service does not answer, each with its reason', async () => {
  expect((await ask('listed', '/')).status).toBe(403)
  expect(await found('reason=blocked&type=http')).toMatchObject({ status: 403, target: null })
  await until('our page', async () => (await ask('rude', '/')).status === 502)
  expect(await found(`service=${services.rude}&status=502`)).toMatchObject({
    reason: 'no-answer',
    target: `127.0.0.1:${PORTS.rude}`,
  })
})

test('so is a connection of a TCP service and a flow of a UDP service, once it has ended', async () => {
  const { server, visitor } = lab
  await until('an answer', async () => {
    const { stdout } = await visitor.run('curl', '-sm', '5', `http://${server.address}:${ports.tcp}/tcp`)
    return stdout.includes('/tcp')
  })
  const connection = await found(`service=${services.tcp}`)
  expect(connection).toMatchObject({ type: 'tcp', status: null, source: visitor.address })
  expect(connection.sent).toBeGreaterThan(50)
  const asks = ['keep', server.address, String(ports.udp), visitor.address, '1']
  const logFile = `${installation.dataDir}/upstreams/udp-visitor.log`
  const program = visitor.start([process.execPath, UDP_VISITOR, ...asks], { logFile })
  await until('an answer', () => program.output().includes('1 pong'))
  await program.stop()
  await server.must('conntrack', '-D', '-p', 'udp', '--orig-port-dst', String(ports.udp))
  const flow = await found(`service=${services.udp}`)
  expect(flow).toMatchObject({ type: 'udp', source: visitor.address, target: `127.0.0.1:${PORTS.udp}` })
})

test('each request also went to the file, in the fields of Caddy', async () => {
  const lines = () => {
    const text = existsSync(accessLog()) ? readFileSync(accessLog(), 'utf8').trimEnd() : ''
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line))
  }
  // Lines go out twice a second.
  await expect.poll(lines, { timeout: 10_000 }).toContainEqual(
    expect.objectContaining({
      logger: 'http.log.access',
      status: 200,
      request: expect.objectContaining({ host: 'web.example.com', uri: '/deep/page', method: 'GET' }),
    }),
  )
})

test('what was kept outlives the edge, also one that is killed', async () => {
  const before = (await find('limit=200')).map(({ id }) => id)
  await installation.edge.stop('SIGKILL')
  installation.startEdge()
  await until('the edge', () => isApplied(installation.api))
  await until('what was kept', async () => {
    const now = (await find('limit=200')).map(({ id }) => id)
    return before.every((id) => now.includes(id))
  })
  // What HAProxy wrote into the connection of the one that was killed is lost.
  await untilKept('/after')
})

test('a full disk ends the keeping and nothing else, and it goes on when there is room', async () => {
  const { requestsDir } = installation.paths
  await installation.edge.stop()
  // Before the edge gets its own view of what is mounted.
  await must('mount', ['-t', 'tmpfs', '-o', 'size=230m,mode=700', 'tmpfs', requestsDir])
  installation.startEdge()
  await until('the edge', () => isApplied(installation.api))
  await untilKept('/room')
  await must('fallocate', ['-l', '60M', `${requestsDir}/filler`])
  expect((await ask('web', '/lost')).status).toBe(200)
  const isTold = async () =>
    (await problems()).some(({ message }) => message.includes('disk of the edge is full'))
  await until('the problem', isTold)
  expect((await ask('web', '/lost')).status).toBe(200)
  expect(await find('path=/lost')).toEqual([])
  rmSync(`${requestsDir}/filler`)
  await untilKept('/again')
  expect((await find('path=/room')).length).toBeGreaterThan(0)
})

afterAll(async () => {
  await run('umount', ['-l', installation.paths.requestsDir])
  rmSync(accessLog(), { force: true })
})
