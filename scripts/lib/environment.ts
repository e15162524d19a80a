import { homedir } from 'node:os'
import { join } from 'node:path'
import { EDGE_SETTINGS, parseSettings, type Settings } from '@postern/contract/settings/settings'
import { takeFromEnvironment } from '../bootstrap/own-environment.mjs'
import type { Machine } from './machine.ts'

export const ROOT = join(import.meta.dirname, '../..')

export type Environment = Record<string, string | undefined>

/** The environment that this process started with. Removes the admin's password from the process itself. */
export function takeEnvironment(): Environment {
  const password = takeFromEnvironment('POSTERN_ADMIN_PASSWORD')
  return { ...process.env, ...(password && { POSTERN_ADMIN_PASSWORD: password }) }
}

/** The settings as the starter reads them. Without root the data directory is below the user's home. */
export function readSettings(environment: Environment, { isRoot }: Machine): Settings {
  return parseSettings(withDataDir(environment, isRoot))
}

function withDataDir(environment: Environment, isRoot: boolean): Environment {
  if (isRoot || environment.POSTERN_DATA_DIR) return environment
  return { ...environment, POSTERN_DATA_DIR: join(homedir(), '.local/share/postern') }
}

const COMMON = ['PATH', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

/** With one heap for all threads of a program, glibc keeps a few MB less (0026). */
export const RUN_WITH = { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '32768' }

/** The part of the environment that one of our programs needs. The admin's password is passed in a file instead. */
export function environmentOf(
  program: 'server' | 'edge',
  environment: Environment,
  { isRoot }: Machine,
): Record<string, string> {
  const settings = withDataDir(environment, isRoot)
  const isNeeded = (name: string) =>
    program === 'edge'
      ? EDGE_SETTINGS.some((own) => own === name)
      : name.startsWith('POSTERN_') && name !== 'POSTERN_ADMIN_PASSWORD'
  const pairs = Object.entries(settings).flatMap(([name, value]) =>
    value && (COMMON.includes(name) || isNeeded(name)) ? [[name, value]] : [],
  )
  return { ...RUN_WITH, ...Object.fromEntries(pairs) }
}
