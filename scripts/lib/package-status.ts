import { parseSettings } from '@postern/contract/settings/settings'
import { publicUrl, readConfig } from '../../apps/server/src/config.ts'
import { observeNetwork } from '../../apps/server/src/network.ts'
import { renderDataPlane } from './banner.ts'
import { CommandError } from './command.ts'
import { ROOT } from './environment.ts'
import { observeMachine } from './machine.ts'
import { readPackageVersion } from './package-version.ts'
import { parseEdgeReady } from './programs/programs.ts'
import {
  isSystemdThere,
  listActiveUnits,
  readEdgeStatus,
  readUnitSettings,
  UNITS,
} from './programs/systemd.ts'

/** Shows what runs. @returns 0 when server, edge and data plane work, else 1 */
export async function showStatus(): Promise<number> {
  if (!isSystemdThere()) throw new CommandError('systemd does not run here, and the package needs it')
  const active = await listActiveUnits()
  const missing = UNITS.filter((unit) => !active.includes(unit))
  const report = missing.length === 0 ? await readEdgeStatus() : ''
  const dataPlane = report === '' ? null : parseEdgeReady(JSON.parse(report))
  const lines = [
    `Postern ${readPackageVersion()} ${missing.length === 0 ? 'is running.' : 'is not running.'}`,
  ]
  // Only root may read the settings.
  if (observeMachine().isRoot) lines.push('', ...renderAddresses())
  process.stdout.write(`${lines.join('\n')}\n`)
  if (missing.length > 0) {
    const remedy = `Start: sudo postern-server start. Why it ended: journalctl ${UNITS.map((unit) => `-u ${unit}`).join(' ')}`
    process.stdout.write(`  Stopped     ${missing.join(', ')}\n\n${remedy}\n`)
    return 1
  }
  process.stdout.write(renderDataPlane(dataPlane))
  const parts = dataPlane === null ? [] : Object.values(dataPlane)
  return parts.length > 0 && parts.every(({ state }) => state === 'ok') ? 0 : 1
}

function renderAddresses(): string[] {
  const settings = readUnitSettings()
  const config = readConfig(observeNetwork(), settings, ROOT)
  return [
    `  Console     ${publicUrl(config)}/`,
    `              http://127.0.0.1:${parseSettings(settings).POSTERN_CONSOLE_PORT}/`,
  ]
}
