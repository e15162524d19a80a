import { createHash } from 'node:crypto'
import { CONTROL_NAME, edgeUri } from '@postern/contract/edge/join'
import type { Kysely } from 'kysely'
import { PLACES, type Secrets } from '../core/secrets/secrets.ts'
import type { Database } from '../db/schema.ts'
import { findSettings, putSettings } from '../db/settings.ts'
import {
  createKeys,
  type IssuedCertificate,
  issued,
  issueRoot,
  KEY,
  loadX509,
  type Root,
  signLeaf,
} from './issue.ts'

/**
 * The authority by which servers and edges on other machines know each other. It is not the installation's, whose
 * certificates and keys are on every edge.
 */
export interface EdgesAuthority {
  /** The root, PEM; made at the first call. Never inside a transaction. */
  root(): Promise<string>
  /** For the server's port for edges. */
  issueServer(): Promise<IssuedCertificate>
  /** For an edge, with the key of its request. */
  issueEdge(edgeId: number, key: RequestedKey): Promise<{ certificate: string; notAfter: Date }>
}

/** The key of a request for a certificate, whose sender has the private half. */
export interface RequestedKey {
  publicKey: CryptoKey
  /** SHA-256 in hex of its SPKI. */
  hash: string
}

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
}

const CERTIFICATE = 'edges.certificate'
const PRIVATE_KEY = 'edges.private_key'
const PLACE = PLACES.setting(PRIVATE_KEY)
/** Nobody but servers and edges ever sees it, so that no browser's rule limits it. */
const ROOT_DAYS = 7300
const LEAF_DAYS = 90

export function createEdgesAuthority(parts: Parts): EdgesAuthority {
  let reading: Promise<Root> | undefined
  const root = () => {
    reading ??= readRoot(parts).catch((error: unknown) => {
      reading = undefined
      throw error
    })
    return reading
  }
  const now = () => new Date(parts.clock())
  return {
    root: async () => (await root()).certificate,
    async issueServer() {
      const x509 = await loadX509()
      const keys = await createKeys()
      const leaf = {
        subject: CONTROL_NAME,
        publicKey: keys.publicKey,
        usage: x509.ExtendedKeyUsage.serverAuth,
        names: [{ type: 'dns' as const, value: CONTROL_NAME }],
        days: LEAF_DAYS,
      }
      return issued(await signLeaf(await root(), leaf, now()), keys)
    },
    async issueEdge(edgeId, { publicKey }) {
      const x509 = await loadX509()
      const leaf = {
        subject: `edge ${edgeId}`,
        publicKey,
        usage: x509.ExtendedKeyUsage.clientAuth,
        names: [{ type: 'url' as const, value: edgeUri(edgeId) }],
        days: LEAF_DAYS,
      }
      const certificate = await signLeaf(await root(), leaf, now())
      return { certificate: `${certificate.toString('pem')}\n`, notAfter: certificate.notAfter }
    },
  }
}

async function readRoot({ db, secrets, clock, randomBytes }: Parts): Promise<Root> {
  const kept = await findSettings(db, CERTIFICATE, PRIVATE_KEY)
  if (kept) return { certificate: kept[CERTIFICATE], privateKey: secrets.open(kept[PRIVATE_KEY], PLACE) }
  const name = `Postern Edges ${randomBytes(4).toString('hex')}`
  const made = await issueRoot(name, new Date(clock()), ROOT_DAYS)
  await putSettings(db, {
    [CERTIFICATE]: made.certificate,
    [PRIVATE_KEY]: secrets.seal(made.privateKey, PLACE),
  })
  return made
}

/** @returns undefined unless it is signed by its own key, of the curve P-256; nothing else of it is used */
export async function findRequestedKey(csr: string): Promise<RequestedKey | undefined> {
  const x509 = await loadX509()
  try {
    const request = new x509.Pkcs10CertificateRequest(csr)
    const publicKey = await crypto.subtle.importKey('spki', request.publicKey.rawData, KEY, true, ['verify'])
    if (!(await request.verify())) return undefined
    return { publicKey, hash: hashOfKey(Buffer.from(await crypto.subtle.exportKey('spki', publicKey))) }
  } catch {
    // Whatever else it is: it comes from a stranger.
    return undefined
  }
}

/** @param spki of a public key, DER */
export function hashOfKey(spki: Buffer): string {
  return createHash('sha256').update(spki).digest('hex')
}
