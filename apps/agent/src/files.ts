import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as z from 'zod/mini'
import { codeOf } from './errors.ts'

/** Writes a file that only root may read, so that a reader sees the old or the new one and never a part. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.new`
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

/** Without it a crash may undo the rename. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** True when a directory is not there yet, or is ours and nobody else may write to it. */
export async function isOursAlone(path: string): Promise<boolean> {
  try {
    const { uid, mode } = await stat(path)
    return uid === process.getuid?.() && (mode & 0o022) === 0
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    throw error
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

/** @returns what the file holds, or undefined when it is not there or not of that form. */
export async function findJson<T extends z.ZodMiniType>(
  path: string,
  schema: T,
): Promise<z.output<T> | undefined> {
  const text = await findText(path)
  return text === undefined ? undefined : parseJson(text, schema)
}

/** @returns the value in the text, or undefined when it is not JSON of that form. */
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
