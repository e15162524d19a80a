import {
  type ConsoleSetting,
  groupOf,
  type InstallationSettings,
  isConsoleSetting,
  type SettingRecord,
  SettingsForm,
  type SettingsFormInput,
} from '@postern/contract/settings/console-settings'
import * as z from 'zod/mini'
import type { SettingsSection } from '../../stores/draft.ts'
import { SECTIONS } from './sections.ts'

/** The fields of one section. */
export type SettingsValues = { [K in ConsoleSetting]?: string | null } & { confirmPublicHost?: boolean }

const namesOf = (section: SettingsSection) => SECTIONS[section].fields.map(({ name }) => name)

export function findSetting(
  { settings }: InstallationSettings,
  name: ConsoleSetting,
): SettingRecord | undefined {
  return settings.find((setting) => setting.name === name)
}

export function schemaOf(section: SettingsSection): z.ZodMiniType<SettingsValues, SettingsValues> {
  const names = [...namesOf(section), ...(section === 'name' ? (['confirmPublicHost'] as const) : [])]
  const shape = Object.fromEntries(names.map((name) => [name, SettingsForm.shape[name]]))
  // The fields of the contract under the names of this section.
  return z.object(shape) as unknown as z.ZodMiniType<SettingsValues, SettingsValues>
}

/** What is empty is at its default, which the field shows in grey; a secret is never there. */
export function valuesOf(section: SettingsSection, record: InstallationSettings): SettingsValues {
  const entries = namesOf(section).map((name) => {
    const setting = findSetting(record, name)
    const isShown = setting && setting.source !== 'default'
    const fallback = name === 'POSTERN_REQUESTS_QUERY' ? (setting?.fallback ?? '') : ''
    return [name, isShown ? (setting.value ?? '') : fallback]
  })
  return { ...Object.fromEntries(entries), ...(section === 'name' && { confirmPublicHost: false }) }
}

/**
 * What is sent: nothing of what the environment sets, and no secret that was not typed, unless all that belongs to it
 * is gone.
 */
export function bodyOf(record: InstallationSettings, values: SettingsValues): SettingsFormInput {
  const kept = Object.entries(values).filter(([name, value]) => {
    if (!isConsoleSetting(name)) return true
    const setting = findSetting(record, name)
    if (!setting || setting.lockedBy !== null) return false
    if (!setting.isSecret || value !== null) return true
    return groupOf(name).every((other) => !values[other])
  })
  return Object.fromEntries(kept)
}
