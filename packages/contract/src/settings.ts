import { contains, findCidr, formatCidr, parseCidr } from '@postern/net/cidr'
import { isDomainName } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import * as z from 'zod/mini'

/** The settings of an installation: the one table of environment variables that starter, server and edge read. */

const text = (fallback: string) => z._default(z.string(), fallback)
const number = (what: string, min: number, max: number, fallback: number) => {
  const isOne = (value: string) => /^\d{1,6}$/.test(value) && +value >= min && +value <= max
  const words = `must be a ${what} from ${min} to ${max}`
  return z._default(z.pipe(z.string().check(z.refine(isOne, words)), z.transform(Number)), fallback)
}
const port = (fallback: number) => number('port', 1, 65535, fallback)

const isPublicHost = (host: string) => isIp(host) || isDomainName(host.toLowerCase())
const publicHost = z.string().check(z.refine(isPublicHost, 'must be an IP address or a domain name'))

const TUNNEL_SPACE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'].map(parseCidr)
const tunnelNetwork = z.pipe(
  z.string().check(
    z.refine((value) => {
      const cidr = findCidr(value)
      return cidr?.prefix === 16 && TUNNEL_SPACE.some((space) => contains(space, cidr))
    }, 'must be a private IPv4 network of the form 10.64.0.0/16'),
  ),
  z.transform((value: string) => formatCidr(parseCidr(value))),
)

const listed = (value: string) => value.split(',').map((one) => one.trim())
const networks = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (value) => listed(value).every((one) => one.includes('/') && findCidr(one) !== undefined),
        'must be networks like 192.168.0.0/16, separated by commas',
      ),
    ),
  z.transform((value: string) => listed(value).map((one) => formatCidr(parseCidr(one)))),
)

const portRange = z.pipe(
  z.string().check(
    z.refine((value) => {
      const [from = 0, to = 0] = value.split('-').map(Number)
      return /^\d{1,5}-\d{1,5}$/.test(value) && from >= 1 && from <= to && to <= 65535
    }, 'must be two ports like 32660-32760, the smaller one first'),
  ),
  z.transform((value: string) => {
    const [from = 0, to = 0] = value.split('-').map(Number)
    return { from, to }
  }),
)

const isNameServer = (text: string) => {
  const [, address = '', port = ''] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? []
  return isIp(text) || (isIp(address) && +port >= 1 && +port <= 65_535)
}
const nameServers = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (value) => listed(value).every(isNameServer),
        'must be addresses of name servers, like 192.0.2.53 or 192.0.2.53:5353, separated by commas',
      ),
    ),
  z.transform(listed),
)

const isLink = (value: string) => /^https?:$/.test(URL.parse(value)?.protocol ?? '')
const link = z.nullable(z.string().check(z.refine(isLink, 'must be an http or https address')))

const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'https://accounts.google.com',
  microsoft: 'https://login.microsoftonline.com/common/v2.0',
  github: 'github:https://github.com',
  'https://github.com': 'github:https://github.com',
}
/** GitHub is no OpenID provider, so the address of an own one is marked. */
const addressOf = (value: string) => (PROVIDERS[value] ?? value).replace(/^github:/, '')
const isIssuer = (value: string) => {
  const url = URL.parse(addressOf(value))
  const isHere = url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname)
  const isPlain = url?.search === '' && url.hash === '' && url.username === ''
  const isWhole = !value.startsWith('github:') || url?.pathname === '/'
  return isPlain && isWhole && (url.protocol === 'https:' || isHere)
}
const issuer = z.pipe(
  z
    .string()
    .check(
      z.refine(
        isIssuer,
        'must be google, microsoft, github, the https address of an OpenID provider, or github: and the https address of a GitHub Enterprise Server',
      ),
    ),
  z.transform((value: string) =>
    value.startsWith('github:') ? value.replace(/\/$/, '') : (PROVIDERS[value] ?? value),
  ),
)

const isDirectory = (value: string) => URL.parse(value)?.protocol === 'https:' && value.length <= 500
const acmeSecret = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_+/-]{16,1024}={0,2}$/, 'must be the HMAC key in base64url, as given'))

