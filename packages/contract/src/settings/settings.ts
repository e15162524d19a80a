import * as z from 'zod/mini'
import { CONTROL_SETTINGS, findControlFault } from './control-settings.ts'
import { findMonitoringFault, MONITORING_SETTINGS } from './monitoring-settings.ts'
import {
  acmeDirectory,
  acmeSecret,
  destination,
  file,
  issuer,
  link,
  matching,
  nameServers,
  networks,
  number,
  optional,
  port,
  portRange,
  publicHost,
  text,
  tunnelNetwork,
} from './setting-values.ts'

/** The settings of an installation: the one table of environment variables that starter, server and edge read. */

/** The rule of each setting for its text. */
export const Environment = z.object({
  POSTERN_DATA_DIR: text('/var/lib/postern').check(
    z.regex(/^\/[A-Za-z0-9._/-]{1,70}$/, 'must be an absolute path of at most 70 plain characters'),
  ),
  POSTERN_PUBLIC_HOST: optional(publicHost),
  POSTERN_HTTP_PORT: port(80),
  POSTERN_HTTPS_PORT: port(443),
  POSTERN_CONSOLE_PORT: port(3000),
  POSTERN_TUNNEL_PORT: port(51820),
  POSTERN_TUNNEL_NETWORK: z._default(tunnelNetwork, '10.64.0.0/16'),
  POSTERN_TUNNEL_INTERFACE: text('postern0').check(
    z.regex(/^[a-z][a-z0-9-]{0,14}$/, 'must be a short interface name like postern0'),
  ),
  POSTERN_PORT_RANGE: z._default(portRange, { from: 32660, to: 32760 }),
  POSTERN_GATEWAY_NETWORKS: optional(networks),
  POSTERN_CONNECTIONS_PER_SOURCE: number('number', 10, 100_000, 500),
  POSTERN_REQUESTS_DAYS: number('number', 0, 366, 7),
  POSTERN_REQUESTS_MB: number('number', 64, 999_999, 1024),
  POSTERN_REQUESTS_QUERY: z._default(z.enum(['yes', 'no'], 'must be yes or no'), 'no'),
  POSTERN_REQUESTS_LOG: optional(destination),
  POSTERN_BACKUP_DIR: optional(file),
  POSTERN_BACKUP_KEEP: number('number', 1, 365, 7),
  POSTERN_DNS_SERVERS: z._default(nameServers, []),
  POSTERN_ACME_DIRECTORY: z._default(acmeDirectory, 'https://acme-v02.api.letsencrypt.org/directory'),
  POSTERN_ACME_CA_FILE: optional(file),
  POSTERN_ACME_EMAIL: optional(matching(/^[^\s@,?]{1,64}@[^\s@,?]{1,190}$/, 'must be one e-mail address')),
  POSTERN_ACME_EAB_KID: optional(z.string().check(z.minLength(1), z.maxLength(500))),
  POSTERN_ACME_EAB_HMAC: optional(acmeSecret),
  POSTERN_ACME_EAB_HMAC_FILE: optional(file),
  POSTERN_ACME_PROFILE: optional(matching(/^[A-Za-z0-9_.-]{1,64}$/, 'must be the name of a profile')),
  POSTERN_ADMIN_USERNAME: text('admin').check(z.minLength(1), z.maxLength(100)),
  POSTERN_ADMIN_PASSWORD: optional(z.string().check(z.minLength(8, 'must have at least 8 characters'))),
  POSTERN_SECOND_FACTOR: z._default(
    z.enum(['nobody', 'administrators', 'everybody'], 'must be nobody, administrators or everybody'),
    'nobody',
  ),
  POSTERN_OIDC_ISSUER: optional(issuer),
  POSTERN_OIDC_CLIENT_ID: optional(z.string()),
  POSTERN_OIDC_CLIENT_SECRET: optional(z.string()),
  POSTERN_OIDC_CLIENT_SECRET_FILE: optional(file),
  ...MONITORING_SETTINGS,
  ...CONTROL_SETTINGS,
  POSTERN_LOG_LEVEL: z._default(z.enum(['debug', 'info', 'warn', 'error']), 'info'),
  POSTERN_REPOSITORY_URL: optional(link),
  POSTERN_SPONSOR_URL: optional(link),
  POSTERN_CONTACT_URL: optional(link),
})

export type Settings = z.output<typeof Environment>
export type SettingName = keyof Settings

/**
 * All that an edge reads. It runs as root and handles strangers' traffic, so it gets nothing else, least of all
 * secrets.
 */
export const EDGE_SETTINGS = [
  'POSTERN_DATA_DIR',
  'POSTERN_PUBLIC_HOST',
  'POSTERN_HTTP_PORT',
  'POSTERN_HTTPS_PORT',
  'POSTERN_CONSOLE_PORT',
  'POSTERN_TUNNEL_PORT',
  'POSTERN_TUNNEL_NETWORK',
  'POSTERN_TUNNEL_INTERFACE',
  'POSTERN_PORT_RANGE',
  'POSTERN_GATEWAY_NETWORKS',
  'POSTERN_CONNECTIONS_PER_SOURCE',
  'POSTERN_METRICS_ADDRESS',
  'POSTERN_CONTROL_LISTEN',
  'POSTERN_REQUESTS_DAYS',
  'POSTERN_REQUESTS_MB',
  'POSTERN_REQUESTS_QUERY',
  'POSTERN_REQUESTS_LOG',
  'POSTERN_LOG_LEVEL',
] as const satisfies readonly (keyof Settings)[]
export type EdgeSettings = Pick<Settings, (typeof EDGE_SETTINGS)[number]>

