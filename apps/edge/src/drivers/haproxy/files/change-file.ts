import { readFile } from 'node:fs/promises'
import { writeAtomic } from '@postern/host/files'

/**
 * Gives a private file its content; one that has it already is left alone.
 * @returns what it held before, null when there was none, undefined when nothing was to do.
 */
export async function changeFile(path: string, content: string): Promise<string | null | undefined> {
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (before === content) return undefined
  await writeAtomic(path, content, 0o600)
  return before
}
