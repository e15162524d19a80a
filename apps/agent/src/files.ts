import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '@postern/host/errors'
import { findText, writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'

/**
 * Writes a file that only root may read, and makes its directory. Safe when other commands write it at the same time.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeAtomic(path, text, 0o600, `${path}.${process.pid}.new`)
}

/** True when a directory does not exist yet, or is ours and no other user may write to it. */
export async function isOursAlone(path: string): Promise<boolean> {
  try {
    const { uid, mode } = await stat(path)
    return uid === process.getuid?.() && (mode & 0o022) === 0
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
}

/** @returns the file's parsed content, or undefined when it does not exist or does not match */
export async function findJson<T extends z.ZodMiniType>(
  path: string,
  schema: T,
): Promise<z.output<T> | undefined> {
  const text = await findText(path)
  return text === undefined ? undefined : parseJson(text, schema)
}

/** @returns the parsed value, or undefined when the text is not JSON or does not match. */
export function parseJson<T extends z.ZodMiniType>(text: string, schema: T): z.output<T> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const result = z.safeParse(schema, value)
  return result.success ? result.data : undefined
}
