import { SettingsError } from '@postern/contract/settings'
import { type RunOptions, run } from '@postern/host/exec'

/** Why a command cannot do its work. `message` is one line that says what to do. */
export class CommandError extends Error {
  readonly code = 'command'
}

/** Runs a command and sets the exit code. What a person can act on becomes one line, anything else a stack. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command()
  } catch (error) {
    process.stderr.write(`postern: ${describeError(error)}\n`)
    process.exitCode = 1
  }
}

function describeError(error: unknown): string {
  if (error instanceof CommandError || error instanceof SettingsError) return printable(error.message)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Text from another program or a visitor, without anything a terminal would act on. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

/** Resolves at the first Ctrl-C, when the process is asked to end, or when its terminal closes. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve())
  })
}

/** Runs a program that is given as one argv. @returns how it ended and what it printed */
export function runArgv([program = '', ...args]: readonly string[], options?: RunOptions) {
  return run(program, args, options)
}
