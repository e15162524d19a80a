import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { haproxyPaths } from '@postern/render/haproxy/options'
import { until } from '@postern/testkit/until'
import { afterAll, expect, test } from 'vitest'
import { createLogListener, READ_EVERY } from './listener.ts'
import type { HaproxyLog } from './log.ts'

const directory = await mkdtemp(join(tmpdir(), 'logs-'))
const listener = createLogListener(haproxyPaths(directory), process.getuid?.() ?? 0)
afterAll(async () => {
  await listener.close()
  await rm(directory, { recursive: true, force: true })
})

/** A line of the n-th request. */
const lineOf = (secret: string, index: number) =>
  `E|${secret}|${index % 50}|${index}|200|--|0|1795252758123|203.0.113.5|1234|77|14|1|9|10.64.0.2:80|-|-|-|GET /${index}\n`

async function send(give: (sender: Socket, secret: string) => Promise<unknown>): Promise<void> {
  const { port, secret } = await listener.listen()
  const sender = connect(port, '127.0.0.1')
  try {
    await give(sender, secret)
  } finally {
    sender.destroy()
  }
}

test('lines that come in a burst are read many at a time, and can be formatted later', async () => {
  const kept: HaproxyLog[] = []
  const wakes: number[] = []
  const take = (line: HaproxyLog) => {
    kept.push(line)
    if (performance.now() - (wakes.at(-1) ?? 0) > 5) wakes.push(performance.now())
  }
  listener.logs.on('line', take)
  const start = performance.now()
  await send(async (sender, secret) => {
    for (let sent = 0; performance.now() - start < 10 * READ_EVERY; await pause(2))
      sender.write(lineOf(secret, sent++))
    sender.write(lineOf(secret, 9999))
    await until('the last line', () => kept.at(-1)?.text.includes('/9999'))
  })
  listener.logs.off('line', take)
  expect(kept.length).toBeGreaterThan(5)
  // One read for each pause; a busy machine wakes up later, not more often.
  expect(wakes.length).toBeLessThan((performance.now() - start) / READ_EVERY + 3)
  expect(kept.at(-1)).toMatchObject({
    sign: 'answered',
    text: '[INFO] 2026-11-21T09:19:18.123Z 203.0.113.5 "GET /9999" 200 1.2KB 14ms',
  })
})

test('no line is lost when twenty thousand come at once', async () => {
  let seen = 0
  const count = () => seen++
  listener.logs.on('line', count)
  await send(async (sender, secret) => {
    sender.write(Array.from({ length: 20_000 }, (_, index) => lineOf(secret, index)).join(''))
    await until('all lines to arrive', () => seen === 20_000)
  })
  listener.logs.off('line', count)
})
