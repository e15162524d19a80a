import { SettingsError } from '@postern/contract/settings/settings'
import { exitCodeOf, UsageError } from '@postern/host/flags'
import { type RunOptions, run } from '@postern/host/processes/exec'

/** Why a command cannot do its work. `message` is one line that says what to do. */
export class CommandError extends Error {
  readonly code = 'command'
}

/**
 * Runs a command with its arguments and sets the exit code. An error that a person can act on is printed as one line,
 * any other as a stack.
 */
export async function runCommand(command: (args: readonly string[]) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`postern: ${describeError(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isForPeople = [CommandError, SettingsError, UsageError].some((kind) => error instanceof kind)
  return isForPeople ? printable(error.message) : (error.stack ?? error.message)
}

/** Text from another program or a visitor, without anything that a terminal would interpret. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

/** Resolves at the first Ctrl-C, when the process is asked to end, or when its terminal closes. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve())
  })
}

/**
 * Runs a program, given as one argv.
 * @returns how it ended and what it printed
 */
export function runArgv([program = '', ...args]: readonly string[], options?: RunOptions) {
  return run(program, args, options)
}
