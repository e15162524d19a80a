import { existsSync, readFileSync } from 'node:fs'
import type { DataPlane } from '@postern/contract/edge'
import { parseEnvironmentFile } from './environment-file.ts'
import { CommandError } from './errors.ts'
import { must, run } from './exec.ts'
import { parseEdgeReady } from './ready.ts'

export const SERVER_UNIT = 'postern-server.service'
const EDGE_UNIT = 'postern-edge.service'
export const UNITS = [SERVER_UNIT, EDGE_UNIT] as const

/** Where the units read their settings. */
export const SETTINGS_FILE = '/etc/postern/environment'

/** What the units were installed with; nothing where they are not. Needs root. */
export function readUnitSettings(): Record<string, string> {
  return existsSync(SETTINGS_FILE) ? parseEnvironmentFile(readFileSync(SETTINGS_FILE, 'utf8')) : {}
}

export const isSystemdThere = () => existsSync('/run/systemd/system')

/** The units of ours that run now, or that systemd is about to start again. */
export async function listActiveUnits(): Promise<string[]> {
  if (!isSystemdThere()) return []
  const states = await Promise.all(UNITS.map((unit) => run('systemctl', ['is-active', unit])))
  return UNITS.filter((_, index) => !/^(inactive|failed|unknown)$/m.test(states[index]?.stdout ?? ''))
}

/**
 * Starts the edge anew and waits until it has made the machine as wanted, or says which part it cannot.
 * @throws CommandError when it does not come up; systemd goes on trying
 */
export async function restartEdgeUnit(): Promise<DataPlane> {
  const { code } = await run('systemctl', ['restart', EDGE_UNIT], 60_000)
  const said = await must('systemctl', ['show', '--property=StatusText', '--value', EDGE_UNIT])
  if (code !== 0 || said.trim() === '')
    throw new CommandError('the edge does not start: see journalctl -u postern-edge')
  return parseEdgeReady(JSON.parse(said))
}

/** Stops our units; the traffic goes on, because it is in none of them. @returns whether one ran */
export async function stopUnits(): Promise<boolean> {
  const active = await listActiveUnits()
  if (active.length > 0) await must('systemctl', ['stop', ...active], 60_000)
  return active.length > 0
}
