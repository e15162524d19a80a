import type { Installation } from './installation.ts'
import type { Host } from './lab/network.ts'

const MAIN = new URL('../../../apps/agent/dist/postern.mjs', import.meta.url).pathname

/** The host's owner allows everything that the console asks for. */
const WILLING = ['--gateway=private', '--all-traffic', '--dns']

/** The `postern` command on a host of the lab, with a configuration directory and an interface of its own. */
export interface Agent {
  /** Where it keeps its files. */
  dir: string
  run(...args: string[]): ReturnType<Host['run']>
  /** Connects with the node's one-time token, trusting the installation by its fingerprint. */
  connect(token: string, ...policy: string[]): Promise<string>
}

let agents = 0

export function agentOn(
  host: Host,
  installation: Pick<Installation, 'api' | 'dataDir' | 'interface'>,
): Agent {
  const dir = `${installation.dataDir}/agent-${host.name}`
  const device = `pa${installation.interface.slice(-9)}${agents++}`
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const environment = [`POSTERN_AGENT_DIR=${dir}`, `PATH=${PATH}`]
  // Compiled, because an agent starts for each command.
  if (NODE_COMPILE_CACHE) environment.push(`NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE}`)
  const command = (...args: string[]) => ['env', '-i', ...environment, process.execPath, MAIN, ...args]
  return {
    dir,
    run: (...args) => host.run(...command(...args)),
    async connect(token, ...policy) {
      const { json } = await installation.api.call('GET', '/api/config')
      const { publicUrl, caFingerprint } = json as { publicUrl: string; caFingerprint: string }
      const flags = [`--url=${publicUrl}`, `--token=${token}`, `--fingerprint=${caFingerprint}`]
      return host.must(
        ...command('connect', ...flags, ...(policy.length > 0 ? policy : WILLING), `--interface=${device}`),
      )
    },
  }
}
