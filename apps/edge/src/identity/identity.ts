import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LIMITS } from '@postern/contract/limits'
import { codeOf } from '@postern/host/errors'
import { findText, syncDirectory, writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'

/** Which installation an edge elsewhere belongs to, as it was told when it joined. It accepts no other. */
const KnownInstallation = z.object({
  edgeId: z.int(),
  tunnelNetwork4: z.string(),
  tunnelNetwork6: z.string(),
  publicHost: z.string(),
  /** Where its servers listen for edges, as the desired state said last. */
  servers: z
    .array(z.object({ name: z.string(), url: z.url({ protocol: /^https$/ }) }))
    .check(z.minLength(1), z.maxLength(LIMITS.servers)),
})
export type KnownInstallation = z.infer<typeof KnownInstallation>

/** What proves an edge elsewhere to its server, and its server to it: PEM, but for `known`. */
export interface Identity {
  key: string
  certificate: string
  /** The authority of the installation's edges and servers. */
  root: string
  known: KnownInstallation
}

export interface IdentityStore {
  current(): Identity
  /** Keeps a renewed certificate. @throws IdentityError when it is not for this key */
  keepCertificate(certificate: string): Promise<void>
  keepKnown(known: KnownInstallation): Promise<void>
}

/** An identity that cannot be used; `message` says what to do. */
export class IdentityError extends Error {
  readonly code = 'identity'
}

const filesIn = (directory: string) => ({
  key: `${directory}/key.pem`,
  certificate: `${directory}/certificate.pem`,
  root: `${directory}/root.pem`,
  known: `${directory}/known.json`,
})

/** @returns undefined for the edge beside a server, which has none. @throws IdentityError */
export async function openIdentity(directory: string): Promise<IdentityStore | undefined> {
  const found = await findIdentity(directory)
  if (!found) return undefined
  const files = filesIn(directory)
  let identity = found
  return {
    current: () => identity,
    async keepCertificate(certificate) {
      const next = { ...identity, certificate }
      assertWhole(next, directory)
      await writeAtomic(files.certificate, certificate, 0o600)
      identity = next
    },
    async keepKnown(known) {
      await writeAtomic(files.known, formatKnown(known), 0o600)
      identity = { ...identity, known }
    },
  }
}

async function findIdentity(directory: string): Promise<Identity | undefined> {
  const files = filesIn(directory)
  const paths = [files.known, files.key, files.certificate, files.root]
  const [known, key, certificate, root] = await Promise.all(paths.map(findText))
  if (known === undefined && key === undefined && certificate === undefined && root === undefined)
    return undefined
  const parsed = KnownInstallation.safeParse(parseJson(known ?? ''))
  if (!parsed.success || key === undefined || certificate === undefined || root === undefined)
    throw damaged(directory)
  const identity = { known: parsed.data, key, certificate, root }
  assertWhole(identity, directory)
  return identity
}

/** The key belongs to the certificate, and that to the root. @throws IdentityError */
export function assertWhole({ key, certificate, root }: Omit<Identity, 'known'>, directory: string): void {
  try {
    const leaf = new X509Certificate(certificate)
    const own = createPublicKey(createPrivateKey(key))
    if (leaf.publicKey.equals(own) && leaf.verify(new X509Certificate(root).publicKey)) return
  } catch {
    // What cannot be read does not belong together either.
  }
  throw damaged(directory)
}

const damaged = (directory: string) =>
  new IdentityError(
    `The files in ${directory} do not belong together, so this edge cannot prove itself. Run postern-edge leave, and join again with a new token of the console.`,
  )

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it.
    return undefined
  }
}

const formatKnown = (known: KnownInstallation) => `${JSON.stringify(known, null, 2)}\n`

/** Puts a whole identity into a directory that must not exist; all of it appears at once. */
export async function writeIdentity(directory: string, identity: Identity): Promise<void> {
  const next = `${directory}.next`
  await rm(next, { recursive: true, force: true })
  await mkdir(next, { mode: 0o700 })
  const files = filesIn(next)
  await writeAtomic(files.key, identity.key, 0o600)
  await writeAtomic(files.certificate, identity.certificate, 0o600)
  await writeAtomic(files.root, identity.root, 0o600)
  await writeAtomic(files.known, formatKnown(identity.known), 0o600)
  await rename(next, directory)
  await syncDirectory(dirname(directory))
}

/** @returns whether there was one */
export async function removeIdentity(directory: string): Promise<boolean> {
  // At once: what is left of a removal that was interrupted is no identity.
  const gone = `${directory}.gone`
  await rm(gone, { recursive: true, force: true })
  try {
    await rename(directory, gone)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  await rm(gone, { recursive: true, force: true })
  return true
}
