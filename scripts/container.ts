import { readFlags } from '@postern/host/flags'
import { runCommand, untilSignal } from './lib/command.ts'
import { checkHealth, describe, readRole, runRole } from './lib/container.ts'
import { takeEnvironment } from './lib/environment.ts'
import { runTool, runVerification, type Tool } from './lib/server-tool.ts'

/** Only a rotation has an option. */
const readToolFlags = (tool: Tool, flag: string) =>
  flag === '' ? [] : [...readFlags(tool === 'rotate-key' ? ['--all'] : [], [flag])]

/** What can be done to the database while the server is stopped. */
const TOOLS: Readonly<Record<string, Tool>> = { password: 'new-password', 'rotate-key': 'rotate-key' }

/**
 * The program of the containers (deploy/docker): `server` or `edge` runs that half until a signal, `health` before it
 * says whether it works. `password` gives the first account a new one, `rotate-key` seals the database with a new key,
 * `history verify` says whether the history is as it was written.
 */
await runCommand(async () => {
  const [first = '', second = ''] = process.argv.slice(2)
  if (first === 'health') {
    process.stdout.write(`${await checkHealth(readRole(second), process.env)}\n`)
    return 0
  }
  if (first === 'history') return await runVerification(describe(takeEnvironment()), process.argv.slice(3))
  const tool = TOOLS[first]
  if (tool) return await runTool(describe(takeEnvironment()), tool, readToolFlags(tool, second))
  await runRole(readRole(first), takeEnvironment(), untilSignal(), {
    say: (text) => void process.stdout.write(text),
    warn: (text) => void process.stderr.write(text),
  })
  return 0
})
