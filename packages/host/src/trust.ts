import { createHash, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { codeOf } from './errors.ts'

/** What a program on a machine trusts of a server with which it has not spoken before. */

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

/** `sha256:` and 64 hex digits. Ignores spaces, colons and case; undefined for any other text. */
export function findFingerprint(text: string): string | undefined {
  const digits = text
    .toLowerCase()
    .replace(/^sha256:/, '')
    .replace(/[:\s]/g, '')
  return /^[0-9a-f]{64}$/.test(digits) ? `sha256:${digits}` : undefined
}

const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** The certificates in a PEM text; none when one of them cannot be read. */
export function listCertificates(text: string): X509Certificate[] {
  try {
    return (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem))
  } catch {
    // Whatever the parser says, it is no certificate.
    return []
  }
}

export function fingerprintOf(certificate: X509Certificate): string {
  return `sha256:${createHash('sha256').update(certificate.raw).digest('hex')}`
}

/**
 * Whether a server that signs its own certificates is the one that a person means. What it shows may come from anyone,
 * because only the fingerprint, which the person copied, makes it trusted. A server that has renewed its root shows both.
 * @param shown its roots
 * @returns the root, PEM, or why none is trusted, in words
 */
export function findMeant(
  host: string,
  shown: readonly X509Certificate[],
  fingerprint: string,
): { root: string } | { problem: string } {
  const known = shown.find((certificate) => fingerprintOf(certificate) === fingerprint)
  if (known) return { root: known.toString() }
  return {
    problem:
      `${host} has another certificate authority than the fingerprint says ` +
      `(${shown.map(fingerprintOf).join(', ')}). Either the fingerprint ` +
      'belongs to another server, or the connection may be intercepted. Nothing was sent.',
  }
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

/**
 * Why a TLS connection is not trusted, in words, or undefined when something else failed.
 * @param host with its port
 * @param advice what to do where the authority is not known
 */
export function findDistrust(host: string, error: unknown, advice: string): string | undefined {
  const code = codeOf(error)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${host} is for another name. Use the address that the console shows`
  if (code === 'CERT_HAS_EXPIRED') return `The certificate of ${host} has expired`
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${host} is not valid yet. Check this machine's clock`
  if (!UNTRUSTED.has(code)) return undefined
  return `The certificate of ${host} is not signed by an authority that this machine trusts. ${advice}`
}
