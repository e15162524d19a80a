import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { parseSettings, type Settings, SettingsError } from '@postern/contract/settings'
import type { MachineNetwork } from './network.ts'

/** What does not change while the server runs. */
export interface ServerConfig {
  settings: Settings
  paths: InstallationPaths
  version: string
  /** The name or address that visitors and nodes use. */
  publicHost: string
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
  environment: Readonly<Record<string, string | undefined>> = process.env,
  rootDir = ROOT,
): ServerConfig {
  const settings = parseSettings(environment)
  return {
    settings,
    paths: installationPaths(settings.POSTERN_DATA_DIR),
    version: readVersion(rootDir),
    publicHost: (settings.POSTERN_PUBLIC_HOST ?? defaultHost(network)).toLowerCase(),
    rootDir,
    isUnit: environment.INVOCATION_ID !== undefined,
  }
}

function defaultHost(network: MachineNetwork): string {
  const host = network.defaultAddress ?? network.addresses.find((address) => !isLoopback(address))
  if (host === undefined)
    throw new SettingsError('POSTERN_PUBLIC_HOST must be set: this machine has no default route')
  return host
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
export function publicUrl(config: ServerConfig): string {
  const port = config.settings.POSTERN_HTTPS_PORT
  return `https://${bracketed(config.publicHost)}${port === 443 ? '' : `:${port}`}`
}

/** A host as it stands before a port. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
