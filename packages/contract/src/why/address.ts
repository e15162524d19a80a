import { isHostname } from '@postern/net/hostname'
import { findIp, formatIp } from '@postern/net/ip'
import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { MESSAGES, missing } from '../messages.ts'

/** An address as a person gives it, without what may be secret: whom it names, its query and its fragment. */
export interface TracedAddress {
  /** Null: it says neither TCP nor UDP, nor that it is the web's. */
  scheme: 'https' | 'http' | 'tcp' | 'udp' | null
  /** In lower case, an IP address without brackets; null: the installation's own. */
  host: string | null
  port: number | null
  /** As HAProxy decides by it: without parameters and doubled slashes. */
  path: string
}

const SCHEMES: Readonly<Record<string, TracedAddress['scheme']>> = {
  https: 'https',
  wss: 'https',
  http: 'http',
  ws: 'http',
  tcp: 'tcp',
  tls: 'tcp',
  udp: 'udp',
}

const PORT_ONLY = /^:?(\d{1,5})$/
const PORT_AND_PROTOCOL = /^(?:(.+):|:)?(\d{1,5})\/(tcp|udp)$/i
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i

/** A URL, a host with or without port and path, or a port like `32760/udp`. @returns undefined for what is none of them */
export function findTracedAddress(text: string): TracedAddress | undefined {
  const typed = text.trim()
  const bare = PORT_ONLY.exec(typed)
  if (bare) return checked({ scheme: null, host: null, port: Number(bare[1]), path: '/' })
  const [, before, port, protocol] = PORT_AND_PROTOCOL.exec(typed) ?? []
  if (port !== undefined && !SCHEME.test(typed)) {
    const scheme = protocol?.toLowerCase() === 'udp' ? 'udp' : 'tcp'
    const host = before === undefined ? null : findHost(before)
    return host === undefined ? undefined : checked({ scheme, host, port: Number(port), path: '/' })
  }
  const name = SCHEME.exec(typed)?.[1]?.toLowerCase()
  const scheme = name === undefined ? null : SCHEMES[name]
  return scheme === undefined ? undefined : findPlace(scheme, typed.replace(SCHEME, ''))
}

function findPlace(scheme: TracedAddress['scheme'], rest: string): TracedAddress | undefined {
  const address = findIp(rest)
  if (address) return checked({ scheme, host: formatIp(address), port: null, path: '/' })
  // Its own default port would vanish from the URL; this scheme has none.
  const port = /^(?:\[[^\]]*\]|[^/?#:[\]]+):(\d{1,5})(?=[/?#]|$)/.exec(rest)?.[1]
  const url = URL.parse(`http://${rest}`)
  // Blanks and control characters would be dropped without a word.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  if (url?.username !== '' || url.password !== '' || /[\s\u0000-\u001f]/.test(rest)) return undefined
  const host = findHost(url.hostname)
  if (host === undefined) return undefined
  return checked({
    scheme,
    host,
    port: port === undefined ? null : Number(port),
    path: decidedPath(url.pathname),
  })
}

function findHost(text: string): string | undefined {
  const address = findIp(text.replace(/^\[(.*)\]$/, '$1'))
  if (address) return formatIp(address)
  const name = text.toLowerCase().replace(/\.$/, '')
  return isHostname(name) ? name : undefined
}

function checked(address: TracedAddress): TracedAddress | undefined {
  const { scheme, port, path } = address
  if (port !== null && (port < 1 || port > 65_535)) return undefined
  if (port === null && (scheme === 'tcp' || scheme === 'udp')) return undefined
  return path.length <= LIMITS.tracedPath ? address : undefined
}

function decidedPath(path: string): string {
  return path
    .replace(/%(?:2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi, (code) => decodeUnreserved(code))
    .replace(/[^A-Za-z0-9._~!$&'()*+,=:@%/;-]/g, (letter) => encodeURIComponent(letter))
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
}

function decodeUnreserved(code: string): string {
  const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(letter) ? letter : code
}

/** As a person reads it and may type it again. */
export function formatTracedAddress({ scheme, host, port, path }: TracedAddress): string {
  const place = host === null ? '' : host.includes(':') ? `[${host}]` : host
  const at = port === null ? '' : `:${port}`
  if (scheme === 'tcp' || scheme === 'udp')
    return host === null ? `${port}/${scheme}` : `${scheme}://${place}${at}`
  return `${scheme === null ? '' : `${scheme}://`}${place}${at}${scheme === null && path === '/' ? '' : path}`
}

export const tracedAddress = z.pipe(
  z
    .string(missing(MESSAGES.required))
    .check(z.trim(), z.minLength(1, MESSAGES.required), z.maxLength(LIMITS.tracedAddress)),
  z.pipe(
    z.transform((text: string, context): TracedAddress => {
      const found = findTracedAddress(text)
      if (found) return found
      context.issues.push({ code: 'custom', message: MESSAGES.tracedAddress, input: text })
      return z.NEVER
    }),
    z.custom<TracedAddress>(),
  ),
)
