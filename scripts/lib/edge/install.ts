import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings/settings'
import { messageOf } from '@postern/host/errors'
import { HAPROXY_PLACE } from '@postern/host/haproxy-place'
import { must, run } from '@postern/host/processes/exec'
import { StepError } from '../../bootstrap/step.mjs'
import { installSystemPackages } from '../../bootstrap/system-packages.mjs'
import { CommandError } from '../command.ts'
import { ROOT } from '../environment.ts'
import { prepareInstallation } from '../installation.ts'
import {
  EDGE_UNIT,
  EDGE_UNIT_FILES,
  isSystemdThere,
  OWN_UNIT_DIR,
  readUnitSettings,
  renderUnit,
  SETTINGS_FILE,
} from '../programs/systemd.ts'
import { hasJoined, leaveAndStop } from './membership.ts'

const COMMAND = '/usr/local/bin/postern-edge'
const NO_SETTINGS = `# The settings of this edge. After a change: systemctl restart postern-edge
# All of them: /docs/settings on your server. Most follow the server.
`

/**
 * Makes the machine ready for an edge: system packages, HAProxy, users, directories and units. Where an edge runs, it
 * is replaced; its traffic goes on. Safe to repeat.
 * @throws CommandError
 */
export async function installEdge(): Promise<void> {
  assertOwnMachine()
  await installSystemPackages(['runtime']).catch((error: unknown) => {
    throw error instanceof StepError ? new CommandError(messageOf(error)) : error
  })
  writeSettings()
  await prepareInstallation(readUnitSettings())
  for (const name of EDGE_UNIT_FILES) writeFileSync(join(OWN_UNIT_DIR, name), unitOf(name), { mode: 0o644 })
  await must('systemctl', ['daemon-reload'], { timeoutMs: 30_000 })
  const { code } = await run('systemctl', ['try-restart', EDGE_UNIT], { timeoutMs: 60_000 })
  if (code !== 0) throw new CommandError('the edge does not start: see journalctl -u postern-edge')
  process.stdout.write(`The edge is installed: ${COMMAND}\n`)
}

/** Ends the edge and removes what the installer and the edge put here. The system packages and the users stay. */
export async function uninstallEdge(): Promise<void> {
  assertOwnMachine()
  const { dataDir } = placesOf()
  if (hasJoined()) await leaveAndStop()
  for (const name of EDGE_UNIT_FILES) rmSync(join(OWN_UNIT_DIR, name), { force: true })
  await must('systemctl', ['daemon-reload'], { timeoutMs: 30_000 })
  await run('systemctl', ['reset-failed', ...EDGE_UNIT_FILES])
  for (const path of [dataDir, HAPROXY_PLACE, ...OTHER_PLACES]) rmSync(path, { recursive: true, force: true })
  removeIfEmpty('/etc/postern')
  process.stdout.write(
    'The edge is removed. Its system packages stay, and the users postern and postern-proxy, locked.\n',
  )
}

const OTHER_PLACES = [
  COMMAND,
  SETTINGS_FILE,
  '/var/log/postern',
  '/var/cache/postern-haproxy',
  '/run/postern-haproxy',
]

function placesOf() {
  const dataDir = parseSettings(readUnitSettings()).POSTERN_DATA_DIR
  return { dataDir, ...installationPaths(dataDir) }
}

/** A server keeps its data and its programs where an edge has its own. */
function assertOwnMachine(): void {
  if (!isSystemdThere()) throw new CommandError('systemd does not run here, and the edge needs it')
  const signs = ['/usr/bin/postern-server', join(OWN_UNIT_DIR, 'postern-server.service'), placesOf().database]
  const sign = signs.find((path) => existsSync(path))
  if (sign !== undefined)
    throw new CommandError(`this machine has a server (${sign}), which has its own edge`)
}

function writeSettings(): void {
  if (existsSync(SETTINGS_FILE)) return
  mkdirSync('/etc/postern', { recursive: true, mode: 0o755 })
  writeFileSync(SETTINGS_FILE, NO_SETTINGS, { mode: 0o600 })
}

function unitOf(name: string): string {
  const { dataDir, programDir } = placesOf()
  return renderUnit(readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8'), {
    NODE: join(ROOT, 'node_modules/.bin/node'),
    ROOT,
    DATA_DIR: dataDir,
    PROGRAM: programDir,
    ENVIRONMENT: SETTINGS_FILE,
  })
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Not there, or somebody else's.
  }
}
