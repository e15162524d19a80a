import { readFileSync, realpathSync } from 'node:fs'
import { createExec } from '@postern/host/exec'
import manifest from '../package.json' with { type: 'json' }
import { runCli } from './cli/cli.ts'
import { readEnvironment } from './config.ts'
import { createIo } from './io.ts'
import { canAdminister } from './privilege.ts'

const stop = new AbortController()
const args = process.argv.slice(2)
// Only the daemon has something to finish; every other command just ends.
if (args[0] === 'run') for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stop.abort())

const environment = readEnvironment()
runCli(
  {
    io: createIo(environment.noColour),
    environment,
    exec: createExec([], environment.path),
    version: manifest.version,
    self: { program: process.execPath, args: [...process.execArgv, realpathSync(process.argv[1] ?? '')] },
    isPrivileged: process.platform === 'linux' && canAdminister(readFileSync('/proc/self/status', 'utf8')),
    now: Date.now,
    random: Math.random,
    signal: stop.signal,
  },
  args,
).then((code) => {
  process.exitCode = code
})
