import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseSettings, type Settings } from '@postern/contract/settings'
import type { Machine } from './machine.ts'

export const ROOT = join(import.meta.dirname, '../..')

export type Environment = Record<string, string | undefined>

/** The settings as the starter reads them: without root the data directory is below the user's own. */
export function readSettings(environment: Environment, { isRoot }: Machine): Settings {
  return parseSettings(withDataDir(environment, isRoot))
}

function withDataDir(environment: Environment, isRoot: boolean): Environment {
  if (isRoot || environment.POSTERN_DATA_DIR) return environment
  return { ...environment, POSTERN_DATA_DIR: join(homedir(), '.local/share/postern') }
}

/** What our programs need of the environment, and nothing else; only the server gets the admin's password. */
export function environmentOf(
  program: 'server' | 'edge',
  environment: Environment,
  { isRoot }: Machine,
): Record<string, string> {
  const settings = withDataDir(environment, isRoot)
  const names = Object.keys(settings).filter(
    (name) =>
      ['PATH', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR'].includes(name) ||
      (name.startsWith('POSTERN_') && (program === 'server' || name !== 'POSTERN_ADMIN_PASSWORD')),
  )
  const pairs = names.flatMap((name) => (settings[name] ? [[name, settings[name]]] : []))
  return { NODE_ENV: 'production', ...Object.fromEntries(pairs) }
}
