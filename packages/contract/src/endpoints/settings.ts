import { BackupState } from '../backup.ts'
import { InstallationSettings, SettingsForm } from '../settings/console-settings.ts'
import { administer, type Endpoint, nothing } from './endpoint.ts'

/** How the installation is set up: only for those who may change it. */
export const settings = {
  getSettings: {
    method: 'GET',
    path: '/api/settings',
    noun: 'Server',
    ...administer,
    answer: InstallationSettings,
  },
  updateSettings: {
    method: 'PATCH',
    path: '/api/settings',
    noun: 'Server',
    ...administer,
    body: SettingsForm,
    answer: InstallationSettings,
  },
  getBackups: {
    method: 'GET',
    path: '/api/settings/backups',
    noun: 'Server',
    ...administer,
    answer: BackupState,
  },
  /** Answers when it is made or has failed, or while it takes longer. */
  makeBackup: {
    method: 'POST',
    path: '/api/settings/backups',
    noun: 'Server',
    ...administer,
    body: nothing,
    answer: BackupState,
  },
} as const satisfies Record<string, Endpoint>
