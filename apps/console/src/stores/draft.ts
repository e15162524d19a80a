import type { Domain } from '@postern/contract/domains'
import type { Node } from '@postern/contract/nodes'
import type { Service, ServiceType } from '@postern/contract/services/services'
import type { InstallationSettings } from '@postern/contract/settings/console-settings'

const KEY = 'draft'

/** The settings that are changed together. */
export type SettingsSection = 'name' | 'signIn' | 'provider' | 'authority' | 'requests' | 'links'

/** The form and the record that it edits; without one it creates a new record. */
export type DraftForm =
  | { form: 'node'; node: Node | undefined }
  | { form: 'service'; node: Node; type: ServiceType; service: Service | undefined }
  | { form: 'domain'; domain: Domain | undefined }
  | { form: 'token'; node: Node }
  | { form: 'settings'; section: SettingsSection; settings: InstallationSettings }

/** What was typed into a form when the session ended, by the names of its fields. */
export type DraftValues = Readonly<Record<string, unknown>>

export type Draft = DraftForm & { values: DraftValues }

/** Kept for this tab only. */
export function keepDraft(draft: Draft): void {
  sessionStorage.setItem(KEY, JSON.stringify(draft))
}

export function findDraft(): Draft | undefined {
  const text = sessionStorage.getItem(KEY)
  // Written by `keepDraft`; only this page can access the storage of its tab.
  return text === null ? undefined : (JSON.parse(text) as Draft)
}

export function dropDraft(): void {
  sessionStorage.removeItem(KEY)
}
