import { rm } from 'node:fs/promises'
import { findText, writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'

/** Why the last try failed; in its own file, because the database itself may be what fails. */
const Failure = z.object({ directory: z.string(), at: z.number(), problem: z.string() })
export type Failure = z.infer<typeof Failure>

/** One of another directory, or that cannot be read, counts as none: the next try tells. */
export async function findFailure(file: string, directory: string): Promise<Failure | null> {
  try {
    const failure = Failure.parse(JSON.parse((await findText(file)) ?? 'null'))
    return failure.directory === directory ? failure : null
  } catch {
    return null
  }
}

export async function keepFailure(file: string, failure: Failure | null): Promise<void> {
  if (failure === null) await rm(file, { force: true })
  else await writeAtomic(file, JSON.stringify(failure), 0o600)
}
