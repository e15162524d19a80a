import { SYSTEM_PATH } from '@postern/host/exec'

/** What the agent reads from its environment; nothing else looks there. */
export interface Environment {
  url: string | undefined
  token: string | undefined
  configDir: string
  /** The search path for programs; always with the places of system tools, which a user's path may lack. */
  path: string
  noColour: boolean
}

export const DEFAULT_CONFIG_DIR = '/etc/postern'

export function readEnvironment(): Environment {
  const { POSTERN_URL, POSTERN_TOKEN, POSTERN_AGENT_DIR, PATH, NO_COLOR } = process.env
  return {
    url: POSTERN_URL || undefined,
    token: POSTERN_TOKEN || undefined,
    configDir: POSTERN_AGENT_DIR || DEFAULT_CONFIG_DIR,
    path: PATH ? `${PATH}:${SYSTEM_PATH}` : SYSTEM_PATH,
    noColour: Boolean(NO_COLOR),
  }
}
