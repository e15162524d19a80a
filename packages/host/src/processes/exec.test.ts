import { readFileSync } from 'node:fs'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { createExec, must } from './exec.ts'

const exec = createExec()
let dir: string
beforeEach(() => {
  dir = tempDir()
})

test('gives input, takes both streams and the exit code, and never asks a shell', async () => {
  expect(await exec.run('cat', ['-'], { input: '$(id) > x', timeoutMs: 60_000 })).toEqual({
    code: 0,
    stdout: '$(id) > x',
    stderr: '',
  })
  const { code, stderr } = await exec.run('ls', [`${dir}/; true`], { timeoutMs: 60_000 })
  expect(code).not.toBe(0)
  expect(stderr).toContain('; true')
})

test('a missing program, a hanging one and a talkative one are errors of their own', async () => {
  await expect(exec.run('no-such-program', [], { timeoutMs: 60_000 })).rejects.toMatchObject({
    code: 'program_missing',
    message: 'no-such-program is not installed',
  })
  await expect(exec.run('sleep', ['60'], { timeoutMs: 50 })).rejects.toMatchObject({ code: 'exec_timeout' })
  const loud = exec.run('cat', ['/dev/zero'], { timeoutMs: 60_000, maxOutput: 100_000 })
  await expect(loud).rejects.toMatchObject({ code: 'exec_output' })
})

test('programs see nothing of our environment', async () => {
  process.env.POSTERN_ADMIN_PASSWORD = 'secret-of-the-test'
  const { stdout } = await exec.run('env', [], { timeoutMs: 60_000 })
  delete process.env.POSTERN_ADMIN_PASSWORD
  expect(stdout).not.toContain('secret-of-the-test')
  expect(stdout).toContain('LC_ALL=C')
})

test('a detached program leads a session of its own and writes to its file', async () => {
  const files = { stdoutFile: `${dir}/out`, stderrFile: `${dir}/err`, unit: 'postern-test' }
  const pid = await exec.startDetached('sleep', ['60'], files)
  // The sixth field is the session.
  const session = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]
  process.kill(pid, 'SIGKILL')
  expect(Number(session)).toBe(pid)
  await expect(exec.startDetached('no-such-program', [], files)).rejects.toMatchObject({
    code: 'program_missing',
  })
})

test('a stream gives lines until it is stopped, and says why it could not begin', async () => {
  const lines: string[] = []
  const ended = await new Promise<Error | undefined>((resolve) => {
    const program = exec.stream('sh', ['-c', 'echo one; echo two >&2; exec sleep 60'], {
      onLine: (line) => {
        lines.push(line)
        if (lines.length === 2) program.stop()
      },
      onExit: resolve,
    })
  })
  expect(ended).toBeUndefined()
  expect(lines.sort()).toEqual(['one', 'two'])
  const missing = await new Promise((onExit) =>
    exec.stream('no-such-program', [], { onLine: () => undefined, onExit }),
  )
  expect(missing).toMatchObject({ code: 'program_missing' })
})

test('a prefix goes before every program', async () => {
  const { stdout } = await createExec(['env', 'PLACE=lab']).run('env', [], { timeoutMs: 60_000 })
  expect(stdout).toContain('PLACE=lab')
})

test('programs are found on the path that is given', async () => {
  await expect(createExec([], dir).run('env', [])).rejects.toMatchObject({ code: 'program_missing' })
})

test('a program that goes to the background is not waited for', async () => {
  const began = performance.now()
  const { code } = await exec.run('sh', ['-c', 'sleep 20 & echo $! > "$1"', 'sh', `${dir}/pid`], {
    background: true,
  })
  expect(code).toBe(0)
  expect(performance.now() - began).toBeLessThan(10_000)
  process.kill(Number(readFileSync(`${dir}/pid`, 'utf8')))
})

test('the failure of a program that must succeed is reported in its own words', async () => {
  await expect(must('ls', [`${dir}/not-here`])).rejects.toThrow(/^ls .*not-here: .*No such file/)
  expect(await must('env', [], { env: { PLACE: 'lab' } })).toBe('PLACE=lab\n')
})
