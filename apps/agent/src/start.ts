import { readFileSync } from 'node:fs'
import { codeOf } from '@postern/host/errors'
import { createExec } from '@postern/host/processes/exec'
import manifest from '../../../package.json' with { type: 'json' }
import { runCli } from './cli/cli.ts'
import { readEnvironment } from './config.ts'
import { createIo } from './io.ts'
import { canAdminister } from './privilege.ts'

const LONGEST_COMPLETION_MS = 2500

/**
 * Runs the command line of this process and sets its exit code.
 * @param self what goes before a command to start this program again: Node's options and the file, or nothing for a
 * program that has Node inside
 */
export async function start(self: readonly string[]): Promise<void> {
  const stop = new AbortController()
  const args = process.argv.slice(2)
  // These have something to finish; every other command just ends.
  if (args[0] === 'run' || args[0] === 'share')
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stop.abort())
  if (args[0] === 'share') process.on('SIGHUP', () => stop.abort())
  process.stdout.on('error', endWithReader)
  // A person waits for the key to do something, and a look-up in DNS cannot be ended otherwise.
  if (args[0] === 'complete') setTimeout(() => process.exit(0), LONGEST_COMPLETION_MS).unref()
  const environment = readEnvironment()
  process.exitCode = await runCli(
    {
      io: createIo(environment.noColour),
      environment,
      exec: createExec([], environment.path),
      version: manifest.version,
      self: { program: process.execPath, args: self },
      isPrivileged: process.platform === 'linux' && canAdminister(readFileSync('/proc/self/status', 'utf8')),
      now: Date.now,
      random: Math.random,
      signal: stop.signal,
    },
    args,
  )
}

/** A reader like `head` has seen enough. */
function endWithReader(error: Error): void {
  if (codeOf(error) !== 'EPIPE') throw error
  process.exit(0)
}