/** The ports of this machine that the installation itself uses. */
export function ownPortsOf(settings: EdgeSettings): number[] {
  const { POSTERN_HTTP_PORT, POSTERN_HTTPS_PORT, POSTERN_CONSOLE_PORT, POSTERN_TUNNEL_PORT } = settings
  const listeners = [settings.POSTERN_METRICS_ADDRESS, settings.POSTERN_CONTROL_LISTEN]
  const others = listeners.flatMap((listener) => listener?.port ?? [])
  return [POSTERN_HTTP_PORT, POSTERN_HTTPS_PORT, POSTERN_CONSOLE_PORT, POSTERN_TUNNEL_PORT, ...others]
}

/**
 * Whether a TCP or UDP service may have this public port: it is in the range and not used by the installation itself.
 */
export function isServicePort(settings: EdgeSettings, port: number): boolean {
  const { from, to } = settings.POSTERN_PORT_RANGE
  return port >= from && port <= to && !ownPortsOf(settings).includes(port)
}

/** The ports of this machine that no backend may have: those in the range would lead back into the edge. */
export function closedPortsOf(settings: EdgeSettings): number[] {
  const { from, to } = settings.POSTERN_PORT_RANGE
  return [...ownPortsOf(settings), ...Array.from({ length: to - from + 1 }, (_, index) => from + index)]
}

/** A setting that cannot be used; `message` says in one line which one, and what to do. */
export class SettingsError extends Error {
  readonly code = 'settings'
}

/**
 * Reads the settings; an empty variable counts as absent.
 * @throws SettingsError on a bad value or a `POSTERN_…` name that does not exist.
 */
export function parseSettings(environment: GivenEnvironment): Settings {
  return withOwnPorts(withWholeBinding(withWholeProvider(parseGiven(environment))))
}

/** The same for an edge, which looks at its own settings only. @throws SettingsError */
export function parseEdgeSettings(environment: GivenEnvironment): EdgeSettings {
  return parseGiven(environment, (name) => EDGE_SETTINGS.some((own) => own === name))
}

export type GivenEnvironment = Readonly<Record<string, string | undefined>>

/** The variables of ours in it; an empty one counts as absent. */
export function listGiven(environment: GivenEnvironment): [string, string][] {
  return Object.entries(environment).flatMap(([key, value]): [string, string][] =>
    key.startsWith('POSTERN_') && value ? [[key, value]] : [],
  )
}

function parseGiven(environment: GivenEnvironment, isWanted = (_name: string) => true): Settings {
  const own = listGiven(environment)
  const known = Object.keys(Environment.shape)
  const unknown = own.find(([key]) => !known.includes(key))
  if (unknown)
    throw new SettingsError(`${unknown[0]} is not a setting. The settings are: ${known.join(', ')}`)
  const result = Environment.safeParse(Object.fromEntries(own.filter(([name]) => isWanted(name))))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SettingsError(`${issue?.path.join('.')} ${issue?.message}`)
}

/** The binding to an account that exists at the authority: all of its settings or none. */
function withWholeBinding(settings: Settings): Settings {
  const {
    POSTERN_ACME_EAB_KID: kid,
    POSTERN_ACME_EAB_HMAC: hmac,
    POSTERN_ACME_EAB_HMAC_FILE: file,
  } = settings
  if (hmac !== null && file !== null)
    throw new SettingsError('Set POSTERN_ACME_EAB_HMAC or POSTERN_ACME_EAB_HMAC_FILE, not both')
  if ((kid === null) === ((hmac ?? file) === null)) return settings
  throw new SettingsError(
    'POSTERN_ACME_EAB_KID and POSTERN_ACME_EAB_HMAC belong together: set both or neither',
  )
}

/** A provider needs all of its settings or none. */
function withWholeProvider(settings: Settings): Settings {
  const { POSTERN_OIDC_ISSUER, POSTERN_OIDC_CLIENT_ID } = settings
  const { POSTERN_OIDC_CLIENT_SECRET: secret, POSTERN_OIDC_CLIENT_SECRET_FILE: file } = settings
  const given = [POSTERN_OIDC_ISSUER, POSTERN_OIDC_CLIENT_ID, secret ?? file].filter((each) => each !== null)
  if (given.length % 3 !== 0)
    throw new SettingsError(
      'POSTERN_OIDC_ISSUER, POSTERN_OIDC_CLIENT_ID and POSTERN_OIDC_CLIENT_SECRET belong together: set all of them',
    )
  if (secret !== null && file !== null)
    throw new SettingsError('Set POSTERN_OIDC_CLIENT_SECRET or POSTERN_OIDC_CLIENT_SECRET_FILE, not both')
  return settings
}

function withOwnPorts(settings: Settings): Settings {
  const fault = findMonitoringFault(settings) ?? findControlFault(settings)
  if (fault) throw new SettingsError(fault)
  const { POSTERN_METRICS_ADDRESS, POSTERN_CONTROL_LISTEN } = settings
  // HAProxy would find it taken, and nothing published would be reached.
  const taken = [settings.POSTERN_HTTP_PORT, settings.POSTERN_HTTPS_PORT, settings.POSTERN_CONSOLE_PORT]
  for (const [name, address] of Object.entries({ POSTERN_METRICS_ADDRESS, POSTERN_CONTROL_LISTEN })) {
    if (address && taken.includes(address.port))
      throw new SettingsError(`${name} needs a port of its own: ${address.port} is in use`)
    if (address) taken.push(address.port)
  }
  return settings
}
