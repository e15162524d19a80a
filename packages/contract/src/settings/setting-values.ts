import { contains, findCidr, formatCidr, parseCidr } from '@postern/net/cidr'
import { isDomainName } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import * as z from 'zod/mini'

/** What the values of settings look like. */

export const checked = (isGood: (value: string) => boolean, words: string) =>
  z.string().check(z.refine(isGood, words))
export const matching = (pattern: RegExp, words: string) => z.string().check(z.regex(pattern, words))
/** A text that is read as something else, once it is checked. */
export const read = <T>(isGood: (value: string) => boolean, words: string, as: (value: string) => T) =>
  z.pipe(checked(isGood, words), z.transform(as))
/** Null where it is not set. */
export const optional = <T extends z.ZodMiniType>(value: T) => z.prefault(z.nullable(value), null)

export const text = (fallback: string) => z._default(z.string(), fallback)
export const number = (what: string, min: number, max: number, fallback: number) => {
  const isOne = (value: string) => /^\d{1,6}$/.test(value) && +value >= min && +value <= max
  return z._default(read(isOne, `must be a ${what} from ${min} to ${max}`, Number), fallback)
}
export const port = (fallback: number) => number('port', 1, 65535, fallback)
const isPort = (digits: string) => +digits >= 1 && +digits <= 65_535
export const file = matching(/^\//, 'must be an absolute path')

const isPublicHost = (host: string) => isIp(host) || isDomainName(host.toLowerCase())
export const publicHost = checked(isPublicHost, 'must be an IP address or a domain name')

const TUNNEL_SPACE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'].map(parseCidr)
const isTunnelNetwork = (value: string) => {
  const cidr = findCidr(value)
  return cidr?.prefix === 16 && TUNNEL_SPACE.some((space) => contains(space, cidr))
}
const plain = (value: string) => formatCidr(parseCidr(value))
export const tunnelNetwork = read(
  isTunnelNetwork,
  'must be a private IPv4 network of the form 10.64.0.0/16',
  plain,
)

const listed = (value: string) => value.split(',').map((one) => one.trim())
export const networks = read(
  (value) => listed(value).every((one) => one.includes('/') && findCidr(one) !== undefined),
  'must be networks like 192.168.0.0/16, separated by commas',
  (value) => listed(value).map(plain),
)

const endsOf = (value: string) => {
  const [from = 0, to = 0] = value.split('-').map(Number)
  return { from, to }
}
const isPortRange = (value: string) => {
  const { from, to } = endsOf(value)
  return /^\d{1,5}-\d{1,5}$/.test(value) && from >= 1 && from <= to && to <= 65535
}
export const portRange = read(
  isPortRange,
  'must be two ports like 32660-32760, the smaller one first',
  endsOf,
)

const isNameServer = (text: string) => {
  const [, address = '', port = ''] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? []
  return isIp(text) || (isIp(address) && isPort(port))
}
export const nameServers = read(
  (value) => listed(value).every(isNameServer),
  'must be addresses of name servers, like 192.0.2.53 or 192.0.2.53:5353, separated by commas',
  listed,
)

const isDestination = (value: string) => {
  if (value.startsWith('file:')) return /^file:\/[\w./-]{1,200}$/.test(value)
  if (value.startsWith('unix:')) return /^unix:\/[\w./-]{1,100}$/.test(value)
  const [, host = '', port = ''] = /^(?:udp|tcp):\/\/\[?([^\]/]+?)\]?:(\d{1,5})$/.exec(value) ?? []
  return isPublicHost(host) && isPort(port)
}
export const destination = checked(
  isDestination,
  'must be where syslog listens, like udp://192.0.2.7:514, tcp://192.0.2.7:601 or unix:/dev/log, or a file, like file:/var/lib/postern/edge/access.log',
)

const isLink = (value: string) => /^https?:$/.test(URL.parse(value)?.protocol ?? '')
export const link = checked(isLink, 'must be an http or https address')

const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['google', 'https://accounts.google.com'],
  ['microsoft', 'https://login.microsoftonline.com/common/v2.0'],
  ['github', 'github:https://github.com'],
  ['https://github.com', 'github:https://github.com'],
])
/** GitHub is no OpenID provider, so the address of a GitHub Enterprise Server needs a prefix. */
const addressOf = (value: string) => (PROVIDERS.get(value) ?? value).replace(/^github:/, '')
const isIssuer = (value: string) => {
  const url = URL.parse(addressOf(value))
  const isHere = url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname)
  const isPlain = url?.search === '' && url.hash === '' && url.username === ''
  const isWhole = !value.startsWith('github:') || url?.pathname === '/'
  return isPlain && isWhole && (url.protocol === 'https:' || isHere)
}
export const issuer = read(
  isIssuer,
  'must be google, microsoft, github, the https address of an OpenID provider, or github: followed by the https address of a GitHub Enterprise Server',
  (value) => (value.startsWith('github:') ? value.replace(/\/$/, '') : (PROVIDERS.get(value) ?? value)),
)

const isDirectory = (value: string) => URL.parse(value)?.protocol === 'https:' && value.length <= 500
export const acmeDirectory = checked(isDirectory, 'must be an https address')
export const acmeSecret = matching(
  /^[A-Za-z0-9_+/-]{16,1024}={0,2}$/,
  'must be the HMAC key in base64url, as the authority gave it',
)
