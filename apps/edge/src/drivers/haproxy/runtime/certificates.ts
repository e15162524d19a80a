import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import { listed, renderCertificateLine } from '@postern/render/haproxy/maps/certificates'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import {
  type CertificateFiles,
  createCertificateStore,
  inUse,
  keptPaths,
  type StoredCertificate,
} from '../files/certificate-store.ts'
import type { HaproxySocket } from './socket.ts'

export interface CertificateLoader {
  /** Writes the files of the wanted certificates, from which HAProxy starts. */
  write(wanted: readonly EdgeCertificate[]): Promise<void>
  /**
   * Makes the running HAProxy serve the certificates of the files.
   * @param isQuick do not offer again what this HAProxy has refused
   */
  apply(isQuick: boolean): Promise<void>
  /** Certificate id → why it is not served. */
  refused(): ReadonlyMap<number, string>
  /** There were too many new ones: some wait for the next call. */
  needsAnotherApply(): boolean
  /** Makes the next apply check the files and HAProxy. */
  verifyNext(): void
  /** Forgets HAProxy's certificates, because it is a new process. */
  forget(): void
}

export function createCertificateLoader(socket: HaproxySocket, paths: HaproxyPaths): CertificateLoader {
  const store = createCertificateStore(paths)
  let written: readonly EdgeCertificate[] = []
  let files: CertificateFiles = { stored: new Map(), refused: new Map(), standing: [] }
  /** HAProxy serves all that was written. */
  let areLoaded = false
  let needsAnotherApply = false
  // Path → fingerprint, as read from this HAProxy; the names are read at every apply, the contents once.
  const seen = new Map<string, string>()
  // PEM → why this HAProxy refused it.
  const refusals = new Map<string, string>()

  /** @returns the loaded ones, and whether these are all */
  async function loadAll(): Promise<{ loaded: StoredCertificate[]; isAll: boolean }> {
    const loaded: StoredCertificate[] = []
    const deadline = Date.now() + LOAD_FOR
    let isAll = true
    for (const stored of [...files.stored.values()]) {
      const now = seen.get(stored.path)
      if (stored.replaced === undefined && now === stored.fingerprint) continue
      const known = refusals.get(stored.pem)
      if (known === undefined && now === undefined && Date.now() > deadline) {
        isAll = false
        continue
      }
      const reason = known ?? (await load(socket, stored, now !== undefined))
      if (reason === undefined) loaded.push(stored)
      else {
        refusals.set(stored.pem, reason)
        await store.refuse(files, stored, reason)
      }
    }
    await observe(
      socket,
      seen,
      loaded.map(({ path }) => path),
    )
    return { loaded, isAll }
  }

  async function loadAndSweep(): Promise<boolean> {
    const names = await readNames(socket, paths)
    for (const path of seen.keys()) if (!names.has(path)) seen.delete(path)
    await observe(
      socket,
      seen,
      [...names].filter((path) => !seen.has(path)),
    )
    const { loaded, isAll } = await loadAll()
    const served = inUse(files).filter(({ id }) => seen.has(paths.certificate(id)))
    await applyList(socket, paths, served)
    for (const stored of loaded)
      if (seen.get(stored.path) !== stored.fingerprint) await store.refuse(files, stored, NOT_TAKEN)
    const kept = keptPaths(paths, files)
    for (const path of names) if (!kept.has(path)) await socket.send(`del ssl cert ${path}`)
    await store.sweep(files)
    return isAll
  }

  return {
    async write(wanted) {
      if (areLoaded && wanted === written) return
      areLoaded = false
      files = await store.write(wanted)
      written = wanted
    },
    async apply(isQuick) {
      if (areLoaded) return
      if (!isQuick) refusals.clear()
      needsAnotherApply = !(await loadAndSweep())
      areLoaded = !needsAnotherApply
    },
    refused: () => files.refused,
    needsAnotherApply: () => needsAnotherApply,
    verifyNext() {
      areLoaded = false
    },
    forget() {
      areLoaded = false
      store.forget()
      seen.clear()
      refusals.clear()
    },
  }
}

/** How long loading new certificates may delay the rest of an apply, in ms: each takes HAProxy one to four. */
const LOAD_FOR = 250
const LONGEST_REASON = 4000
const NOT_TAKEN = "HAProxy couldn't load this certificate"

/** The paths of our certificates in HAProxy. */
async function readNames(socket: HaproxySocket, paths: HaproxyPaths): Promise<Set<string>> {
  const names = (await socket.send('show ssl cert')).split('\n')
  return new Set(names.filter((name) => name.startsWith(`${paths.certificates}/`)))
}

async function observe(
  socket: HaproxySocket,
  seen: Map<string, string>,
  names: readonly string[],
): Promise<void> {
  const details = await socket.sendAll(names.map((name) => `show ssl cert ${name}`))
  let path = ''
  for (const line of details.split('\n')) {
    if (line.startsWith('Filename: ')) path = line.slice('Filename: '.length)
    const fingerprint = /^SHA1 FingerPrint: ([0-9A-F]{40})$/.exec(line)?.[1]
    if (path !== '' && fingerprint) seen.set(path, fingerprint)
  }
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
  // The lines of a HAProxy that was taken over may have any length.
  const lines = set.slice(0, LONGEST_REASON).split('\n')
  const line = lines.find((each) => /unable to |inconsistencies |error/i.test(each)) ?? lines[0] ?? ''
  const words = line.slice(Math.max(line.search(/unable to |inconsistencies /i), 0))
  return `HAProxy refuses the certificate: ${words.replaceAll(path, 'it').trim().slice(0, 200)}`
}

/** The list of names. A wrong line is removed and added again. */
async function applyList(
  socket: HaproxySocket,
  paths: HaproxyPaths,
  served: readonly EdgeCertificate[],
): Promise<void> {
  const list = paths.certificateList
  const wanted = new Map(
    listed(served).map((each) => [paths.certificate(each.id), renderCertificateLine(each, paths)]),
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
    const known = lines.get(path) ?? []
    known.push([path, ...names].join(' '))
    lines.set(path, known)
  }
  return lines
}
