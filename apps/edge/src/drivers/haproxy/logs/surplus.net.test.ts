import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { haproxyPaths } from '@postern/render/haproxy/options'
import { until } from '@postern/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { createLogListener } from './listener.ts'

test('HAProxies that have handed over are all heard, and one too many is not hung up on at once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'log-'))
  const listener = createLogListener(haproxyPaths(dir), process.getuid?.() ?? 0)
  onTestFinished(async () => {
    await listener.close()
    rmSync(dir, { recursive: true })
  })
  const lines: number[] = []
  listener.logs.on('line', ({ service }) => lines.push(service))
  const { port, secret } = await listener.listen()
  let ended = 0
  const dial = async (service: number) => {
    const socket = connect(port, '127.0.0.1').on('close', () => ended++)
    await once(socket, 'connect')
    // The listener ends with a reset.
    socket.on('error', () => undefined)
    socket.write(`U|${secret}|${service}|1795252758000|6.6.6.6|GET /\n`)
  }
  for (let service = 1; service <= 66; service++) await dial(service)
  await until('the lines', () => lines.length === 64)
  expect(ended).toBe(0)
})
