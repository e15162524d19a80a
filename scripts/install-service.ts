import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings'
import { must } from '@postern/host/exec'
import { readFlags } from '@postern/host/flags'
import { publicUrl, readConfig } from '../apps/server/src/config.ts'
import { observeNetwork } from '../apps/server/src/network.ts'
import { renderBanner, renderDataPlane } from './lib/banner.ts'
import { CommandError, runCommand } from './lib/command.ts'
import { type Environment, ROOT, takeEnvironment } from './lib/environment.ts'
import { prepareInstallation } from './lib/installation.ts'
import { assertPortsFree } from './lib/ports.ts'
import { stopStarter, untilServerThere } from './lib/running.ts'
import {
  isSystemdThere,
  listActiveUnits,
  readUnitSettings,
  renderEnvironmentFile,
  renderUnit,
  restartEdgeUnit,
  SERVER_UNIT,
  SETTINGS_FILE,
  UNITS,
} from './lib/systemd.ts'

const UNIT_DIR = '/etc/systemd/system'

/** `npm run install-service`: installs units that start server and edge at boot. `--print` only shows them. */
async function installService(environment: Environment, args: readonly string[]): Promise<number> {
  const flags = readFlags(['--print'], args)
  // The values of an earlier installation stay unless the environment overrides them.
  const values = { ...readUnitSettings(), ...ownSettings(environment) }
  const settings = parseSettings(values)
  const { programDir } = installationPaths(settings.POSTERN_DATA_DIR)
  const unit = (name: string) =>
    renderUnit(readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8'), {
      NODE: join(ROOT, 'node_modules/node/bin/node'),
      ROOT,
      DATA_DIR: settings.POSTERN_DATA_DIR,
      PROGRAM: programDir,
      ENVIRONMENT: SETTINGS_FILE,
    })
  if (flags.has('--print')) {
    for (const name of UNITS) process.stdout.write(`# ${UNIT_DIR}/${name}\n${unit(name)}\n`)
    return 0
  }
  if (!isSystemdThere()) throw new CommandError('systemd does not run here: use npm start instead')
  if (process.getuid?.() !== 0) throw new CommandError('only root can write units: use sudo')
  await install(values, () => {
    for (const name of UNITS) writeFileSync(join(UNIT_DIR, name), unit(name), { mode: 0o644 })
  })
  return 0
}

function ownSettings(environment: Environment): Record<string, string> {
  const own = Object.entries(environment).filter(([name, value]) => name.startsWith('POSTERN_') && value)
  return Object.fromEntries(own) as Record<string, string> // empty ones are filtered out above
}

async function install(values: Record<string, string>, writeUnits: () => void): Promise<void> {
  const { POSTERN_ADMIN_PASSWORD: given, ...kept } = values
  const isFirst = !existsSync(installationPaths(parseSettings(kept).POSTERN_DATA_DIR).database)
  const generated = isFirst && !given ? randomBytes(12).toString('base64url') : undefined
  const password = given ?? generated
  const installation = await prepareInstallation(
    password ? { ...kept, POSTERN_ADMIN_PASSWORD: password } : kept,
  )
  const { paths, settings } = installation
  await stopStarter(paths.starterPid)
  // Running units hold the ports themselves.
  if ((await listActiveUnits()).length === 0) await assertPortsFree(settings, true)
  writeUnits()
  writeSettingsFile(kept)
  await must('systemctl', ['daemon-reload'], { timeoutMs: 30_000 })
  await must('systemctl', ['enable', ...UNITS], { timeoutMs: 30_000 })
  await must('systemctl', ['restart', SERVER_UNIT], { timeoutMs: 60_000 })
  await untilServerThere(paths.serverSocket)
  const config = readConfig(observeNetwork(), kept)
  const username = settings.POSTERN_ADMIN_USERNAME
  process.stdout.write(
    renderBanner({
      version: config.version,
      publicUrl: publicUrl(config),
      consolePort: settings.POSTERN_CONSOLE_PORT,
      dataDir: settings.POSTERN_DATA_DIR,
      generatedAdmin: generated ? { username, password: generated } : undefined,
    }),
  )
  process.stdout.write(renderDataPlane(await restartEdgeUnit()))
}

function writeSettingsFile(values: Record<string, string>): void {
  mkdirSync('/etc/postern', { recursive: true, mode: 0o755 })
  writeFileSync(SETTINGS_FILE, renderEnvironmentFile(values), { mode: 0o600 })
  chmodSync(SETTINGS_FILE, 0o600)
}

await runCommand((args) => installService(takeEnvironment(), args))
