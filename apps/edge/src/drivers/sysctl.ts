import type { Exec } from '@postern/host/processes/exec'
import { errorFrom } from './part.ts'

/** @returns undefined where this kernel has no such setting */
export async function readSysctl(exec: Exec, path: string): Promise<string | undefined> {
  return (await exec.readFile(path))?.trim()
}

/** @throws PartMissingError, PartFailedError when the setting does not stay */
export async function writeSysctl(exec: Exec, path: string, value: string): Promise<void> {
  if ((await readSysctl(exec, path)) === value) return
  const { code, stderr } = await exec.run('tee', [path], { timeoutMs: 5000, input: value })
  if (code !== 0 || (await readSysctl(exec, path)) !== value) throw errorFrom(`Setting ${path}`, stderr)
}
