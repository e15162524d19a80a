import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createExec } from '@postern/host/processes/exec'
import { inSections } from '@postern/render/resolved-route'
import { makeKept } from '@postern/testkit/kept-requests'
import { findFreePort } from '@postern/testkit/port'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeLabRoute } from '../../../test/haproxy-lab.ts'
import { type AccessLog, createAccessLog } from './access-log.ts'
import { renderAccessLine } from './caddy.ts'

const AT = Date.parse('2026-11-26T09:05:03.250Z')
let log: AccessLog | undefined
let directory: string

beforeEach(() => {
  directory = tempDir()
})
afterEach(async () => {
  await log?.close()
  log = undefined
})

function openLog(destination: string, changes: object = {}): AccessLog {
  const parts = {
    destination,
    host: 'gate.example.com',
    exec: createExec(),
    now: Date.now,
    onProblem: () => {},
  }
  log = createAccessLog({ ...parts, ...changes })
  if (!log) throw new Error('there is none')
  return log
}
const told = () => log?.problems().map(({ message }) => message) ?? []

describe('a line', () => {
  test('has the fields of Caddy', () => {
    const request = makeKept({
      at: AT,
      path: '/a"b',
      query: 'x=1',
      person: 'ann@example.com',
      status: 403,
      reason: 'blocked',
    })
    expect(JSON.parse(renderAccessLine(request, 'app.example.com'))).toEqual({
      level: 'info',
      ts: AT / 1000,
      logger: 'http.log.access',
      msg: 'handled request',
      request: {
        remote_ip: '203.0.113.5',
        client_ip: '203.0.113.5',
        method: 'GET',
        host: 'app.example.com',
        uri: '/a"b?x=1',
      },
      common_log: '203.0.113.5 - ann@example.com [26/Nov/2026:09:05:03 +0000] "GET /a%22b?x=1 HTTP" 403 2000',
      user_id: 'ann@example.com',
      status: 403,
      bytes_read: 100,
      size: 2000,
      duration: 0.012,
      postern: {
        type: 'http',
        service: 1,
        target: '10.64.0.2:8080',
        connect_ms: 2,
        response_ms: 10,
        reason: 'blocked',
        why: 'the IP list of the service does not allow this address',
        detail: null,
      },
    })
  })

  test('of a connection has nothing of a request', () => {
    const line = JSON.parse(renderAccessLine(makeKept({ type: 'tcp', status: null }), null))
    expect(line).toMatchObject({ logger: 'tcp.log.access', request: { remote_ip: '203.0.113.5' } })
    expect(line).not.toHaveProperty('status')
    expect(line.request).not.toHaveProperty('uri')
  })
})

describe('a file', () => {
  const path = () => join(directory, 'access.log')
  const lines = (file = path()) =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []

  test('gets each line, with the domain of the service, and another file once it was rotated', async () => {
    const access = openLog(`file:${path()}`)
    access.setRoutes(inSections([makeLabRoute(7, 80, { domain: 'app.example.com' })]))
    access.write(makeKept({ service: 7, path: '/1' }))
    access.write(makeKept({ service: 8, path: '/2' }))
    await until('two lines', () => lines().length === 2)
    expect(lines().map(({ request }) => [request.host, request.uri])).toEqual([
      ['app.example.com', '/1'],
      ['gate.example.com', '/2'],
    ])
    expect(statSync(path()).mode & 0o777).toBe(0o640)
    renameSync(path(), `${path()}.1`)
    access.write(makeKept({ path: '/3' }))
    await until('the line in the new file', () => lines().length === 1)
    expect(lines(`${path()}.1`)).toHaveLength(2)
  })

  test('that cannot be written is a problem, which ends with it', async () => {
    const access = openLog(`file:${directory}/absent/access.log`)
    access.write(makeKept())
    await until('the problem', () => told().length > 0)
    expect(told()[0]).toMatch(
      /^The request log file:\S+ takes nothing: ENOENT.* 1 line was dropped since 20\d\d-/,
    )
  })

  test('is no link, by which its directory’s owner would choose the file that root writes to', async () => {
    const other = join(directory, 'other')
    writeFileSync(other, '')
    symlinkSync(other, path())
    openLog(`file:${path()}`).write(makeKept())
    await until('the problem', () => told()[0]?.includes('it is a link'))
    expect(readFileSync(other, 'utf8')).toBe('')
  })

  test('is no pipe, which would keep us waiting', async () => {
    await createExec().run('mkfifo', [path()])
    openLog(`file:${path()}`).write(makeKept())
    await until('the problem', () => told()[0]?.includes('it is not a file'))
  })
})

