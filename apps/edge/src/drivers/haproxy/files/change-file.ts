import { readFile } from 'node:fs/promises'
import { writeAtomic } from '@postern/host/files'

/**
 * Writes a private file unless it has this content already.
 * @returns the previous content, null when there was no file, undefined when nothing changed
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
