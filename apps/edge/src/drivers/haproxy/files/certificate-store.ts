import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import { renderCertificateList, renderPem } from '@postern/render/haproxy/maps/certificates'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import { MAX_COMMAND } from '../runtime/socket.ts'
import { changeFile } from './change-file.ts'

/** A certificate as one of HAProxy's files. */
export interface StoredCertificate {
  certificate: EdgeCertificate
  path: string
  pem: string
  /** SHA-1 in hex, as HAProxy shows it. */
  fingerprint: string
  /** The file's previous content, if it was different; null: there was no file. */
  replaced: string | null | undefined
}

/** The certificates of one apply and their outcome. */
export interface CertificateFiles {
  stored: Map<number, StoredCertificate>
  /** Certificate id → why it cannot be used. */
  refused: Map<number, string>
  /** Refused ones whose previous file stays in use. */
  standing: EdgeCertificate[]
}

export interface CertificateStore {
  /** Writes the files that HAProxy starts from. Unwanted files stay until HAProxy no longer uses them. */
  write(certificates: readonly EdgeCertificate[]): Promise<CertificateFiles>
  /**
   * Removes one that HAProxy refused, or restores its previous version. HAProxy could not restart without the
   * installation's own, so that one always stays.
   */
  refuse(files: CertificateFiles, stored: StoredCertificate, reason: string): Promise<void>
  /** Removes the files that are not in use. */
  sweep(files: CertificateFiles): Promise<void>
  /** Forgets what is known about the files on disk. */
  forget(): void
}

interface Parsed {
  pem: string
  /** Undefined: it cannot be read. */
  fingerprint: string | undefined
}

/** Room for the command around a payload. */
const MAX_PEM = MAX_COMMAND - 200

/** How many files are written at a time. */
const AT_ONCE = 16

/** A thousand certificates are parsed and compared with their files once, not at every apply. */
export function createCertificateStore(paths: HaproxyPaths): CertificateStore {
  const parsed = new WeakMap<EdgeCertificate, Parsed>()
  const onDisk = new Map<string, string>()

  async function put(path: string, pem: string): Promise<string | null | undefined> {
    if (onDisk.get(path) === pem) return undefined
    const replaced = await changeFile(path, pem)
    onDisk.set(path, pem)
    return replaced
  }
  async function remove(path: string): Promise<void> {
    onDisk.delete(path)
    await rm(path, { force: true })
  }
  async function writeOne(files: CertificateFiles, certificate: EdgeCertificate): Promise<void> {
    const path = paths.certificate(certificate.id)
    const { pem, fingerprint } = parsed.get(certificate) ?? parse(certificate)
    parsed.set(certificate, { pem, fingerprint })
    if (fingerprint !== undefined && pem.length <= MAX_PEM) {
      const replaced = await put(path, pem)
      files.stored.set(certificate.id, { certificate, path, pem, fingerprint, replaced })
      return
    }
    const flaw = fingerprint === undefined ? 'cannot be read' : 'is too long'
    files.refused.set(certificate.id, `The certificate ${flaw}`)
    if (existsSync(path)) files.standing.push(certificate)
  }
  const writeList = (files: CertificateFiles) =>
    changeFile(paths.certificateList, renderCertificateList(inUse(files), paths))

  return {
    async write(certificates) {
      const files: CertificateFiles = { stored: new Map(), refused: new Map(), standing: [] }
      const left = certificates.values()
      // Many at a time take the disk hardly longer than one.
      const hand = async () => {
        for (const certificate of left) await writeOne(files, certificate)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, hand))
      await writeList(files)
      return files
    },
    async refuse(files, { certificate, path, replaced }, reason) {
      files.refused.set(certificate.id, reason)
      files.stored.delete(certificate.id)
      if (typeof replaced === 'string') {
        await put(path, replaced)
        files.standing.push(certificate)
      } else if (path !== paths.certificate(0)) await remove(path)
      await writeList(files)
    },
    async sweep(files) {
      const kept = keptPaths(paths, files)
      for (const name of await readdir(paths.certificates)) {
        const path = `${paths.certificates}/${name}`
        if (!kept.has(path)) await remove(path)
      }
    },
    forget: () => onDisk.clear(),
  }
}

/** What HAProxy should serve: the good ones, and the previous version where HAProxy refused the new one. */
export function inUse(files: CertificateFiles): EdgeCertificate[] {
  const stored = [...files.stored.values()].map(({ certificate }) => certificate)
  return [...stored, ...files.standing].sort((a, b) => a.id - b.id)
}

/** HAProxy cannot start without the installation's own certificate, so that one is never removed. */
export function keptPaths(paths: HaproxyPaths, files: CertificateFiles): Set<string> {
  return new Set([0, ...inUse(files).map(({ id }) => id)].map((id) => paths.certificate(id)))
}

const KEY = /^-----BEGIN [A-Z ]*PRIVATE KEY-----$/m

function parse(certificate: EdgeCertificate): Parsed {
  const pem = renderPem(certificate)
  // From 3.4 on, HAProxy loads a certificate without a key, but cannot serve it.
  if (!KEY.test(certificate.privateKey)) return { pem, fingerprint: undefined }
  try {
    return { pem, fingerprint: new X509Certificate(certificate.chain).fingerprint.replaceAll(':', '') }
  } catch {
    // Whatever the parser says, it is not a certificate.
    return { pem, fingerprint: undefined }
  }
}
