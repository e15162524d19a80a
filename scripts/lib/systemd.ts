import { existsSync, readFileSync } from 'node:fs'
import { parseEnvironmentFile } from './environment-file.ts'
import { must, run } from './exec.ts'

export const UNITS = ['postern-server.service', 'postern-edge.service'] as const

/** Where the units read their settings. */
export const SETTINGS_FILE = '/etc/postern/environment'

/** What the units were installed with; nothing where they are not. Needs root. */
export function readUnitSettings(): Record<string, string> {
  return existsSync(SETTINGS_FILE) ? parseEnvironmentFile(readFileSync(SETTINGS_FILE, 'utf8')) : {}
}

export const isSystemdThere = () => existsSync('/run/systemd/system')

/** The units of ours that run now. */
export async function listActiveUnits(): Promise<string[]> {
  if (!isSystemdThere()) return []
  const states = await Promise.all(UNITS.map((unit) => run('systemctl', ['is-active', '--quiet', unit])))
  return UNITS.filter((_, index) => states[index]?.code === 0)
}

/** Stops our units; the traffic goes on, because it is in none of them. @returns whether one ran */
export async function stopUnits(): Promise<boolean> {
  const active = await listActiveUnits()
  if (active.length > 0) await must('systemctl', ['stop', ...active], 60_000)
  return active.length > 0
}
