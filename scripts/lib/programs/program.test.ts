import { expect, test } from 'vitest'
import { Program } from './program.ts'

function programOf(code: string, onRestart = (_how: string) => {}) {
  const lines: string[] = []
  const program = new Program({
    name: 'thing',
    argv: [process.execPath, '-e', code],
    env: {},
    cwd: '/',
    onLine: (line) => lines.push(line),
    onRestart: (_, how) => onRestart(how),
  })
  return { program, lines }
}

test('a program is ready when it says so, and stops when asked', async () => {
  const { program } = programOf(
    "process.send({ type: 'other' }); process.send({ type: 'ready', a: 1 }); setInterval(() => {}, 1e3)",
  )
  expect(await program.ready).toEqual({ type: 'ready', a: 1 })
  await program.stop()
})

test('a first run that ends before it is ready is an error that says how it ended', async () => {
  const { program, lines } = programOf("console.error('port 80 is taken'); process.exit(1)")
  await expect(program.ready).rejects.toThrow('the thing did not start (exit code 1)')
  await program.stop()
  expect(lines).toEqual(['port 80 is taken'])
})

test('when it is killed before it is ready, the error says what most likely killed it', async () => {
  const { program } = programOf("process.kill(process.pid, 'SIGKILL')")
  await expect(program.ready).rejects.toThrow(
    'the thing did not start (SIGKILL, most likely because memory ran out)',
  )
  await program.stop()
})

test('a program that cannot be started at all is an error, too', async () => {
  const options = { name: 'thing', argv: ['/nonexistent'], env: {}, cwd: '/', onLine() {}, onRestart() {} }
  const program = new Program(options)
  await expect(program.ready).rejects.toThrow('ENOENT')
  await program.stop()
})

test('a program that crashes later is restarted', async () => {
  const code =
    "process.send({ type: 'ready', pid: process.pid }); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100)"
  const { promise, resolve } = Promise.withResolvers<string>()
  let restarts = 0
  const { program } = programOf(code, (how) => ++restarts === 2 && resolve(how))
  await program.ready
  expect(await promise).toBe('SIGKILL, most likely because memory ran out')
  await program.stop()
})

test('before a restart, what it needs is prepared', async () => {
  let made = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const program = new Program({
    name: 'thing',
    argv: [process.execPath, '-e', "process.send({ type: 'ready' }); setTimeout(() => process.exit(1), 100)"],
    env: {},
    cwd: '/',
    onLine() {},
    onRestart() {},
    prepare: async () => (++made === 2 ? resolve() : undefined),
  })
  await program.ready
  expect(made).toBe(0)
  await promise
  await program.stop()
})

test('a program that hangs is ended and restarted, and one that never sent a heartbeat is left alone', async () => {
  const hang = "setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 1200)"
  const beat = "setInterval(() => process.send({ type: 'beat' }), 100)"
  const { promise, resolve } = Promise.withResolvers<string>()
  const hung = programOf(`process.send({ type: 'ready' }); ${beat}; ${hang}`, resolve)
  const quiet: string[] = []
  const other = programOf("process.send({ type: 'ready' }); setInterval(() => {}, 1e3)", (how) =>
    quiet.push(how),
  )
  await Promise.all([hung.program.ready, other.program.ready])
  expect(await promise).toBe('hung for 10 seconds')
  expect(quiet).toEqual([])
  await Promise.all([hung.program.stop(), other.program.stop()])
}, 60_000)

test('a program that ignores SIGTERM is killed', async () => {
  const { program } = programOf(
    "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e3); process.send({ type: 'ready' })",
  )
  await program.ready
  await program.stop()
})