const Environment = z.object({
  POSTERN_DATA_DIR: text('/var/lib/postern').check(
    z.regex(/^\/[A-Za-z0-9._/-]{1,70}$/, 'must be an absolute path of at most 70 plain characters'),
  ),
  POSTERN_PUBLIC_HOST: z._default(z.nullable(publicHost), null),
  POSTERN_HTTP_PORT: port(80),
  POSTERN_HTTPS_PORT: port(443),
  POSTERN_CONSOLE_PORT: port(3000),
  POSTERN_TUNNEL_PORT: port(51820),
  POSTERN_TUNNEL_NETWORK: z._default(tunnelNetwork, '10.64.0.0/16'),
  POSTERN_TUNNEL_INTERFACE: text('postern0').check(
    z.regex(/^[a-z][a-z0-9-]{0,14}$/, 'must be a short interface name like postern0'),
  ),
  POSTERN_PORT_RANGE: z._default(portRange, { from: 32660, to: 32760 }),
  POSTERN_GATEWAY_NETWORKS: z._default(z.nullable(networks), null),
  POSTERN_CONNECTIONS_PER_SOURCE: number('number', 10, 100_000, 500),
  POSTERN_DNS_SERVERS: z._default(nameServers, []),
  POSTERN_ACME_DIRECTORY: z._default(
    z.string().check(z.refine(isDirectory, 'must be an https address')),
    'https://acme-v02.api.letsencrypt.org/directory',
  ),
  POSTERN_ACME_CA_FILE: z._default(
    z.nullable(z.string().check(z.startsWith('/', 'must be an absolute path'))),
    null,
  ),
  POSTERN_ACME_EMAIL: z._default(
    z.nullable(z.string().check(z.regex(/^[^\s@,?]{1,64}@[^\s@,?]{1,190}$/, 'must be one e-mail address'))),
    null,
  ),
  POSTERN_ACME_EAB_KID: z._default(z.nullable(z.string().check(z.minLength(1), z.maxLength(500))), null),
  POSTERN_ACME_EAB_HMAC: z._default(z.nullable(acmeSecret), null),
  POSTERN_ACME_EAB_HMAC_FILE: z._default(
    z.nullable(z.string().check(z.startsWith('/', 'must be an absolute path'))),
    null,
  ),
  POSTERN_ACME_PROFILE: z._default(
    z.nullable(z.string().check(z.regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be the name of a profile'))),
    null,
  ),
  POSTERN_ADMIN_USERNAME: text('admin').check(z.minLength(1), z.maxLength(100)),
  POSTERN_ADMIN_PASSWORD: z._default(
    z.nullable(z.string().check(z.minLength(8, 'must have at least 8 characters'))),
    null,
  ),
  POSTERN_OIDC_ISSUER: z._default(z.nullable(issuer), null),
  POSTERN_OIDC_CLIENT_ID: z._default(z.nullable(z.string()), null),
  POSTERN_OIDC_CLIENT_SECRET: z._default(z.nullable(z.string()), null),
  POSTERN_OIDC_CLIENT_SECRET_FILE: z._default(
    z.nullable(z.string().check(z.regex(/^\//, 'must be an absolute path'))),
    null,
  ),
  POSTERN_LOG_LEVEL: z._default(z.enum(['debug', 'info', 'warn', 'error']), 'info'),
  POSTERN_REPOSITORY_URL: z._default(link, null),
  POSTERN_SPONSOR_URL: z._default(link, null),
  POSTERN_CONTACT_URL: z._default(link, null),
})

export type Settings = z.output<typeof Environment>

/** All that an edge reads. It runs as root beside what strangers reach, so it is given nothing else, least of all secrets. */
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
  'POSTERN_LOG_LEVEL',
] as const satisfies readonly (keyof Settings)[]
export type EdgeSettings = Pick<Settings, (typeof EDGE_SETTINGS)[number]>

/** The ports of this machine that the installation itself takes. */
export function ownPortsOf(settings: EdgeSettings): number[] {
  const { POSTERN_HTTP_PORT, POSTERN_HTTPS_PORT, POSTERN_CONSOLE_PORT, POSTERN_TUNNEL_PORT } = settings
  return [POSTERN_HTTP_PORT, POSTERN_HTTPS_PORT, POSTERN_CONSOLE_PORT, POSTERN_TUNNEL_PORT]
}

/** Whether a TCP or UDP service may have this public port: one of the range that is not the installation's own. */
export function isServicePort(settings: EdgeSettings, port: number): boolean {
  const { from, to } = settings.POSTERN_PORT_RANGE
  return port >= from && port <= to && !ownPortsOf(settings).includes(port)
}

/** The ports of this machine that no backend may have: those of the range would lead back into the edge. */
export function closedPortsOf(settings: EdgeSettings): number[] {
  const { from, to } = settings.POSTERN_PORT_RANGE
  return [...ownPortsOf(settings), ...Array.from({ length: to - from + 1 }, (_, index) => from + index)]
}

/** A setting that cannot be used; `message` is one line that says which and what to do. */
export class SettingsError extends Error {
  readonly code = 'settings'
}

/**
 * Reads the settings; an empty variable counts as absent.
 * @throws SettingsError on a bad value or a `POSTERN_…` name that does not exist.
 */
export function parseSettings(environment: GivenEnvironment): Settings {
  return withWholeBinding(withWholeProvider(parseGiven(environment)))
}

/** The same for an edge, which looks at its own settings only. @throws SettingsError */
export function parseEdgeSettings(environment: GivenEnvironment): EdgeSettings {
  return parseGiven(environment, (name) => EDGE_SETTINGS.some((own) => own === name))
}

type GivenEnvironment = Readonly<Record<string, string | undefined>>

function parseGiven(environment: GivenEnvironment, isWanted = (_name: string) => true): Settings {
  const own = Object.entries(environment).filter(([key, value]) => key.startsWith('POSTERN_') && value)
  const known = Object.keys(Environment.shape)
  const unknown = own.find(([key]) => !known.includes(key))
  if (unknown)
    throw new SettingsError(`${unknown[0]} is not a setting. The settings are: ${known.join(', ')}`)
  const result = Environment.safeParse(Object.fromEntries(own.filter(([name]) => isWanted(name))))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SettingsError(`${issue?.path.join('.')} ${issue?.message}`)
}

/** What binds to an account that exists at the authority already: all of it or nothing. */
function withWholeBinding(settings: Settings): Settings {
  const {
    POSTERN_ACME_EAB_KID: kid,
    POSTERN_ACME_EAB_HMAC: hmac,
    POSTERN_ACME_EAB_HMAC_FILE: file,
  } = settings
  if (hmac !== null && file !== null)
    throw new SettingsError('Set POSTERN_ACME_EAB_HMAC or POSTERN_ACME_EAB_HMAC_FILE, not both')
  if ((kid === null) === ((hmac ?? file) === null)) return settings
  throw new SettingsError('POSTERN_ACME_EAB_KID and POSTERN_ACME_EAB_HMAC belong together: set both or none')
}

/** A provider is known by all of its settings or by none. */
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
