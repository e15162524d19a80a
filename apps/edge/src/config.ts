import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { type EdgeSettings, parseEdgeSettings } from '@postern/contract/settings'

export interface Config {
  settings: EdgeSettings
  paths: InstallationPaths
  /** Where systemd hears that we are ready; absent when it has not started us. */
  notifySocket?: string | undefined
  /** Whether systemd itself has started us. */
  isUnit?: boolean
}

/** The one place where the edge reads its environment. @throws SettingsError */
export function readConfig(): Config {
  const settings = parseEdgeSettings(process.env)
  const paths = installationPaths(settings.POSTERN_DATA_DIR)
  const { NOTIFY_SOCKET: notifySocket, INVOCATION_ID: invocation } = process.env
  return { settings, paths, notifySocket, isUnit: invocation !== undefined }
}
