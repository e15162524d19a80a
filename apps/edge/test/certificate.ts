import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import { must } from '@postern/testkit/processes/exec'

/** A self-signed certificate that HAProxy takes, good for a day; 0 is the installation's own, of no domain. */
export async function makeRealCertificate(id: number, names: string[]): Promise<EdgeCertificate> {
  const alternative = `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-']
  const subject = ['-days', '1', '-subj', `/CN=cert-${id}`, '-addext', alternative]
  const printed = await must(['openssl', 'req', '-x509', ...key, ...subject])
  const parts = printed.match(/-----BEGIN [\s\S]*?-----END [A-Z ]+-----\n/g) ?? []
  const find = (word: string) => parts.find((part) => part.includes(`BEGIN ${word}`)) ?? ''
  return {
    id,
    domains: id === 0 ? [] : names,
    chain: find('CERTIFICATE'),
    privateKey: find('PRIVATE KEY'),
  }
}
