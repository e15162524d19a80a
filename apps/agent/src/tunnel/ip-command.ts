import type { Exec } from '@postern/host/exec'
import * as z from 'zod/mini'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { runTool } from '../tools.ts'

/** Runs `ip`. @throws AgentError with what it said. */
export async function ip(exec: Exec, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTool(exec, 'ip', args)
  if (code === 0) return stdout
  throw new AgentError('failed', `ip ${args.join(' ')}: ${stderr.trim()}`)
}

/** The rows of `ip -j …`; an empty list is printed as nothing, or as `[{}]` by some releases. */
export async function listRows<T extends z.ZodMiniType>(
  exec: Exec,
  row: T,
  ...args: string[]
): Promise<z.output<T>[]> {
  const text = await ip(exec, '-j', ...args)
  const rows = parseJson(text.trim() || '[]', z.array(z.unknown())) ?? []
  return rows.flatMap((value) => {
    const result = z.safeParse(row, value)
    return result.success ? [result.data] : []
  })
}

export type Family = '-4' | '-6'
export const FAMILIES: readonly Family[] = ['-4', '-6']

export function familyOf(address: string): Family {
  return address.includes(':') ? '-6' : '-4'
}
