import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings/settings'
import { readFlags } from '@postern/host/flags'
import { CommandError, runCommand } from './lib/command.ts'
import { type Environment, ROOT, takeEnvironment } from './lib/environment.ts'
import { startUnits } from './lib/programs/start-units.ts'
import {
  isSystemdThere,
  OWN_UNIT_DIR,
  readUnitSettings,
  renderEnvironmentFile,
  renderUnit,
  SETTINGS_FILE,
  UNIT_FILES,
} from './lib/programs/systemd.ts'

/** `npm run install-service`: installs units that start server and edge at boot. `--print` only shows them. */
async function installService(environment: Environment, args: readonly string[]): Promise<number> {
  const flags = readFlags(['--print'], args)
  // The values of an earlier installation stay unless the environment overrides them.
  const values = { ...readUnitSettings(), ...ownSettings(environment) }
  const settings = parseSettings(values)
  const { programDir } = installationPaths(settings.POSTERN_DATA_DIR)
  const unit = (name: string) =>
    renderUnit(readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8'), {
      NODE: join(ROOT, 'node_modules/.bin/node'),
      ROOT,
      DATA_DIR: settings.POSTERN_DATA_DIR,
      PROGRAM: programDir,
      ENVIRONMENT: SETTINGS_FILE,
    })
  if (flags.has('--print')) {
    for (const name of UNIT_FILES) process.stdout.write(`# ${OWN_UNIT_DIR}/${name}\n${unit(name)}\n`)
    return 0
  }
  if (!isSystemdThere()) throw new CommandError('systemd does not run here: use npm start instead')
  if (process.getuid?.() !== 0) throw new CommandError('only root can write units: use sudo')
  await startUnits(values, (kept) => {
    for (const name of UNIT_FILES) writeFileSync(join(OWN_UNIT_DIR, name), unit(name), { mode: 0o644 })
    writeSettingsFile(kept)
  })
  return 0
}

function ownSettings(environment: Environment): Record<string, string> {
  const own = Object.entries(environment).filter(([name, value]) => name.startsWith('POSTERN_') && value)
  return Object.fromEntries(own) as Record<string, string> // empty ones are filtered out above
}

function writeSettingsFile(values: Record<string, string>): void {
  mkdirSync('/etc/postern', { recursive: true, mode: 0o755 })
  writeFileSync(SETTINGS_FILE, renderEnvironmentFile(values), { mode: 0o600 })
  chmodSync(SETTINGS_FILE, 0o600)
}

await runCommand((args) => installService(takeEnvironment(), args))
