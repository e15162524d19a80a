import type { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecureContext } from 'node:tls'
import { messageOf } from '@postern/host/errors'
import { networkReason, request } from '@postern/host/http'
import {
  createTrust,
  findDistrust,
  findFingerprint,
  findMeant,
  fingerprintOf,
  listCertificates,
} from '@postern/host/trust'
import { AgentError } from '../errors.ts'

/** A fingerprint as the console shows it. @throws AgentError */
export function parseFingerprint(text: string): string {
  const found = findFingerprint(text)
  if (found === undefined)
    throw new AgentError('usage', '--fingerprint must be sha256: and 64 hexadecimal digits')
  return found
}

/** Fetches the authority of a server that signs its own certificate, by the fingerprint of the console. */
export async function fetchAuthority(url: URL, fingerprint: string): Promise<string> {
  const found = findMeant(url.host, parseCertificates(await fetchRoots(url, 'anyone')), fingerprint)
  if ('root' in found) return found.root
  throw new AgentError('certificate', found.problem)
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
    parseCertificates(text)
    return text
  } catch (error) {
    throw new AgentError('usage', `Cannot use ${path} as --ca-file: ${messageOf(error)}`)
  }
}

/**
 * Splits PEM into certificates, at least one.
 * @throws AgentError
 */
function parseCertificates(text: string): X509Certificate[] {
  const found = listCertificates(text)
  if (found.length === 0) throw new AgentError('certificate', 'This is not a PEM certificate')
  return found
}

/** @returns why a TLS connection is not trusted, in words, or undefined when something else failed. */
export function findTrustProblem(url: URL, error: unknown): string | undefined {
  return findDistrust(
    url.host,
    error,
    "Add --fingerprint sha256:… (shown with the console's connect command), or --ca-file with the server's authority.",
  )
}
