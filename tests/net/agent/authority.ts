import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

/** A certificate authority and a server's certificate in the directory; `fingerprint` is the authority's. */
export async function createAuthority(directory: string): Promise<{ file: string; fingerprint: string }> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    '/CN=Lab CA',
  )
  openssl('req', ...newKey, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=lab')
  writeFileSync(
    `${directory}/leaf.ext`,
    'subjectAltName=IP:203.0.113.1,IP:203.0.113.3,DNS:edge.example\nbasicConstraints=CA:FALSE\n',
  )
  openssl(
    ...['x509', '-req', '-in', 'leaf.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
    ...['-days', '2', '-extfile', 'leaf.ext', '-out', 'leaf.crt'],
  )
  const { fingerprint256 } = new X509Certificate(readFileSync(`${directory}/ca.crt`))
  return {
    file: `${directory}/ca.crt`,
    fingerprint: `sha256:${fingerprint256.replaceAll(':', '').toLowerCase()}`,
  }
}
