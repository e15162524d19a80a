import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import type { Settings } from '@postern/contract/settings'
import { prepareDataDir } from './data-dir.ts'
import { type Environment, readSettings } from './environment.ts'
import { CommandError } from './errors.ts'
import { layDownPassword } from './first-password.ts'
import { findEdgeObstacle, type Machine, observeMachine } from './machine.ts'
import { ensureUsers, type Identities } from './users.ts'

/** An installation on this machine, made ready to be started. */
export interface Installation {
  environment: Environment
  machine: Machine
  settings: Settings
  paths: InstallationPaths
  /** Absent when everything runs as the one who starts it. */
  identities: Identities | undefined
  /** Why no edge runs here. */
  obstacle: string | undefined
}

/**
 * Reads the settings, makes users and data directory, and lays the admin's password down for the first start. Safe to run again and again.
 * @throws SettingsError, CommandError
 */
export async function prepareInstallation(environment: Environment): Promise<Installation> {
  const machine = observeMachine()
  const settings = readSettings(environment, machine)
  if (machine.missingCapabilities.length > 0)
    throw new CommandError(
      `root has no ${machine.missingCapabilities.join(', ')} here: give the container these capabilities, or start it as an ordinary user to look at the console only`,
    )
  const obstacle = findEdgeObstacle(machine)
  const identities = obstacle ? undefined : await ensureUsers()
  prepareDataDir(settings.POSTERN_DATA_DIR, identities)
  const paths = installationPaths(settings.POSTERN_DATA_DIR)
  layDownPassword(paths, settings.POSTERN_ADMIN_PASSWORD, identities?.server)
  return {
    environment,
    machine,
    settings,
    paths,
    identities,
    obstacle,
  }
}
