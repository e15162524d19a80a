import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { haproxyPaths } from '@postern/render/haproxy/options'
import { until } from '@postern/testkit/until'
import { afterAll, expect, test } from 'vitest'
import { createLogRings } from '../../../observe/log-rings.ts'
import type { HaproxyLog } from './line.ts'
import { createLogListener } from './listener.ts'

/** Of this process, for a thousand lines, in ms. A quiet machine needs less than 5. */
const LIMIT = 25
const LINES = 20_000

const directory = await mkdtemp(join(tmpdir(), 'logs-'))
const listener = createLogListener(haproxyPaths(directory), process.getuid?.() ?? 0)
afterAll(async () => {
  await listener.close()
  await rm(directory, { recursive: true, force: true })
})

test('lines that nobody watches cost next to nothing, and can be read later', {
  timeout: 60_000,
}, async () => {
  const { port, secret } = await listener.listen()
  const kept: HaproxyLog[] = []
  const rings = createLogRings({ send: () => true })
  listener.logs.on('line', (line) => {
    rings.push(line)
    kept.push(line)
  })
  const lineOf = (_: unknown, index: number) =>
    `E|${secret}|${index % 50}|${index}|200|--|0|1795252758123|203.0.113.5|1234|14|-|-|GET /${index}\n`
  const text = Array.from({ length: LINES }, lineOf).join('')
  const sender = connect(port, '127.0.0.1')
  try {
    const before = process.cpuUsage()
    sender.write(text)
    await until('all lines to arrive', () => kept.length === LINES, { timeoutMs: 50_000, everyMs: 100 })
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / LINES).toBeLessThan(LIMIT)
    expect(kept[LINES - 1]?.text).toBe(
      `[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /${LINES - 1}" 200 1.2KB 14ms`,
    )
    expect(kept.every(({ sign }) => sign === 'answered')).toBe(true)
  } finally {
    sender.destroy()
  }
})
