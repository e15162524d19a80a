import { findDuration } from '@postern/net/duration'
import { findText, type Values } from '../cli/command.ts'
import { AgentError } from '../errors.ts'
import { printable } from '../io.ts'

/** The options of a service, which are the fields of its form. */
export const SERVICE_OPTIONS = {
  name: { type: 'string' },
  domain: { type: 'string' },
  allow: { type: 'string' },
  block: { type: 'string' },
  ttl: { type: 'string' },
  'skip-dns-check': { type: 'boolean' },
} as const
export const HTTP_OPTIONS = {
  path: { type: 'string' },
  'strip-path': { type: 'boolean' },
  'sign-in': { type: 'boolean' },
  'trust-name': { type: 'boolean' },
} as const
export const PORT_OPTIONS = {
  port: { type: 'string' },
  tls: { type: 'boolean' },
  'trust-cookies': { type: 'boolean' },
} as const

export const OPTIONS_HELP = `  --name NAME        what the console calls it (default: its domain, or its port)
  --domain NAME      the domain; one that is new is added
  --allow LIST       only these addresses and networks, separated by commas
  --block LIST       not these
  --ttl TIME         the service ends after this time, like 90m, 8h or 7d
  --skip-dns-check   add a new domain although it does not lead to the server yet`
export const HTTP_HELP = `  --path PATH        the public path (default /)
  --strip-path       the program gets paths without that
  --sign-in          visitors sign in first, as the domain says
  --trust-name       use a name that the console or a service had before`
export const PORT_HELP = `  --port PORT        the public port (default: the lowest free one)
  --tls              TLS ends at the server (not for udp)
  --trust-cookies    the program may see the cookies of sign-ins at its address`

/** The fields of a form that the options name. @throws AgentError */
export function readServiceOptions(values: Values): Record<string, unknown> {
  const flags: readonly (readonly [string, string, unknown])[] = [
    ['strip-path', 'stripPath', true],
    ['no-strip-path', 'stripPath', false],
    ['sign-in', 'requireAuth', true],
    ['no-sign-in', 'requireAuth', false],
    ['tls', 'ssl', true],
    ['no-tls', 'ssl', false],
    ['skip-dns-check', 'skipValidation', true],
    ['trust-name', 'confirmUsedName', true],
    ['trust-cookies', 'confirmSharedCookies', true],
  ]
  return {
    ...textOf(values, 'name', 'name'),
    ...textOf(values, 'domain', 'domain'),
    ...textOf(values, 'path', 'pathLocation'),
    ...listOf(values, 'allow', 'allowedIps'),
    ...listOf(values, 'block', 'blockedIps'),
    ...portOf(values),
    ...endOf(values),
    ...Object.fromEntries(
      flags.flatMap(([option, field, to]) => (values[option] === true ? [[field, to]] : [])),
    ),
  }
}

/** The word that empties a field. */
const NONE = 'none'

function textOf(values: Values, option: string, field: string) {
  const text = findText(values, option)
  if (text === undefined) return {}
  return { [field]: text === NONE ? null : text }
}

function listOf(values: Values, option: string, field: string) {
  const text = findText(values, option)
  if (text === undefined) return {}
  return { [field]: text === NONE ? [] : text.split(/[\s,]+/).filter((entry) => entry !== '') }
}

function portOf(values: Values) {
  const text = findText(values, 'port')
  return text === undefined ? {} : { port: parsePort(text, '--port') }
}

function endOf(values: Values) {
  const text = findText(values, 'ttl')
  if (text === undefined) return {}
  if (text === 'never') return { endsAt: null }
  const seconds = findDuration(text)
  if (seconds === undefined || seconds === 0)
    throw new AgentError('usage', `--ttl must be a time like 90m, 8h or 7d, and not ${printable(text, 50)}`)
  return { ttl: seconds }
}

function parsePort(text: string, what: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new AgentError('usage', `${what} must be a port from 1 to 65535, and not ${printable(text, 50)}`)
}

export interface Backend {
  backendPort: number
  backendHost?: string
  backendProto?: 'http' | 'https'
}

const BACKEND = /^(?:(https?):\/\/)?(?:(\[[0-9a-f:.]+\]|[^\s:/[\]]+):)?(\d+)\/?$/i

/** Where a service leads, as typed: `8080`, `nas.lan:8080` or `https://[fd00::1]:8443`. @throws AgentError */
export function parseBackend(text: string): Backend {
  const [, proto, host, port] = BACKEND.exec(text) ?? []
  if (port === undefined)
    throw new AgentError(
      'usage',
      `${printable(text, 100)} is not where a program listens: give a port, or HOST:PORT`,
    )
  return {
    backendPort: parsePort(port, 'The port of the program'),
    ...(host !== undefined && { backendHost: host.replace(/^\[|\]$/g, '') }),
    ...(proto !== undefined && { backendProto: proto.toLowerCase() === 'https' ? 'https' : 'http' }),
  }
}

/** The service that a command is about. @throws AgentError */
export function parseService(values: Values, verb: string): string {
  const service = findText(values, 'service')
  if (service !== undefined) return service
  throw new AgentError('usage', `Name a service. See: postern ${verb} --help`)
}

/** What a command publishes. @throws AgentError */
export function parseTarget(values: Values, verb: string): Backend {
  const target = findText(values, 'target')
  if (target !== undefined) return parseBackend(target)
  throw new AgentError('usage', `Give the port of a program, or HOST:PORT. See: postern ${verb} --help`)
}
