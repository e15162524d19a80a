import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { parseSettings, type Settings } from '@postern/contract/settings'

export interface Config {
  settings: Settings
  paths: InstallationPaths
}

/** The one place where the edge reads its environment. @throws SettingsError */
export function readConfig(): Config {
  const settings = parseSettings(process.env)
  return { settings, paths: installationPaths(settings.POSTERN_DATA_DIR) }
}
