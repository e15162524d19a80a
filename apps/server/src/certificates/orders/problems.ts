import type { CertificateProblem, CertificateProblemCode } from '@postern/contract/certificates'
import { findIp, formatIp } from '@postern/net/ip'
import type { Context } from '../../context.ts'
import { LookupError } from '../../core/domains/resolver.ts'
import { AcmeError } from '../acme/errors.ts'

/** The edges did not confirm in time that they have the answer for the authority. */
export class EdgeNotReadyError extends Error {
  readonly code = 'edge_not_ready'
}

/**
 * By the authority's type of problem (RFC 8555, 6.7; RFC 9773; profiles). All other types are the authority's own
 * failures.
 */
const CODES: Readonly<Record<string, CertificateProblemCode>> = {
  dns: 'dns',
  connection: 'unreachable',
  unauthorized: 'answer',
  incorrectResponse: 'answer',
  tls: 'answer',
  caa: 'caa',
  rateLimited: 'rate-limit',
  rejectedIdentifier: 'rejected',
  unsupportedIdentifier: 'rejected',
  badCSR: 'rejected',
  invalidProfile: 'rejected',
  invalidContact: 'account',
  unsupportedContact: 'account',
  externalAccountRequired: 'account',
  accountDoesNotExist: 'account',
  userActionRequired: 'account',
}

/** Problems for which the DNS records matter. */
const OF_THE_NAME = new Set<CertificateProblemCode>(['dns', 'unreachable', 'answer'])

/** The kind of problem behind an authority's refusal. */
export function codeOf({ type, status }: AcmeError): CertificateProblemCode {
  return CODES[type] ?? (status === 429 ? 'rate-limit' : 'authority')
}

type Parts = Pick<Context, 'resolver' | 'config' | 'network' | 'clock' | 'log'>

/** Why an order failed, for people. */
export async function toProblem(parts: Parts, domain: string, error: unknown): Promise<CertificateProblem> {
  const at = new Date(parts.clock()).toISOString()
  const plain = (code: CertificateProblemCode, detail: string): CertificateProblem => ({
    ...{ code, detail, found: [], expected: [], at },
  })
  if (error instanceof EdgeNotReadyError) return plain('edge', error.message)
  if (!(error instanceof AcmeError)) {
    parts.log.error({ err: error, domain }, 'an order failed')
    return plain('internal', 'The server failed. Its log says why.')
  }
  const code = codeOf(error)
  if (!OF_THE_NAME.has(code)) return plain(code, error.message)
  const [found, expected] = await Promise.all([lookUp(parts, domain), listExpected(parts)])
  const isElsewhere = found !== undefined && !found.some((address) => expected.all.includes(address))
  return {
    ...plain(isElsewhere && code !== 'dns' ? 'dns' : code, error.message),
    found: found ?? [],
    expected: expected.named,
  }
}

/** Undefined when the name servers did not answer. */
async function lookUp({ resolver, log }: Parts, name: string): Promise<string[] | undefined> {
  try {
    return (await resolver.resolve(name)).slice(0, 8).map(spell)
  } catch (error) {
    if (error instanceof LookupError) return error.why === 'absent' ? [] : undefined
    log.error({ err: error, name }, 'a name could not be looked up')
    return undefined
  }
}

async function listExpected(parts: Parts): Promise<{ named: string[]; all: string[] }> {
  const { publicHost } = parts.config
  const named = findIp(publicHost) ? [spell(publicHost)] : ((await lookUp(parts, publicHost)) ?? [])
  return { named, all: [...named, ...parts.network().addresses.map(spell)] }
}

function spell(address: string): string {
  const ip = findIp(address)
  return ip ? formatIp(ip) : address
}
