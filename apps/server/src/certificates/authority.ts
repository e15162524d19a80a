import { X509Certificate } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Secrets } from '../core/secrets/secrets.ts'
import type { Database } from '../db/schema.ts'
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
  const rows = await db
    .selectFrom('settings')
    .selectAll()
    .where('key', 'in', [CERTIFICATE, PRIVATE_KEY])
    .execute()
  const values = new Map(rows.map(({ key, value }) => [key, value]))
  const [certificate, sealed] = [values.get(CERTIFICATE), values.get(PRIVATE_KEY)]
  return certificate === undefined || sealed === undefined
    ? undefined
    : { certificate, privateKey: secrets.open(sealed) }
}

/** Each root bears a name of its own, so that a browser that trusts several can tell them apart. */
async function createRoot({ db, secrets, clock, randomBytes }: Parts): Promise<Root> {
  const root = await issueRoot(`Postern Root ${randomBytes(4).toString('hex')}`, new Date(clock()))
  await db
    .insertInto('settings')
    .values([
      { key: CERTIFICATE, value: root.certificate },
      { key: PRIVATE_KEY, value: secrets.seal(root.privateKey) },
    ])
    .execute()
  return root
}
