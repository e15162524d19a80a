import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '@postern/testkit/exec'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const demo = [process.execPath, join(ROOT, 'scripts/demo.ts')]

let lab: Lab
let dir: string

beforeAll(async () => {
  lab = await startLab()
  dir = mkdtempSync(join(tmpdir(), 'pt-demo-'))
})

afterAll(async () => {
  await lab.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Not `ip netns exec`: in there the namespace that the demonstration makes would be seen by itself only. */
const begin = (name: string, ...args: string[]) =>
  start(['nsenter', `--net=/run/netns/${lab.server.name}`, ...demo, ...args], {
    logFile: join(dir, name),
    cwd: ROOT,
  })

test('a demonstration that was killed is swept by the next, which shows all and leaves nothing', async () => {
  const killed = begin('killed.log')
  const isShown = () => !killed.isRunning() || killed.output().includes('Ctrl-C removes')
  await until('the addresses', isShown, { timeoutMs: 60_000 })
  expect(killed.output()).toContain('Ctrl-C removes')
  const second = begin('second.log', '--once')
  expect(await second.exited).toBe(1)
  expect(second.output()).toMatch(/^postern: the demonstration is already running \(pid \d+\)\n$/)
  await killed.stop('SIGKILL')
  const next = begin('next.log', '--once')
  const code = await next.exited
  expect(next.output()).toContain('Both were tried just now and answer.')
  expect(code).toBe(0)
  expect(next.output()).toMatch(/curl -sk --resolve \S+ https:\S+\/metrics/)
  await expectNothingLeft()
}, 180_000)

async function expectNothingLeft(): Promise<void> {
  expect(existsSync('/var/lib/postern-demo')).toBe(false)
  expect(await lab.server.must('ip', 'netns', 'list')).not.toContain('postern-demo')
  expect(await lab.server.must('ip', 'link')).not.toContain('postern-demo')
  expect(await lab.server.must('nft', 'list', 'tables')).not.toContain('postern')
  expect(await lab.server.must('ps', '-eo', 'args=')).not.toMatch(/^(?!.*scripts\/demo).*postern-demo/m)
}
