import { readFileSync } from 'node:fs'
import type { EdgeCertificate } from '@postern/contract/desired-state'
import type { Lab } from './lab.ts'

/** A self-signed certificate that HAProxy takes. */
export async function makeRealCertificate(lab: Lab, id: number, domain: string): Promise<EdgeCertificate> {
  const [key, chain] = [`${lab.dir}/${id}.key`, `${lab.dir}/${id}.crt`]
  const what = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${domain}`]
  await lab.must('openssl', 'req', '-x509', ...what, '-keyout', key, '-out', chain)
  const read = (path: string) => readFileSync(path, 'utf8')
  return { id, domains: id === 0 ? [] : [domain], chain: read(chain), privateKey: read(key) }
}
