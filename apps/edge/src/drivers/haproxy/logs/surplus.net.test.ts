import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExec } from '@postern/host/processes/exec'
import { haproxyPaths } from '@postern/render/haproxy/options'
import { until } from '@postern/testkit/until'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createLogListener, type LogAddress, type LogListener } from './listener.ts'

let listener: LogListener
let lines: number[]
let address: LogAddress
let ended: number

beforeEach(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'log-'))
  listener = createLogListener(haproxyPaths(dir), process.getuid?.() ?? 0)
  onTestFinished(async () => {
    await listener.close()
    rmSync(dir, { recursive: true })
  })
  lines = []
  ended = 0
  listener.logs.on('line', ({ service }) => lines.push(service))
  address = await listener.listen()
})

async function dial(service: number): Promise<void> {
  const socket = connect(address.port, '127.0.0.1').on('close', () => ended++)
  await once(socket, 'connect')
  // The listener ends with a reset.
  socket.on('error', () => undefined)
  socket.write(`U|${address.secret}|${service}|1795252758000|6.6.6.6|GET /\n`)
}

test('all HAProxies that have handed over are heard, and a surplus one is not disconnected at once', async () => {
  for (let service = 1; service <= 66; service++) await dial(service)
  await until('the lines', () => lines.length === 64)
  expect(ended).toBe(0)
})

test('sockets of another user do not lock out HAProxy', async () => {
  const one = `require('net').connect(${address.port},'127.0.0.1',()=>--left||process.exit()).on('error',()=>0)`
  const program = `let left=200;for(let i=0;i<200;i++)${one}`
  const other = ['--reuid=65534', '--clear-groups', '--', '/usr/bin/env', 'node', '-e', program]
  expect((await createExec().run('setpriv', other)).code).toBe(0)
  await dial(1)
  await until('the line', () => lines.includes(1))
})
