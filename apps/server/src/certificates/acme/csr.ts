import { loadX509 } from '../issue.ts'

const KEY = { name: 'ECDSA', namedCurve: 'P-256' }

/** A new key for a certificate, PEM. Made off the main thread, like all keys of WebCrypto. */
export async function createCertificateKey(): Promise<string> {
  const x509 = await loadX509()
  const { privateKey } = await crypto.subtle.generateKey(KEY, true, ['sign', 'verify'])
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', privateKey)
  return `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`
}

/** The request that an authority signs: DER in base64url. The name is only in the SAN, where it counts. */
export async function createCsr(privateKey: string, domain: string): Promise<string> {
  const x509 = await loadX509()
  const keys = await importKeys(privateKey)
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: domain }])],
  })
  return Buffer.from(request.rawData).toString('base64url')
}

async function importKeys(pem: string): Promise<CryptoKeyPair> {
  const x509 = await loadX509()
  const [der] = x509.PemConverter.decode(pem)
  const privateKey = await crypto.subtle.importKey('pkcs8', der ?? new ArrayBuffer(0), KEY, true, ['sign'])
  const { d: _, key_ops: __, ...jwk } = await crypto.subtle.exportKey('jwk', privateKey)
  const publicKey = await crypto.subtle.importKey('jwk', jwk, KEY, true, ['verify'])
  return { privateKey, publicKey }
}
