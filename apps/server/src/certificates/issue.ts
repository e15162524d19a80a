import type * as x509 from '@peculiar/x509'
import { isIp } from '@postern/net/ip'
import { NAME_CONSTRAINTS, renderNameConstraints } from './name-constraints.ts'

/** The library for certificates takes 10 MB of memory, so it is loaded with the first one. */
export async function loadX509() {
  await import('reflect-metadata')
  return await import('@peculiar/x509')
}

/** A certificate with its key, both PEM. `fingerprint` is the SHA-256 of the certificate's DER in hex. */
export interface IssuedCertificate {
  certificate: string
  privateKey: string
  notBefore: Date
  notAfter: Date
  fingerprint: string
}

/** The root's certificate and key, PEM, with which to sign. */
export interface Root {
  certificate: string
  privateKey: string
}

const DAY = 86_400_000
const ROOT_DAYS = 3650
/** Browsers refuse server certificates with a longer lifetime. This includes the day of margin for slow clocks. */
const LEAF_DAYS = 397
const CLOCK_MARGIN = DAY / 24
/** The kind of key that all our certificates have. */
export const KEY = { name: 'ECDSA', namedCurve: 'P-256' }
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' }
/** X.520 allows 64 characters in a common name; the names that count are in the SAN. */
const COMMON_NAME_LENGTH = 64

/** Makes the root of an installation. People see `name` in the list of authorities. */
export async function issueRoot(name: string, now: Date, days = ROOT_DAYS): Promise<IssuedCertificate> {
  const x509 = await loadX509()
  const keys = await createKeys()
  const subject: x509.JsonName = [{ O: ['Postern'] }, { CN: [name] }]
  const { notBefore, notAfter } = life(now, days)
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    notBefore,
    notAfter,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return issued(certificate, keys)
}

/**
 * The root with the same key, name and lifetime, but limited to servers and to these names and their subdomains: with
 * a stolen key nobody can deceive people about anything else.
 * @returns PEM
 */
export async function issueImportable(root: Root, names: readonly string[]): Promise<string> {
  const x509 = await loadX509()
  const { subjectName, publicKey, notBefore, notAfter } = new x509.X509Certificate(root.certificate)
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectName,
    issuer: subjectName,
    publicKey,
    signingKey: await importKey(root.privateKey),
    notBefore,
    notAfter,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.Extension(NAME_CONSTRAINTS, true, new Uint8Array(renderNameConstraints(names))),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

/**
 * The next root, signed by the old one until that one expires. Both have the same name: the old one may sign no other
 * authority, but the same name makes this one self-issued (RFC 5280, 4.2.1.9).
 * @returns PEM
 */
export async function issueCross(old: Root, next: Root): Promise<string> {
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(old.certificate)
  const { subjectName, publicKey, notBefore } = new x509.X509Certificate(next.certificate)
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectName,
    issuer: issuer.subjectName,
    publicKey,
    signingKey: await importKey(old.privateKey),
    notBefore,
    notAfter: issuer.notAfter,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

/** True when a certificate has the key of a root, and is limited to exactly these names. */
export async function permits(
  certificate: string,
  root: Pick<Root, 'certificate'>,
  names: readonly string[],
): Promise<boolean> {
  const x509 = await loadX509()
  const parsed = new x509.X509Certificate(certificate)
  const key = Buffer.from(parsed.publicKey.rawData)
  const extension = parsed.getExtension(NAME_CONSTRAINTS)
  return (
    key.equals(Buffer.from(new x509.X509Certificate(root.certificate).publicKey.rawData)) &&
    extension !== null &&
    renderNameConstraints(names).equals(Buffer.from(extension.value))
  )
}

/**
 * Makes a server's certificate for names and addresses, valid for 397 days but never longer than its root.
 * @throws TypeError without a name
 */
export async function issueLeaf(root: Root, names: readonly string[], now: Date): Promise<IssuedCertificate> {
  const [first] = names
  if (first === undefined) throw new TypeError('a certificate needs a name')
  const x509 = await loadX509()
  const keys = await createKeys()
  const certificate = await signLeaf(
    root,
    {
      subject: isCommonName(first) ? first : 'Postern',
      publicKey: keys.publicKey,
      usage: x509.ExtendedKeyUsage.serverAuth,
      names: names.map((value): x509.JsonGeneralName => ({ type: isIp(value) ? 'ip' : 'dns', value })),
      days: LEAF_DAYS,
    },
    now,
  )
  return issued(certificate, keys)
}

/** What a certificate of a server or a client says. `days`: never longer than its root. */
export interface Leaf {
  /** The common name. */
  subject: string
  publicKey: CryptoKey
  /** Its one extended key usage. */
  usage: string
  names: x509.JsonGeneralName[]
  days: number
}

export async function signLeaf(root: Root, leaf: Leaf, now: Date): Promise<x509.X509Certificate> {
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(root.certificate)
  const { notBefore, notAfter } = life(now, leaf.days)
  return await x509.X509CertificateGenerator.create({
    subject: [{ CN: [leaf.subject] }],
    issuer: issuer.subjectName,
    publicKey: leaf.publicKey,
    signingKey: await importKey(root.privateKey),
    notBefore,
    notAfter: new Date(Math.min(notAfter.getTime(), issuer.notAfter.getTime())),
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([leaf.usage]),
      new x509.SubjectAlternativeNameExtension(leaf.names),
      await x509.SubjectKeyIdentifierExtension.create(leaf.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
}

/** An address is no common name: OpenSSL would check it against the domain names that its root permits. */
function isCommonName(name: string): boolean {
  return name.length <= COMMON_NAME_LENGTH && !isIp(name)
}

export function createKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(KEY, true, ['sign', 'verify'])
}

async function importKey(pem: string): Promise<CryptoKey> {
  const x509 = await loadX509()
  const [der] = x509.PemConverter.decode(pem)
  return crypto.subtle.importKey('pkcs8', der ?? new ArrayBuffer(0), KEY, false, ['sign'])
}

/** Whole seconds, as in X.509: otherwise the stored time would differ from the certificate's. */
function life(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  const start = Math.floor((now.getTime() - CLOCK_MARGIN) / 1000) * 1000
  return { notBefore: new Date(start), notAfter: new Date(start + days * DAY) }
}

export async function issued(
  certificate: x509.X509Certificate,
  keys: CryptoKeyPair,
): Promise<IssuedCertificate> {
  const x509 = await loadX509()
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    certificate: `${certificate.toString('pem')}\n`,
    privateKey: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    fingerprint: Buffer.from(await certificate.getThumbprint('SHA-256')).toString('hex'),
  }
}

/** RFC 3339; null: there is no certificate yet. */
export interface Life {
  not_before: string | null
  not_after: string | null
}

/** Two thirds of its lifetime are over, or there is no certificate yet. */
export function isDue({ not_before, not_after }: Life, now: number): boolean {
  const [from, to] = [Date.parse(not_before ?? ''), Date.parse(not_after ?? '')]
  return !(now >= from && now < from + ((to - from) * 2) / 3)
}
