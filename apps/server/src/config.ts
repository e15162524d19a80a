import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import {
  type GivenEnvironment,
  listGiven,
  parseSettings,
  type Settings,
  SettingsError,
} from '@postern/contract/settings/settings'
import type { MachineNetwork } from './network.ts'

/** The configuration. In a running server, what people set in the console is part of it, and changes meanwhile. */
export interface ServerConfig {
  readonly settings: Settings
  /** The variables of the environment that are set. */
  readonly given: GivenEnvironment
  paths: InstallationPaths
  version: string
  /** The name or address that visitors and nodes use. @throws SettingsError when there is none */
  readonly publicHost: string
  /** The same, and those from before at which the installation still answers. */
  readonly ownHosts: readonly string[]
  /** The public host when nobody sets one; undefined: this machine has no default route. */
  defaultHost: string | undefined
  /** The root of the repository, where `docs/` and the built console are. */
  rootDir: string
  /** Whether systemd itself has started us. */
  isUnit?: boolean
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/**
 * @param rootDir only for a packed program in a directory of another depth than the server's
 * @throws SettingsError with one line that says what to set
 */
export function readConfig(
  network: MachineNetwork,
  environment: GivenEnvironment = process.env,
  rootDir = ROOT,
): ServerConfig {
  const settings = parseSettings(environment)
  const defaultHost = findDefaultHost(network)
  return {
    settings,
    given: Object.fromEntries(listGiven(environment)),
    defaultHost,
    get publicHost() {
      return publicHostOf(settings, defaultHost)
    },
    get ownHosts() {
      return [this.publicHost]
    },
    paths: installationPaths(settings.POSTERN_DATA_DIR),
    version: readVersion(rootDir),
    rootDir,
    isUnit: environment.INVOCATION_ID !== undefined,
  }
}

function findDefaultHost(network: MachineNetwork): string | undefined {
  return network.defaultAddress ?? network.addresses.find((address) => !isLoopback(address))
}

/** @throws SettingsError */
export function publicHostOf(
  { POSTERN_PUBLIC_HOST: host }: Settings,
  defaultHost: string | undefined,
): string {
  const found = host ?? defaultHost
  if (found === undefined)
    throw new SettingsError('POSTERN_PUBLIC_HOST must be set: this machine has no default route')
  return found.toLowerCase()
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('fe80:')
}

function readVersion(rootDir: string): string {
  const manifest: unknown = JSON.parse(readFileSync(`${rootDir}/package.json`, 'utf8'))
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return version ? String(manifest.version) : '0.0.0'
}

/** `https://host[:port]`: where visitors and agents reach the installation. */
export function publicUrl(config: Pick<ServerConfig, 'settings' | 'publicHost'>): string {
  const port = config.settings.POSTERN_HTTPS_PORT
  return `https://${bracketed(config.publicHost)}${port === 443 ? '' : `:${port}`}`
}

/** A host in the form that goes before a port. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
