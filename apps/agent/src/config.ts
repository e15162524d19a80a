import { homedir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM_PATH } from '@postern/host/processes/exec'

/** The agent's environment variables; no other file reads them. */
export interface Environment {
  url: string | undefined
  token: string | undefined
  tokenFile: string | undefined
  fingerprint: string | undefined
  caFile: string | undefined
  /** The address of Docker's API, for the labels of its containers. */
  docker: string | undefined
  publishFile: string | undefined
  /** What this node allows its server: 0053. */
  gateway: string | undefined
  allTraffic: boolean
  dns: boolean
  configDir: string
  /** Where the operator's command keeps what it signs in with. */
  userDir: string
  /** Where to look for programs. Always includes the directories of system tools, which a user's path may lack. */
  path: string
  noColour: boolean
}

export const DEFAULT_CONFIG_DIR = '/etc/postern'

type Variables = Readonly<Record<string, string | undefined>>

export function readEnvironment(variables: Variables = process.env): Environment {
  const { POSTERN_AGENT_DIR, PATH, NO_COLOR, XDG_CONFIG_HOME } = variables
  return {
    ...readServer(variables),
    tokenFile: variables.POSTERN_TOKEN_FILE || undefined,
    fingerprint: variables.POSTERN_FINGERPRINT || undefined,
    caFile: variables.POSTERN_CA_FILE || undefined,
    docker: variables.POSTERN_DOCKER || undefined,
    publishFile: variables.POSTERN_PUBLISH_FILE || undefined,
    gateway: variables.POSTERN_GATEWAY || undefined,
    allTraffic: variables.POSTERN_ALL_TRAFFIC === 'true',
    dns: variables.POSTERN_DNS === 'true',
    configDir: POSTERN_AGENT_DIR || DEFAULT_CONFIG_DIR,
    userDir: join(XDG_CONFIG_HOME || join(variables.HOME || homedir(), '.config'), 'postern'),
    path: PATH ? `${PATH}:${SYSTEM_PATH}` : SYSTEM_PATH,
    noColour: Boolean(NO_COLOR),
  }
}

/**
 * For compose files of the product that people come from, which set WIREDOOR_URL; TOKEN is ours only together with
 * it.
 */
function readServer({ POSTERN_URL, POSTERN_TOKEN, WIREDOOR_URL, TOKEN }: Variables) {
  const theirs = WIREDOOR_URL ? TOKEN : undefined
  return { url: POSTERN_URL || WIREDOOR_URL || undefined, token: POSTERN_TOKEN || theirs || undefined }
}

/**
 * Where an agent keeps its files. Secrets are in `configDir` (0700); files that a reboot may remove are in `runDir`.
 * An agent with its own directory keeps everything there, so several fit on one machine.
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
    /** Exists while forwarding is on because of us. */
    forwarding: `${runDir}/forwarding`,
  } as const
}
export type AgentPaths = ReturnType<typeof agentPaths>
