import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './errors.ts'

/**
 * Writes a file so that a reader, or a crash at any point, sees the old content or the new one, never a part.
 * The directory must exist. A temporary file left by a crash is overwritten by the next write of the same path.
 * @param temporary a name of its own for each of several processes that may write the path at once
 */
export async function writeAtomic(
  path: string,
  data: string | Uint8Array,
  mode: number,
  temporary = `${path}.tmp`,
): Promise<void> {
  // Removed first, because `open` does not change the mode of a file that exists.
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', mode)
  try {
    await file.chmod(mode)
    await file.writeFile(data)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

/** Without it a crash may undo a rename in the directory. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** @returns the text, or undefined when there is no such file. */
export async function findText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
