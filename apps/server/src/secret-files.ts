import { readFileSync } from 'node:fs'
import { type Settings, SettingsError } from '@postern/contract/settings/settings'
import { messageOf } from '@postern/host/errors'

/**
 * A secret of the settings, from itself or from its file.
 * @returns null where neither is set
 * @throws SettingsError for a file that cannot be read
 */
export function readSecret(
  settings: Settings,
  name: 'POSTERN_METRICS_TOKEN' | 'POSTERN_OTLP_HEADERS',
): string | null {
  const file = settings[`${name}_FILE`]
  if (file === null) return settings[name]
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new SettingsError(`${name}_FILE cannot be read: ${messageOf(cause)}`, { cause })
  }
}
