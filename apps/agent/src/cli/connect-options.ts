import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { messageOf } from '@postern/host/errors'
import type { Environment } from '../config.ts'
import { parseFingerprint } from '../daemon/trust.ts'
import { findEngineAddress } from '../discovery/engine.ts'
import { AgentError } from '../errors.ts'
import { findGatewayNetworks } from '../policy.ts'
import { type Context, findText, type Values } from './command.ts'

const DEFAULT_INTERFACE = 'postern-node'
const MAX_TOKEN = 4096
const NOTHING = 'none'

/** What this node allows its server; options that are not given stay as stored. */
export interface AskedPolicy {
  gateway: string[] | undefined
  allTraffic: boolean
  dns: boolean
  /** Resets the stored policy to the other options of this command line. */
  isPlain: boolean
}

export interface ConnectOptions {
  /** Absent: use the stored one. */
  url: URL | undefined
  token: { kind: 'text'; text: string } | { kind: 'file'; path: string } | { kind: 'input' } | undefined
  fingerprint: string | undefined
  caFile: string | undefined
  interface: string | undefined
  /** What else publishes this node's services; `none` removes a stored one. */
  docker: string | undefined
  publishFile: string | undefined
  policy: AskedPolicy
  /** How long to wait for traffic through the tunnel, in ms. */
  patience: number
  withSystemd: boolean
}

/** @throws AgentError `usage`. */
export function parseConnectOptions(values: Values, { environment }: Context): ConnectOptions {
  const url = findText(values, 'url') ?? environment.url
  return {
    url: url === undefined ? undefined : parseServerUrl(url),
    token: parseTokenSource(values, environment),
    ...parseAuthority(values, environment),
    interface: parseInterface(findText(values, 'interface')),
    docker: parseDocker(findText(values, 'docker') ?? environment.docker),
    publishFile: findText(values, 'publish') ?? environment.publishFile,
    policy: parsePolicy(values, environment),
    patience: parseSeconds(findText(values, 'wait') ?? '30') * 1000,
    withSystemd: values['no-service'] !== true,
  }
}

/** The server's origin. Without TLS others could read the token on the way, so plain http is only for this machine. */
export function parseServerUrl(text: string, what = '--url'): URL {
  let url: URL
  try {
    url = new URL(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`)
  } catch {
    throw new AgentError('usage', `${what} must be an address like https://postern.example.com`)
  }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new AgentError('usage', `${what} must begin with https://`)
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    throw new AgentError('usage', `${what} must be the server address only, without a path, user or query`)
  return new URL(url.origin)
}

/** The command line takes precedence over the environment. */
export function parseTokenSource(values: Values, environment: Environment): ConnectOptions['token'] {
  const asked = { token: findText(values, 'token'), path: findText(values, 'token-file') }
  if (asked.token && asked.path) throw new AgentError('usage', 'Use either --token or --token-file')
  if (asked.token === '-' || asked.path === '-') return { kind: 'input' }
  const isAsked = asked.token !== undefined || asked.path !== undefined
  if (!isAsked && environment.token && environment.tokenFile)
    throw new AgentError('usage', 'Use either POSTERN_TOKEN or POSTERN_TOKEN_FILE')
  const { token, path } = isAsked ? asked : { token: environment.token, path: environment.tokenFile }
  if (path) return { kind: 'file', path }
  return token === undefined ? undefined : { kind: 'text', text: checkToken(token) }
}

export function parseAuthority(values: Values, environment: Environment) {
  const asked = { fingerprint: findText(values, 'fingerprint'), caFile: findText(values, 'ca-file') }
  const { fingerprint, caFile } = asked.fingerprint || asked.caFile ? asked : environment
  if (fingerprint && caFile)
    throw new AgentError(
      'usage',
      'Use either --fingerprint (POSTERN_FINGERPRINT) or --ca-file (POSTERN_CA_FILE)',
    )
  return { fingerprint: fingerprint && parseFingerprint(fingerprint), caFile }
}

function parseSeconds(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text)
  throw new AgentError('usage', '--wait must be a number of seconds from 1 to 999')
}

function parseDocker(text: string | undefined): string | undefined {
  if (text !== undefined && text !== NOTHING && !findEngineAddress(text))
    throw new AgentError(
      'usage',
      '--docker (POSTERN_DOCKER) must be a socket like unix:///var/run/docker.sock, or tcp://HOST:PORT',
    )
  return text
}

function parsePolicy(values: Values, environment: Environment): AskedPolicy {
  const text = findText(values, 'gateway') ?? environment.gateway
  const gateway = text === undefined ? undefined : findGatewayNetworks(text, listOwnNetworks)
  if (text !== undefined && !gateway)
    throw new AgentError(
      'usage',
      "--gateway (POSTERN_GATEWAY) must be networks like 192.168.1.0/24,10.20.0.0/16, or 'own', 'private' or 'none'",
    )
  return {
    gateway,
    allTraffic: values['all-traffic'] === true || environment.allTraffic,
    dns: values.dns === true || environment.dns,
    isPlain: values.plain === true,
  }
}

function listOwnNetworks(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).flatMap(({ cidr }) => cidr ?? []))
}

/** @param asked from the command line; the word `none` removes the stored value */
export function chooseSource(asked: string | undefined, stored: string | undefined): string | undefined {
  return asked === NOTHING ? undefined : (asked ?? stored)
}

function parseInterface(name: string | undefined): string | undefined {
  if (name !== undefined && !/^[a-z][a-z0-9-]{0,14}$/.test(name))
    throw new AgentError(
      'usage',
      `--interface must be up to 15 lowercase letters, digits and hyphens, like ${DEFAULT_INTERFACE}`,
    )
  return name
}

/** Reads the token from the source that the person chose, or takes the stored one. */
export async function readToken(
  { io }: Context,
  source: ConnectOptions['token'],
  stored: string | undefined,
): Promise<string> {
  if (source?.kind === 'text') return source.text
  if (source?.kind === 'input') return checkToken(await io.readInput(MAX_TOKEN))
  if (source?.kind === 'file') return checkToken(await readTokenFile(source.path))
  if (stored !== undefined) return stored
  throw new AgentError(
    'usage',
    'A token is required: use --token-file FILE, POSTERN_TOKEN, POSTERN_TOKEN_FILE, --token - (standard input) or --token TOKEN',
  )
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new AgentError('usage', `Cannot read the token: ${messageOf(error)}`)
  }
}

/** The token goes into a header, where a line break would start another header. */
function checkToken(text: string): string {
  const token = text.trim()
  if (!/^[\x21-\x7e]{1,512}$/.test(token))
    throw new AgentError('usage', 'That is not a token: it must be one word of printable characters')
  return token
}

export function chooseInterface(asked: string | undefined, stored: string | undefined): string {
  return asked ?? stored ?? DEFAULT_INTERFACE
}
