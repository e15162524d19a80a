import { SettingsError } from '@postern/contract/settings'
import { printable } from './printable.ts'

/** Why a command cannot do its work; `message` is one line that says what to do. */
export class CommandError extends Error {
  readonly code = 'command'
}

/** Runs a command to its exit code; what a person can act on becomes one line, anything else a stack. */
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
