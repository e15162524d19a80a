import { createHash, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import { codeOf, messageOf } from '@postern/host/errors'
import { AgentError } from '../errors.ts'
import { networkReason, request } from './http.ts'

/** Where Linux systems keep the authorities that they trust, in one PEM file. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/** Node has its own list and ignores the system's, where a company adds its authority. */
export function createTrust(ca: string | null, bundles = SYSTEM_BUNDLES): SecureContext {
  const bundle = bundles.find((path) => existsSync(path))
  return createSecureContext({ ca: ca ?? (bundle ? readFileSync(bundle, 'utf8') : undefined) })
}

/** `sha256:` and 64 hex digits, as the console shows it. Ignores spaces, colons and case. */
export function parseFingerprint(text: string): string {
  const digits = text
    .toLowerCase()
    .replace(/^sha256:/, '')
    .replace(/[:\s]/g, '')
  if (!/^[0-9a-f]{64}$/.test(digits))
    throw new AgentError('usage', '--fingerprint must be sha256: and 64 hexadecimal digits')
  return `sha256:${digits}`
}

/**
 * Fetches the authority of a server that signs its own certificate. It may come from anyone, because it is trusted
 * only if its fingerprint is the one that the person copied from the console. A server that has renewed its root
 * shows both.
 */
export async function fetchAuthority(url: URL, fingerprint: string): Promise<string> {
  const shown = parseCertificates(await fetchRoots(url, 'anyone'))
  const known = shown.find((certificate) => fingerprintOf(certificate) === fingerprint)
  if (known) return known.toString()
  throw new AgentError(
    'certificate',
    `${url.host} has another certificate authority than the fingerprint says ` +
      `(${shown.map(fingerprintOf).join(', ')}). Either the fingerprint ` +
      'belongs to another server, or the connection may be intercepted. Nothing was sent.',
  )
}

/** @returns `held`, PEM of the trusted roots, if the authority with this fingerprint is among them */
export function findVouched(held: string | null, fingerprint: string): string | undefined {
  if (held === null) return undefined
  return parseCertificates(held).map(fingerprintOf).includes(fingerprint) ? held : undefined
}

/**
 * Fetches the roots of a server that has renewed its own, over a connection that a held one verifies. A root with the
 * same name that the server no longer shows is no longer trusted, because somebody may have its key.
 * @param held PEM of the trusted roots
 * @returns PEM of the roots to trust; undefined when nothing changes, or the held one belongs to another authority
 */
export async function findNewerRoots(url: URL, held: string): Promise<string | undefined> {
  const shown = parseCertificates(await fetchRoots(url, createTrust(held)))
  const known = parseCertificates(held)
  const has = (roots: readonly X509Certificate[], root: X509Certificate) =>
    roots.some((each) => fingerprintOf(each) === fingerprintOf(root))
  // Roots from a file are the person's choice.
  const own = new Set(shown.filter((root) => has(known, root)).map(({ subject }) => subject))
  if (own.size === 0) return undefined
  // A renewed root keeps its name. One of another name would outlast a server that somebody has taken over.
  const newer = shown.filter(({ subject }) => own.has(subject))
  const others = known.filter(({ subject }) => !own.has(subject))
  const next = [...others, ...newer]
  const isSame = next.length === known.length && next.every((root) => has(known, root))
  return isSame ? undefined : next.join('')
}

async function fetchRoots(url: URL, trust: SecureContext | 'anyone'): Promise<string> {
  const address = new URL('/install/ca.crt', url)
  try {
    const answer = await request(address, { method: 'GET', trust, timeoutMs: 15_000, maxBytes: 65_536 })
    if (answer.status === 200) return answer.body
    throw new AgentError(
      'server-answer',
      `${address} answered ${answer.status}. Check that --url is a Postern server`,
    )
  } catch (error) {
    if (error instanceof AgentError) throw error
    throw new AgentError(
      'server-unreachable',
      `Cannot reach the server: ${networkReason(url.hostname, error)}`,
    )
  }
}

/** Reads the authority from a file. */
export async function readAuthority(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    parseCertificate(text)
    return text
  } catch (error) {
    throw new AgentError('usage', `Cannot use ${path} as --ca-file: ${messageOf(error)}`)
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/**
 * Splits PEM into certificates, at least one.
 * @throws AgentError
 */
function parseCertificates(text: string): X509Certificate[] {
  const found = text.match(PEM) ?? ['']
  return found.map(parseCertificate)
}

function parseCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (error) {
    throw new AgentError('certificate', 'This is not a PEM certificate', { cause: error })
  }
}

function fingerprintOf(certificate: X509Certificate): string {
  return `sha256:${createHash('sha256').update(certificate.raw).digest('hex')}`
}

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
])

/** @returns why a TLS connection is not trusted, in words, or undefined when something else failed. */
export function findTrustProblem(url: URL, error: unknown): string | undefined {
  const code = codeOf(error)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${url.host} is for another name. Use the address that the console shows`
  if (code === 'CERT_HAS_EXPIRED') return `The certificate of ${url.host} has expired`
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${url.host} is not valid yet. Check this machine's clock`
  if (!UNTRUSTED.has(code)) return undefined
  return (
    `The certificate of ${url.host} is not signed by an authority that this machine trusts. ` +
    "Add --fingerprint sha256:… (shown with the console's connect command), or --ca-file with the server's authority."
  )
}
