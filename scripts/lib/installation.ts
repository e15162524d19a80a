import { closeSync, existsSync, fchownSync, openSync, rmSync, writeSync } from 'node:fs'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import type { Settings } from '@postern/contract/settings/settings'
import { CommandError } from './command.ts'
import { prepareDataDir } from './data-dir.ts'
import { type Environment, readSettings } from './environment.ts'
import { findEdgeObstacle, type Machine, observeMachine } from './machine.ts'
import { ensureUsers, type Identities, type Identity } from './users.ts'

/** An installation on this machine, prepared for a start. */
export interface Installation {
  environment: Environment
  machine: Machine
  settings: Settings
  paths: InstallationPaths
  /** Absent when everything runs as the user who starts it. */
  identities: Identities | undefined
  /** Why no edge runs here. */
  obstacle: string | undefined
}

/**
 * Reads the settings, makes the users and the data directory, and stores the admin's password for the first start.
 * Safe to repeat.
 * @throws SettingsError, CommandError
 */
export async function prepareInstallation(environment: Environment): Promise<Installation> {
  const machine = observeMachine()
  const settings = readSettings(environment, machine)
  if (machine.missingCapabilities.length > 0)
    throw new CommandError(
      `root has no ${machine.missingCapabilities.join(', ')} here: give the container these capabilities, or start Postern as an ordinary user to try the console only`,
    )
  const obstacle = findEdgeObstacle(machine)
  const identities = obstacle ? undefined : await ensureUsers()
  await prepareDataDir(settings.POSTERN_DATA_DIR, identities)
  const paths = installationPaths(settings.POSTERN_DATA_DIR)
  storeFirstPassword(paths, settings.POSTERN_ADMIN_PASSWORD, identities?.server)
  return { environment, machine, settings, paths, identities, obstacle }
}

/**
 * Stores the admin's password where only the server can read it, for the start that creates the account. Writes
 * nothing once there is a database, which then has the password.
 * @param owner absent without root: the file is then this user's
 */
export function storeFirstPassword(
  paths: InstallationPaths,
  password: string | null,
  owner?: Identity,
): void {
  if (password === null || existsSync(paths.database)) return
  // Removes what an unfinished start left, so that the new file cannot be a link.
  rmSync(paths.firstPassword, { force: true })
  const file = openSync(paths.firstPassword, 'wx', 0o600)
  try {
    if (owner) fchownSync(file, owner.uid, owner.gid)
    writeSync(file, password)
  } finally {
    closeSync(file)
  }
}
