import {
  findLock,
  type InstallationSettings,
  isConsoleSetting,
  isSecretSetting,
  type SettingRecord,
} from '@postern/contract/settings/console-settings'
import { Environment, parseSettings, type SettingName } from '@postern/contract/settings/settings'
import type { Context } from '../../context.ts'

/** All settings of the installation, in the order of the table, without secrets. */
export async function readSettings({ liveSettings, db }: Context): Promise<InstallationSettings> {
  const { formerHosts, updatedAt } = await liveSettings.read(db)
  const fallbacks = { ...parseSettings({}), POSTERN_PUBLIC_HOST: liveSettings.config.defaultHost ?? null }
  // The shape's keys are the names.
  const names = Object.keys(Environment.shape) as SettingName[]
  return {
    settings: names.map((name) => recordOf(liveSettings, name, textOf(fallbacks[name]))),
    formerHosts: formerHosts.filter((host) => host !== liveSettings.config.publicHost),
    updated_at: updatedAt,
  }
}

function recordOf(
  { config: { given }, state }: Context['liveSettings'],
  name: SettingName,
  fallback: string | null,
): SettingRecord {
  const isChangeable = isConsoleSetting(name)
  const lockedBy = findLock(name, given) ?? null
  const chosen = isChangeable ? state.chosen[name] : undefined
  const text = lockedBy === null ? chosen : given[name]
  const isSecret = isSecretSetting(name)
  const isSet = text !== undefined || (isSecret && lockedBy !== null)
  return {
    name,
    value: isSecret ? null : (text ?? fallback),
    fallback,
    isSecret,
    isSet,
    source: lockedBy !== null ? 'environment' : chosen !== undefined ? 'console' : 'default',
    lockedBy,
    isChangeable,
    problem: (isChangeable && state.problems.get(name)) || null,
  }
}

/** A default as a person would write it. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.join(',') || null
  // The one setting with parts: the range of ports.
  if (typeof value === 'object') return Object.values(value).join('-')
  return String(value)
}
