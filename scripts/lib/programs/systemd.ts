import { existsSync, readFileSync } from 'node:fs'
import type { DataPlane } from '@postern/contract/edge/edge'
import { ExecTimeoutError, must, run } from '@postern/host/processes/exec'
import { CommandError } from '../command.ts'
import { parseEdgeReady } from './programs.ts'

export const SERVER_UNIT = 'postern-server.service'
export const EDGE_UNIT = 'postern-edge.service'
/** The units that are started at boot and monitored. */
export const UNITS = [SERVER_UNIT, EDGE_UNIT] as const
/** All installed units; the edge's starts the timer. */
export const UNIT_FILES = [...UNITS, 'postern-haproxy.service', 'postern-haproxy.timer'] as const
/** Those of an edge on a machine of its own. */
export const EDGE_UNIT_FILES = UNIT_FILES.filter((name) => name !== SERVER_UNIT)

/** Where units are that no package installed. They hide a package's units of the same name. */
export const OWN_UNIT_DIR = '/etc/systemd/system'

/** The units' settings. */
export const SETTINGS_FILE = '/etc/postern/environment'

/** The settings of the installed units; empty when there are none. Needs root. */
export function readUnitSettings(): Record<string, string> {
  return existsSync(SETTINGS_FILE) ? parseEnvironmentFile(readFileSync(SETTINGS_FILE, 'utf8')) : {}
}

export const isSystemdThere = () => existsSync('/run/systemd/system')

/** Our units that are running, or that systemd is about to restart. */
export async function listActiveUnits(): Promise<string[]> {
  if (!isSystemdThere()) return []
  const states = await Promise.all(UNITS.map((unit) => run('systemctl', ['is-active', unit])))
  return UNITS.filter((_, index) => !/^(inactive|failed|unknown)$/m.test(states[index]?.stdout ?? ''))
}

/** The edge's report on the data plane from its start; empty when it does not run. */
export const readEdgeStatus = async () =>
  (await must('systemctl', ['show', '--property=StatusText', '--value', EDGE_UNIT])).trim()

/**
 * Restarts the edge and waits until it has applied everything, or says which part failed.
 * @throws CommandError when it does not come up; systemd keeps trying
 */
export async function restartEdgeUnit(): Promise<DataPlane | null> {
  const restarted = await run('systemctl', ['restart', EDGE_UNIT], { timeoutMs: 60_000 }).catch(orTooLate)
  const report = await readEdgeStatus()
  if (restarted?.code !== 0 || report === '')
    throw new CommandError('the edge does not start: see journalctl -u postern-edge')
  return parseEdgeReady(JSON.parse(report))
}

/**
 * Stops our units. Traffic continues, because no unit contains it.
 * @returns whether one was running
 */
export async function stopUnits(): Promise<boolean> {
  const active = await listActiveUnits()
  if (active.length === 0) return false
  await must('systemctl', ['stop', ...active], { timeoutMs: 60_000 })
  // A unit that fails while stopping is stopped, too.
  await run('systemctl', ['reset-failed', ...active])
  return true
}

function orTooLate(error: unknown): undefined {
  if (!(error instanceof ExecTimeoutError)) throw error
}

/** Fills in the `@NAME@` marks of a unit. @throws on a path with characters that a unit file would not keep */
export function renderUnit(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/@([A-Z_]+)@/g, (mark, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${mark} is not filled in`)
    if (!/^[A-Za-z0-9/._+-]+$/.test(value))
      throw new CommandError(
        `${value} has characters not allowed in a systemd unit: move the repository to a plain path`,
      )
    return value
  })
}

/** The lines of an EnvironmentFile of systemd, each value quoted. @throws on a value with a line break */
export function renderEnvironmentFile(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => {
    if (/[\r\n\0]/.test(value)) throw new CommandError(`${name} must be one line`)
    return `${name}="${value.replace(/[\\"]/g, '\\$&')}"`
  })
  return `${['# The settings of Postern. After a change: systemctl restart postern-server postern-edge', ...lines].join('\n')}\n`
}

/** Reads what renderEnvironmentFile wrote, and plain NAME=value lines that a person added. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [, name, quoted, plain] = /^\s*(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))\s*$/.exec(line) ?? []
    return name ? [[name, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '']] : []
  })
  return Object.fromEntries(pairs)
}
