import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from './command.ts'
import type { Environment } from './environment.ts'
import { startUnits } from './programs/start-units.ts'
import {
  isSystemdThere,
  OWN_UNIT_DIR,
  readUnitSettings,
  SETTINGS_FILE,
  UNIT_FILES,
} from './programs/systemd.ts'

/**
 * Starts the package's units, now and at each boot. Only the settings file counts, which the owner edits.
 * @param password the admin's, for the first start
 * @throws CommandError
 */
export async function startPackage(environment: Environment, password: string | undefined): Promise<number> {
  if (!isSystemdThere()) throw new CommandError('systemd does not run here, and the package needs it')
  const given = Object.keys(environment).find((name) => name.startsWith('POSTERN_'))
  if (given !== undefined)
    throw new CommandError(`put ${given} into ${SETTINGS_FILE}: the units read their settings there only`)
  const settings = readUnitSettings()
  if (settings.POSTERN_DATA_DIR !== undefined)
    throw new CommandError(
      `the package keeps its data in /var/lib/postern: remove POSTERN_DATA_DIR from ${SETTINGS_FILE}`,
    )
  const hiding = UNIT_FILES.map((name) => join(OWN_UNIT_DIR, name)).filter((file) => existsSync(file))
  if (hiding.length > 0)
    throw new CommandError(
      `${hiding.join(' and ')} of npm run install-service hide the units of the package: remove them first`,
    )
  await startUnits({ ...settings, ...(password && { POSTERN_ADMIN_PASSWORD: password }) }, () => undefined)
  return 0
}
