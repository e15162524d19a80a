import {
  type Exec,
  ExecTimeoutError,
  ProgramMissingError,
  type RunOptions,
  type RunResult,
} from '@postern/host/processes/exec'
import * as z from 'zod/mini'
import { AgentError } from './errors.ts'
import { parseJson } from './files.ts'

/** The tools that the agent needs, and the packages that provide them. */
const PACKAGES = { ip: 'iproute2', wg: 'wireguard-tools', nft: 'nftables' } as const

/** Runs a tool. @throws AgentError `tools-missing` that says how to install it */
export async function runTool(
  exec: Exec,
  tool: keyof typeof PACKAGES,
  args: readonly string[],
  options?: RunOptions,
): Promise<RunResult> {
  const result = await tryTool(exec, tool, args, options)
  if (result) return result
  throw new AgentError(
    'tools-missing',
    `${tool} is missing. Install it: apt-get install --no-install-recommends ${PACKAGES[tool]}`,
  )
}

/**
 * Runs a tool that the machine may lack; a timeout counts as failure.
 * @returns undefined when it is missing
 */
export async function tryTool(
  exec: Exec,
  tool: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<RunResult | undefined> {
  try {
    return await exec.run(tool, args, options)
  } catch (error) {
    if (error instanceof ProgramMissingError) return undefined
    if (error instanceof ExecTimeoutError) return { code: 124, stdout: '', stderr: error.message }
    throw error
  }
}

/**
 * Runs `ip`.
 * @throws AgentError with its message
 */
export async function ip(exec: Exec, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTool(exec, 'ip', args)
  if (code === 0) return stdout
  throw new AgentError('failed', `ip ${args.join(' ')}: ${stderr.trim()}`)
}

/** The rows of `ip -j …`; some releases print an empty list as nothing, others as `[{}]`. */
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
