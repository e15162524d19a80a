import { X509Certificate } from 'node:crypto'
import type { Kysely } from 'kysely'
import { PLACES, type Secrets } from '../core/secrets/secrets.ts'
import type { Database } from '../db/schema.ts'
import { findSettings, putSettings } from '../db/settings.ts'
import {
  type IssuedCertificate,
  isDue,
  issueCross,
  issueImportable,
  issueLeaf,
  issueRoot,
  type Root,
} from './issue.ts'

/** The installation's own certificate authority. */
export interface Authority {
  /** The root, PEM, by which agents recognise the installation. People import another one, see importable.ts. */
  readonly certificate: string
  /** The roots that agents may know, PEM, oldest first. */
  readonly certificates: string
  /** `sha256:<hex>` of the root's DER. */
  readonly fingerprint: string
  /** The root's common name. */
  readonly name: string
  /** A server certificate for these names and addresses, with the chain to a former root. */
  issue(names: readonly string[]): Promise<IssuedCertificate>
  /** The root for people, PEM, limited to these names. */
  issueImportable(names: readonly string[]): Promise<string>
  /**
   * Makes the next root when two thirds of this one's lifetime are over.
   * @returns whether it did
   */
  renew(): Promise<boolean>
  /** Makes the next root because the key of this one leaked; this one soon disappears from the chain. */
  replace(): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
}

/** The root, the previous one while it is valid, and the root cross-signed by the previous one. All PEM. */
interface Roots {
  current: Root
  former: { certificate: string; cross: string; shownUntil: number } | null
}

const CERTIFICATE = 'ca.certificate'
const PRIVATE_KEY = 'ca.private_key'
const PLACE = PLACES.setting(PRIVATE_KEY)
const FORMER = 'ca.former'
const CROSS = 'ca.cross'
/** Until when the former root is in the chain, in ms since the epoch. */
const SHOWN_UNTIL = 'ca.former_until'
/** In this time every running agent has fetched the next root, as each does once a day. */
const SHOWN_FOR = 7 * 86_400_000

/** Reads the root, or makes it at the first start. @throws SecretsError when its key cannot be opened. */
export async function loadAuthority(parts: Parts): Promise<Authority> {
  const { clock } = parts
  let roots = (await findRoots(parts)) ?? (await createRoots(parts))
  /** Expired ones are useless. */
  const former = () => (roots.former && clock() < roots.former.shownUntil ? roots.former : null)
  return {
    get certificate() {
      return roots.current.certificate
    },
    get certificates() {
      return `${former()?.certificate ?? ''}${roots.current.certificate}`
    },
    get fingerprint() {
      return fingerprintOf(roots.current.certificate)
    },
    name: commonNameOf(roots.current),
    async issue(names) {
      const leaf = await issueLeaf(roots.current, names, new Date(clock()))
      return { ...leaf, certificate: `${leaf.certificate}${former()?.cross ?? ''}` }
    },
    issueImportable: (names) => issueImportable(roots.current, names),
    async renew() {
      if (!isDue(lifeOf(roots.current.certificate), clock())) return false
      roots = await createNext(parts, roots.current, endOf(roots.current.certificate))
      return true
    },
    async replace() {
      const { certificate } = roots.current
      roots = await createNext(parts, roots.current, Math.min(endOf(certificate), clock() + SHOWN_FOR))
    },
  }
}

async function findRoots({ db, secrets }: Parts): Promise<Roots | undefined> {
  const kept = await findSettings(db, CERTIFICATE, PRIVATE_KEY)
  if (!kept) return undefined
  const crossed = await findSettings(db, FORMER, CROSS)
  const until = await findSettings(db, SHOWN_UNTIL)
  return {
    current: { certificate: kept[CERTIFICATE], privateKey: secrets.open(kept[PRIVATE_KEY], PLACE) },
    former: crossed
      ? {
          certificate: crossed[FORMER],
          cross: crossed[CROSS],
          shownUntil: until ? Number(until[SHOWN_UNTIL]) : endOf(crossed[FORMER]),
        }
      : null,
  }
}

/** Each root has its own name, so that people can tell several in one browser apart. */
async function createRoots({ db, secrets, clock, randomBytes }: Parts): Promise<Roots> {
  const root = await issueRoot(`Postern Root ${randomBytes(4).toString('hex')}`, new Date(clock()))
  await putSettings(db, {
    [CERTIFICATE]: root.certificate,
    [PRIVATE_KEY]: secrets.seal(root.privateKey, PLACE),
  })
  return { current: root, former: null }
}

/**
 * A root with a new key and the same name, cross-signed by the old one: clients that trust the old one trust this one
 * too, until the old one expires. The old key is erased.
 */
async function createNext({ db, secrets, clock }: Parts, old: Root, shownUntil: number): Promise<Roots> {
  const next = await issueRoot(commonNameOf(old), new Date(clock()))
  const cross = await issueCross(old, next)
  await putSettings(db, {
    [CERTIFICATE]: next.certificate,
    [PRIVATE_KEY]: secrets.seal(next.privateKey, PLACE),
    [FORMER]: old.certificate,
    [CROSS]: cross,
    [SHOWN_UNTIL]: String(shownUntil),
  })
  return { current: next, former: { certificate: old.certificate, cross, shownUntil } }
}

function commonNameOf({ certificate }: Root): string {
  return /^CN=(.*)$/m.exec(new X509Certificate(certificate).subject)?.[1] ?? 'Postern'
}

/** `sha256:<hex>` of a certificate's DER. */
function fingerprintOf(certificate: string): string {
  return `sha256:${new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()}`
}

function lifeOf(certificate: string) {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  return { not_before: validFromDate.toISOString(), not_after: validToDate.toISOString() }
}

function endOf(certificate: string): number {
  return new X509Certificate(certificate).validToDate.getTime()
}