describe('syslog', () => {
  const MESSAGE =
    /^<134>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z gate\.example\.com postern - access - \{"level".*\}$/

  test('by UDP gets a message each', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const heard: string[] = []
    socket.on('message', (message) => heard.push(String(message)))
    const access = openLog(`udp://127.0.0.1:${socket.address().port}`)
    for (let n = 0; n < 50; n++) access.write(makeKept({ path: `/${n}` }))
    await until('all messages', () => heard.length === 50)
    for (const message of heard) expect(message).toMatch(MESSAGE)
    socket.close()
  })

  test('by TCP gets them by their length, also after the other end was away', async () => {
    const port = await findFreePort()
    const access = openLog(`tcp://127.0.0.1:${port}`, { now: skipPauses() })
    access.write(makeKept({ path: '/lost' }))
    await until('the problem', () => told()[0]?.includes('ECONNREFUSED'))
    const peer = await listen(port)
    access.write(makeKept({ path: '/1' }))
    access.write(makeKept({ path: '/2' }))
    await until('both', () => framesOf(peer.text()).length === 2)
    for (const message of framesOf(peer.text())) expect(message).toMatch(MESSAGE)
    expect(told()[0]).toMatch(/^The request log \S+ was too slow: 1 line was dropped/)
    peer.close()
  })

  test('by a socket of streams and by one of datagrams', async () => {
    const path = join(directory, 's')
    const peer = await listen(path)
    openLog(`unix:${path}`).write(makeKept({ path: '/1' }))
    await until('the message', () => framesOf(peer.text()).length === 1)
    peer.close()
    await log?.close()
    rmSync(path, { force: true })
    const program = `import socket,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM);s.bind(sys.argv[1]);print('ready',flush=True)
while True: print(s.recv(20000).decode(),flush=True)`
    const heard: string[] = []
    const listener = createExec().stream('python3', ['-c', program, path], {
      onLine: (line) => heard.push(line),
      onExit: () => undefined,
    })
    await until('the listener', () => heard.includes('ready'))
    chmodSync(path, 0o666)
    const access = openLog(`unix:${path}`)
    access.write(makeKept({ path: '/1' }))
    access.write(makeKept({ path: '/2' }))
    await until('both messages', () => heard.length === 3)
    expect(heard[1]).toMatch(/^<134>1 \S+ .*postern - - .*\{"level".*"uri":"\/1"/)
    listener.stop()
  })

  test('that takes nothing costs lines and no memory, and is told', async () => {
    const peer = await listen(0, (socket) => socket.pause())
    const access = openLog(`tcp://127.0.0.1:${peer.port}`)
    const line = makeKept({ path: `/${'x'.repeat(1400)}` })
    const before = process.cpuUsage()
    for (let n = 0; n < 60_000; n++) access.write(line)
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
    await until('the problem', () => told()[0]?.includes('was too slow'))
    const dropped = Number(/([\d,]+) lines were dropped/.exec(told()[0] ?? '')?.[1]?.replaceAll(',', ''))
    expect(dropped).toBeGreaterThan(30_000)
    peer.close()
  })
})

/** A clock on which no pause lasts. */
function skipPauses(): () => number {
  let skipped = 0
  return () => {
    skipped += 1000
    return Date.now() + skipped
  }
}

async function listen(at: number | string, onSocket: (socket: Socket) => void = () => {}) {
  let text = ''
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  server.listen(at === 0 ? { port: 0, host: '127.0.0.1' } : at)
  await once(server, 'listening')
  const address = server.address()
  return {
    text: () => text,
    port: typeof address === 'object' ? address?.port : undefined,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Messages by the lengths before them. */
function framesOf(text: string): string[] {
  const frames: string[] = []
  for (let rest = text; ; ) {
    const [head, length] = /^(\d+) /.exec(rest) ?? []
    if (head === undefined || rest.length < head.length + Number(length)) return frames
    frames.push(rest.slice(head.length, head.length + Number(length)))
    rest = rest.slice(head.length + Number(length))
  }
}
