import { DEFAULT_CONFIG_DIR } from './config.ts'

/**
 * Where one agent keeps its things. Secrets are in `configDir` (0700); what a reboot may forget is in `runDir`.
 * An agent with a directory of its own keeps everything there, so that several fit on one machine.
 */
export function agentPaths(configDir: string) {
  const runDir = configDir === DEFAULT_CONFIG_DIR ? '/run/postern-agent' : `${configDir}/run`
  return {
    configDir,
    credentials: `${configDir}/agent.json`,
    lastGood: `${configDir}/last-good.json`,
    runDir,
    pid: `${runDir}/agent.pid`,
    status: `${runDir}/status.json`,
    log: `${runDir}/agent.log`,
    wireguard: `${runDir}/wireguard.conf`,
    /** Stands while forwarding is on because of us. */
    forwarding: `${runDir}/forwarding`,
  } as const
}
export type AgentPaths = ReturnType<typeof agentPaths>
