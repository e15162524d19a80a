import { listed, renderCertificateLine } from '@postern/render/haproxy-certificates'
import type { HaproxyPaths } from '@postern/render/haproxy-paths'
import {
  type CertificateFiles,
  type CertificateStore,
  inUse,
  keptPaths,
  type StoredCertificate,
} from './haproxy-certificate-files.ts'
import type { HaproxySocket } from './haproxy-socket.ts'

export interface CertificateLoader {
  /** Makes the certificates of the running HAProxy those of the files; refused ones are noted in `files`. */
  apply(files: CertificateFiles): Promise<void>
  /** From now on nothing is known of what HAProxy holds: it is another one. */
  forget(): void
}

export function createCertificateLoader(
  socket: HaproxySocket,
  paths: HaproxyPaths,
  store: CertificateStore,
): CertificateLoader {
  // Path → fingerprint, as read from this HAProxy; the names are read at every apply, the contents once.
  const seen = new Map<string, string>()
  return {
    async apply(files) {
      const names = await readNames(socket, paths)
      for (const path of seen.keys()) if (!names.includes(path)) seen.delete(path)
      await observe(
        socket,
        seen,
        names.filter((path) => !seen.has(path)),
      )
      const loaded: StoredCertificate[] = []
      for (const stored of [...files.stored.values()]) {
        const now = seen.get(stored.path)
        if (stored.replaced === undefined && now === stored.fingerprint) continue
        const reason = await load(socket, stored, now !== undefined)
        if (reason === undefined) loaded.push(stored)
        else await store.refuse(files, stored, reason)
      }
      await observe(
        socket,
        seen,
        loaded.map(({ path }) => path),
      )
      await applyList(socket, paths, files)
      for (const stored of loaded)
        if (seen.get(stored.path) !== stored.fingerprint) await store.refuse(files, stored, NOT_TAKEN)
      const kept = keptPaths(paths, files)
      for (const path of names) if (!kept.has(path)) await socket.send(`del ssl cert ${path}`)
      await store.sweep(files)
    },
    forget: () => seen.clear(),
  }
}

const NOT_TAKEN = 'HAProxy did not take the certificate'

/** The paths of our certificates in HAProxy. */
async function readNames(socket: HaproxySocket, paths: HaproxyPaths): Promise<string[]> {
  const names = (await socket.send('show ssl cert')).split('\n')
  return names.filter((name) => name.startsWith(`${paths.certificates}/`))
}

async function observe(
  socket: HaproxySocket,
  seen: Map<string, string>,
  names: readonly string[],
): Promise<void> {
  const details = await socket.sendAll(names.map((name) => `show ssl cert ${name}`))
  const found = details.matchAll(/^Filename: (\S+)\n[\s\S]*?^SHA1 FingerPrint: ([0-9A-F]+)$/gm)
  for (const [, path = '', fingerprint = ''] of found) seen.set(path, fingerprint)
}

/** @returns why HAProxy refused it. */
async function load(
  socket: HaproxySocket,
  { path, pem }: StoredCertificate,
  isKnown: boolean,
): Promise<string | undefined> {
  if (!isKnown) await socket.send(`new ssl cert ${path}`)
  const set = await socket.send(`set ssl cert ${path} <<\n${pem}`)
  const committed = await socket.send(`commit ssl cert ${path}`)
  if (committed.includes('Success!')) return undefined
  await socket.send(`abort ssl cert ${path}`)
  if (!isKnown) await socket.send(`del ssl cert ${path}`)
  const words = (/unable to .*|inconsistencies .*|.*error.*/i.exec(set)?.[0] ?? set).replaceAll(path, 'it')
  return `HAProxy refuses the certificate: ${words.trim().split('\n')[0]?.slice(0, 200)}`
}

/** The list of names. A line that is not as wanted is taken out and put in again. */
async function applyList(socket: HaproxySocket, paths: HaproxyPaths, files: CertificateFiles): Promise<void> {
  const list = paths.certificateList
  const wanted = new Map(
    listed(inUse(files)).map((each) => [paths.certificate(each.id), renderCertificateLine(each, paths)]),
  )
  const current = await readList(socket, paths)
  for (const [path, lines] of current) {
    if (lines.length === 1 && lines[0] === wanted.get(path)) continue
    await socket.sendAll(lines.map(() => `del ssl crt-list ${list} ${path}`))
    current.delete(path)
  }
  for (const [path, line] of wanted)
    if (!current.has(path)) await socket.send(`add ssl crt-list ${list} <<\n${line}\n`)
}

/** Path → its lines. HAProxy shows `path:line names`, and marks added lines with 0. */
async function readList(socket: HaproxySocket, paths: HaproxyPaths): Promise<Map<string, string[]>> {
  const answer = await socket.send(`show ssl crt-list ${paths.certificateList}`)
  const lines = new Map<string, string[]>()
  for (const line of answer.split('\n')) {
    const [first = '', ...names] = line.trim().split(/\s+/)
    if (!first.startsWith(`${paths.certificates}/`)) continue
    const path = first.replace(/:\d+$/, '')
    lines.set(path, [...(lines.get(path) ?? []), [path, ...names].join(' ')])
  }
  return lines
}
