import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startLab } from '@postern/testkit/lab/network'
import { type Running, run, start } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const demo = [process.execPath, join(ROOT, 'scripts/demo.ts')]

const dir = tempDir()

const lab = shared(startLab)

/** Not `ip netns exec`, in which only the demonstration itself would see the namespace that it creates. */
const onServer = (...command: string[]) => ['nsenter', `--net=/run/netns/${lab.server.name}`, ...command]
const begin = (name: string, ...args: string[]) =>
  start(onServer(...demo, ...args), { logFile: join(dir, name), cwd: ROOT })

async function untilSaid(running: Running, words: string): Promise<void> {
  const isSaid = () => !running.isRunning() || running.output().includes(words)
  await until(words, isSaid, { timeoutMs: 120_000 })
  expect(running.output()).toContain(words)
}

test('a killed demonstration is cleaned up by the next, which shows everything and leaves nothing', async () => {
  const killed = begin('killed.log')
  await untilSaid(killed, 'Ctrl-C removes')
  await expectLinesToAnswer(killed.output())
  const second = begin('second.log', '--once')
  expect(await second.exited).toBe(1)
  expect(second.output()).toMatch(/^postern: the demonstration is already running \(pid \d+\)\n$/)
  await killed.stop('SIGKILL')
  const next = begin('next.log', '--once')
  const code = await next.exited
  expect(next.output()).toContain('All were tested just now and answer.')
  expect(code).toBe(0)
  await expectNothingLeft()
}, 180_000)

test('Ctrl-C in the middle of it leaves nothing either', async () => {
  const running = begin('ended.log')
  await untilSaid(running, 'Connecting the private site')
  await running.stop('SIGINT')
  expect(running.output()).toContain('The demonstration is removed.')
  expect(await running.exited).toBe(0)
  await expectNothingLeft()
}, 120_000)

/** The printed commands are copied and run on this machine. */
async function expectLinesToAnswer(said: string): Promise<void> {
  const lines = [...said.matchAll(/^ {2}((?:curl|mosquitto_pub|dig) .*)$/gm)].map(([, line = '']) => line)
  const answers = await Promise.all(lines.map((line) => run(onServer('sh', '-c', line))))
  const [metrics, mqtt, broker, names] = answers.map(({ stdout }) => stdout)
  expect(metrics).toContain('node_exporter_build_info')
  expect(mqtt).toMatch(/^HTTP\/1\.1 101 /)
  expect(broker).toContain('received CONNACK (0)')
  expect(names).toBe('192.0.2.7\n')
}

async function expectNothingLeft(): Promise<void> {
  expect(existsSync('/var/lib/postern-demo')).toBe(false)
  expect(await lab.server.must('ip', 'netns', 'list')).not.toContain('postern-demo')
  expect(await lab.server.must('ip', 'link')).not.toContain('postern-demo')
  expect(await lab.server.must('nft', 'list', 'tables')).not.toContain('postern')
  expect(await lab.server.must('ps', '-eo', 'args=')).not.toMatch(/^(?!.*scripts\/demo).*postern-demo/m)
}
