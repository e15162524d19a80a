import {
  type Exec,
  ExecTimeoutError,
  ProgramMissingError,
  type RunOptions,
  type RunResult,
} from '@postern/host/exec'
import { AgentError } from './errors.ts'

/** The tools that the agent needs, and the packages that bring them. */
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
  throw new AgentError('tools-missing', `${tool} is missing. Install it: apt-get install ${PACKAGES[tool]}`)
}

/** Runs a tool that a machine may lack; one that takes too long has failed. @returns undefined when it is not there */
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
