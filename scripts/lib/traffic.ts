import { run } from '@postern/host/exec'
import { ROOT } from './environment.ts'
import { CommandError } from './errors.ts'
import { nodeArgv } from './programs.ts'

/** Ends HAProxy, the tunnel and the firewall's table of an installation, through the edge itself. */
export async function takeTrafficDown(environment: Record<string, string>): Promise<void> {
  const [program = '', ...args] = nodeArgv(ROOT, 'edge')
  const { code, stderr } = await run(program, [...args, '--down'], {
    timeoutMs: 30_000,
    env: environment,
  })
  if (code !== 0) throw new CommandError(`the traffic could not be ended: ${stderr.trim()}`)
}
