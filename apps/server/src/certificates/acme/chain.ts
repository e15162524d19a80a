import { createPrivateKey, X509Certificate } from 'node:crypto'
import { loadX509 } from '../issue.ts'
import { AcmeError } from './errors.ts'

/** A certificate that an authority signed for us. */
export interface SignedChain {
  /** Only PEM, the leaf first. */
  certificate: string
  privateKey: string
  notBefore: Date
  notAfter: Date
  /** The name of the authority that signed it. */
  issuer: string
}

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const MAX_CERTIFICATES = 8

/** @throws AcmeError when it is not a currently valid certificate for this key and name */
export function readChain(text: string, privateKey: string, domain: string, now: number): SignedChain {
  const blocks = text.match(BLOCK) ?? []
  const [first] = blocks
  if (first === undefined || blocks.length > MAX_CERTIFICATES) throw refusal('sent no certificate')
  const leaf = parse(first)
  if (!leaf.checkPrivateKey(createPrivateKey(privateKey))) throw refusal('signed another key')
  if (leaf.checkHost(domain, { subject: 'never' }) === undefined) throw refusal(`did not sign for ${domain}`)
  if (leaf.validToDate.getTime() <= now) throw refusal('sent a certificate that has expired')
  return {
    certificate: `${blocks.join('\n')}\n`,
    privateKey,
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    issuer: issuerOf(leaf),
  }
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw refusal('sent a certificate that cannot be read', error)
  }
}

function issuerOf({ issuer }: X509Certificate): string {
  const part = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(issuer)?.[1]
  return (part('O') ?? part('CN') ?? 'Unnamed authority').slice(0, 100)
}

/** The id by which an authority knows a certificate to renew (RFC 9773, 4.1); undefined: it names no authority. */
export async function renewalId(chain: string): Promise<string | undefined> {
  const x509 = await loadX509()
  const leaf = new x509.X509Certificate(chain.match(BLOCK)?.[0] ?? chain)
  const keyId = leaf.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId
  if (keyId === undefined) return undefined
  const serial = Buffer.from(evenHex(new X509Certificate(chain).serialNumber), 'hex')
  // As in DER: with a leading zero where it would otherwise be negative.
  const isHigh = (serial[0] ?? 0) >= 0x80
  const der = isHigh ? Buffer.concat([Buffer.from([0]), serial]) : serial
  return `${Buffer.from(keyId, 'hex').toString('base64url')}.${der.toString('base64url')}`
}

const evenHex = (hex: string) => (hex.length % 2 === 0 ? hex : `0${hex}`)

function refusal(what: string, cause?: unknown): AcmeError {
  return new AcmeError({ type: 'garbage', detail: `The certificate authority ${what}` }, cause)
}
