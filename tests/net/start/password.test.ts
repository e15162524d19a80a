import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { startLab } from '@postern/testkit/lab/network'
import { readProcessFile } from '@postern/testkit/processes/process-file'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const PASSWORD = `in-no-environment-${process.pid}`

const dir = tempDir()
let env: Record<string, string>

const lab = shared(startLab)
beforeAll(async () => {
  chmodSync(dir, 0o755)
  env = {
    POSTERN_DATA_DIR: join(dir, 'data'),
    POSTERN_PUBLIC_HOST: lab.server.address,
    POSTERN_TUNNEL_INTERFACE: `pw${lab.id.slice(-10)}`,
  }
})

afterAll(async () => {
  await runScript('stop').exited
})

/** As npm runs it: the bootstrap program, which then runs the starter. */
function runScript(verb: string, more: Record<string, string> = {}, log = verb) {
  const argv = [process.execPath, join(ROOT, 'scripts/bootstrap.mjs'), verb]
  return lab.server.start(argv, { logFile: join(dir, `${log}.log`), env: { ...env, ...more }, cwd: ROOT })
}

/** The programs whose environment in /proc contains a text; and whether ours were among those checked. */
function listProgramsWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProcessFile(pid, 'environ').includes(text))
    .map((pid) => readProcessFile(pid, 'cmdline').replaceAll('\0', ' '))
}

async function signIn(password: string): Promise<string> {
  const body = JSON.stringify({ username: 'admin', password })
  const url = 'http://127.0.0.1:3000/api/auth/login'
  return lab.server.must('curl', '-s', '-H', 'content-type: application/json', '-d', body, url)
}

test('the admin’s password lets in, and is in the environment of no process', async () => {
  const starter = runScript('start', { POSTERN_ADMIN_PASSWORD: PASSWORD })
  const isDone = () => !starter.isRunning() || starter.output().includes('Ctrl-C')
  await until('the start to be complete', isDone, { timeoutMs: 150_000 })
  expect(starter.output()).toContain('Ctrl-C')
  // The data directory is in the environment of all of them, which shows that the test looks in the right place.
  const ours = listProgramsWith(`POSTERN_DATA_DIR=${env.POSTERN_DATA_DIR}`).join('\n')
  for (const name of ['bootstrap.mjs', 'dist/start.mjs', 'dist/server.mjs', 'dist/edge.mjs'])
    expect(ours).toContain(name)
  expect(listProgramsWith(PASSWORD)).toEqual([])
  expect(existsSync(installationPaths(join(dir, 'data')).firstPassword)).toBe(false)
  expect(await signIn(PASSWORD)).toContain('"token"')
  const refused = runScript('password')
  await refused.exited
  expect(refused.output()).toContain('stop the server first')
  await starter.stop('SIGINT')
}, 180_000)

test('a forgotten password is replaced with a chosen one while the server is stopped', async () => {
  const chosen = `another-one-${process.pid}`
  const setting = runScript('password', { POSTERN_ADMIN_PASSWORD: chosen }, 'chosen')
  await setting.exited
  expect(setting.output()).toMatch(/^ +Username +admin\n +Password +as given$/m)
  const starter = runScript('start', {}, 'later')
  await until('the start to be complete', () => starter.output().includes('Ctrl-C'), { timeoutMs: 150_000 })
  expect(await signIn(chosen)).toContain('"token"')
  expect(await signIn(PASSWORD)).not.toContain('"token"')
  await starter.stop('SIGINT')
}, 180_000)
