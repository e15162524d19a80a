import { X509Certificate } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Secrets } from '../core/secrets/secrets.ts'
import type { Database } from '../db/schema.ts'
import { findSettings, putSettings } from '../db/settings.ts'
import { type IssuedCertificate, issueImportable, issueLeaf, issueRoot, type Root } from './issue.ts'

/** The installation's own certificate authority. */
export interface Authority {
  /** The root, PEM: what agents know the installation by. People import another one, see importable.ts. */
  readonly certificate: string
  /** `sha256:<hex>` of the root's DER. */
  readonly fingerprint: string
  /** The root's common name. */
  readonly name: string
  /** A certificate for a server of these names and addresses. */
  issue(names: readonly string[]): Promise<IssuedCertificate>
  /** The root for people, PEM, good only for these names. */
  issueImportable(names: readonly string[]): Promise<string>
}

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
}

const CERTIFICATE = 'ca.certificate'
const PRIVATE_KEY = 'ca.private_key'

/** Reads the root, or makes it at the first start. @throws SecretsError when its key cannot be opened. */
export async function loadAuthority(parts: Parts): Promise<Authority> {
  const root = (await findRoot(parts)) ?? (await createRoot(parts))
  const parsed = new X509Certificate(root.certificate)
  return {
    certificate: root.certificate,
    fingerprint: `sha256:${parsed.fingerprint256.replaceAll(':', '').toLowerCase()}`,
    name: /^CN=(.*)$/m.exec(parsed.subject)?.[1] ?? 'Postern',
    issue: (names) => issueLeaf(root, names, new Date(parts.clock())),
    issueImportable: (names) => issueImportable(root, names),
  }
}

async function findRoot({ db, secrets }: Parts): Promise<Root | undefined> {
  const kept = await findSettings(db, CERTIFICATE, PRIVATE_KEY)
  return kept && { certificate: kept[CERTIFICATE], privateKey: secrets.open(kept[PRIVATE_KEY]) }
}

/** Each root has a name of its own, so that people can tell several in one browser apart. */
async function createRoot({ db, secrets, clock, randomBytes }: Parts): Promise<Root> {
  const root = await issueRoot(`Postern Root ${randomBytes(4).toString('hex')}`, new Date(clock()))
  await putSettings(db, { [CERTIFICATE]: root.certificate, [PRIVATE_KEY]: secrets.seal(root.privateKey) })
  return root
}
