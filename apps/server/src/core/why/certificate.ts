import { X509Certificate } from 'node:crypto'
import type { SightOf } from '@postern/contract/why/trace'
import { findIp } from '@postern/net/ip'
import type { Seen } from './name-steps.ts'

/**
 * @param name whom the visitor asks for
 * @param isKnown it is one of this installation's: of others nobody expects a certificate here
 * @param roots of this installation, PEM, one after another
 */
export function judgeCertificate(
  { served, isTrusted, problem }: SightOf<'certificate'>,
  name: string,
  isKnown: boolean,
  roots: string,
  now: number,
): Seen {
  const step = 'certificate'
  if (served === null) {
    const seen = `No certificate was served: ${problem ?? 'nothing answered'}.`
    return { step, state: 'stop', seen, next: 'Look at what the home page says about HAProxy.' }
  }
  const certificate = findCertificate(served)
  if (!certificate) return { step, state: 'stop', seen: 'What was served is no certificate.', next: null }
  const signer = nameIn(certificate.issuer)
  const until = new Date(certificate.validTo).toISOString().slice(0, 10)
  const isFor = findIp(name) ? certificate.checkIP(name) : certificate.checkHost(name)
  if (isFor === undefined) {
    const seen = `The certificate that is served is not for ${name}, but for ${namesIn(certificate)}.`
    if (!isKnown) return { step, state: 'note', seen, next: null }
    const next = `Look at the certificate of ${name} on the Domains page.`
    return { step, state: 'stop', seen, next }
  }
  if (Date.parse(certificate.validTo) <= now) {
    const seen = `The certificate of ${name} by ${signer} expired on ${until}.`
    return {
      step,
      state: 'stop',
      seen,
      next: 'Renew it on the Domains page, which says what keeps it from being renewed.',
    }
  }
  const seen = `${name} has a certificate by ${signer}, valid until ${until}`
  if (isTrusted) return { step, state: 'ok', seen: `${seen}.`, next: null }
  const isOwn = splitRoots(roots).some(
    (root) => certificate.checkIssued(root) && certificate.verify(root.publicKey),
  )
  const by = isOwn
    ? "this installation's own authority"
    : 'an authority that programs do not know by themselves'
  return {
    step,
    state: 'note',
    seen: `${seen}: ${by}.`,
    next: 'Browsers warn until they trust its root; choose a public certificate on the Domains page to spare visitors that.',
  }
}

function findCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    // Said in words by the caller.
    return undefined
  }
}

function splitRoots(roots: string): X509Certificate[] {
  const texts = roots.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return texts.flatMap((text) => findCertificate(text) ?? [])
}

function nameIn(subject: string): string {
  return /^(?:CN|O)=(.+)$/m.exec(subject)?.[1] ?? 'an unnamed authority'
}

function namesIn({ subjectAltName, subject }: X509Certificate): string {
  const names = (subjectAltName ?? '').split(', ').map((name) => name.replace(/^(DNS|IP Address):/, ''))
  const [first = '', ...others] = names.filter((name) => name !== '')
  if (first === '') return nameIn(subject)
  return others.length > 0 ? `${first} and ${others.length} more` : first
}
