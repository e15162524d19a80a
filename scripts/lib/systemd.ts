import { existsSync, readFileSync } from 'node:fs'
import type { DataPlane } from '@postern/contract/edge'
import { ExecTimeoutError, must, run } from '@postern/host/exec'
import { CommandError } from './command.ts'
import { parseEdgeReady } from './programs.ts'

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
  const restarted = await run('systemctl', ['restart', EDGE_UNIT], { timeoutMs: 60_000 }).catch(orTooLate)
  const said = await must('systemctl', ['show', '--property=StatusText', '--value', EDGE_UNIT])
  if (restarted?.code !== 0 || said.trim() === '')
    throw new CommandError('the edge does not start: see journalctl -u postern-edge')
  return parseEdgeReady(JSON.parse(said))
}

/** Stops our units; the traffic goes on, because it is in none of them. @returns whether one ran */
export async function stopUnits(): Promise<boolean> {
  const active = await listActiveUnits()
  if (active.length === 0) return false
  await must('systemctl', ['stop', ...active], { timeoutMs: 60_000 })
  // One that failed while it was stopped is stopped as well; one that did not fail has nothing to forget.
  await run('systemctl', ['reset-failed', ...active])
  return true
}

function orTooLate(error: unknown): undefined {
  if (!(error instanceof ExecTimeoutError)) throw error
}

/** A unit with its `@NAME@` marks filled in. @throws on a path that a unit file cannot hold as it is */
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
