import { runCommand, untilSignal } from './lib/command.ts'
import { checkHealth, readRole, runRole } from './lib/container.ts'
import { takeEnvironment } from './lib/environment.ts'

/**
 * The program of the containers (deploy/docker): `server` or `edge` runs that half until a signal, `health` before it
 * says whether it works.
 */
await runCommand(async () => {
  const [first = '', second = ''] = process.argv.slice(2)
  if (first === 'health') {
    process.stdout.write(`${await checkHealth(readRole(second), process.env)}\n`)
    return 0
  }
  await runRole(readRole(first), takeEnvironment(), untilSignal(), {
    say: (text) => void process.stdout.write(text),
    warn: (text) => void process.stderr.write(text),
  })
  return 0
})
