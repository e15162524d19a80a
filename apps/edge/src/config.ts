import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import {
  type EdgeSettings,
  type GivenEnvironment,
  listGiven,
  parseEdgeSettings,
} from '@postern/contract/settings/settings'

export interface Config {
  settings: EdgeSettings
  /** The variables of the environment that are set. */
  given: GivenEnvironment
  paths: InstallationPaths
  /** Where to tell systemd that we are ready; absent when it has not started us. */
  notifySocket?: string | undefined
  /** Whether systemd itself has started us. */
  isUnit?: boolean
}

/** The one place where the edge reads its environment. @throws SettingsError */
export function readConfig(): Config {
  const settings = parseEdgeSettings(process.env)
  const paths = installationPaths(settings.POSTERN_DATA_DIR)
  const { NOTIFY_SOCKET: notifySocket, INVOCATION_ID: invocation } = process.env
  return {
    settings,
    given: Object.fromEntries(listGiven(process.env)),
    paths,
    notifySocket,
    isUnit: invocation !== undefined,
  }
}
