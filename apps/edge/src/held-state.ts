import {
  type DesiredState,
  type EdgeCertificate,
  type Peer,
  type PortRoute,
  peersSectionOf,
  portsSectionOf,
  type Route,
  routesSectionOf,
  type SectionHashes,
  type StateAnswer,
} from '@postern/contract/desired-state'

/** The state on disk cannot be used, or the server's answer does not make a whole state. */
export class StateError extends Error {
  readonly code = 'state'
}

/** Section name → its rows: the same array as long as the section has the same content. */
export type Sections<T> = ReadonlyMap<string, readonly T[]>

/** The state as the edge holds it. What has not changed is the same object as before. */
export interface HeldState extends Pick<DesiredState, 'revision' | 'hashes' | 'settings'> {
  sections: HeldSections
  /** All of them, in the order of their sections. */
  peers: readonly Peer[]
  certificates: readonly EdgeCertificate[]
}

export interface HeldSections {
  peers: Sections<Peer>
  routes: Sections<Route>
  ports: Sections<PortRoute>
  certificates: Sections<EdgeCertificate>
}

/** Which section each row belongs to, and whether rows that could not be read stay as they were. */
const KINDS: { [K in keyof HeldSections]: Kind<DesiredState[K][number]> } = {
  peers: { name: /^peers:\d+$/, of: ({ nodeId }) => peersSectionOf(nodeId), keepsUnread: false },
  routes: { name: /^routes:\d+$/, of: ({ id }) => routesSectionOf(id), keepsUnread: false },
  ports: { name: /^ports:\d+$/, of: ({ id }) => portsSectionOf(id), keepsUnread: false },
  certificates: { name: /^certificate:\d+$/, of: ({ id }) => `certificate:${id}`, keepsUnread: true },
}

interface Kind<T> {
  name: RegExp
  of(row: T): string
  keepsUnread: boolean
}

/**
 * The whole state that an answer describes: its own sections, and the held ones whose hash is still the same. Of a
 * section with an empty hash something could not be read: a certificate then stays as it was, other rows are left out.
 * @throws StateError when a section is missing, or the answer holds one that it does not name
 */
export function mergeState(held: HeldState | undefined, answer: StateAnswer): HeldState {
  const { hashes, sections, revision } = answer
  const settings = sections.settings ?? keptSettings(held, hashes)
  const merge = <K extends keyof HeldSections>(kind: K) =>
    mergeSections(
      // A kind and its rows belong together, which the compiler does not see for a `K`.
      KINDS[kind] as Kind<DesiredState[K][number]>,
      { sections: held?.sections[kind] as Sections<DesiredState[K][number]>, hashes: held?.hashes ?? {} },
      { rows: sections[kind] as DesiredState[K], hashes },
    )
  const [peers, certificates] = [merge('peers'), merge('certificates')]
  return {
    revision,
    hashes,
    settings,
    sections: { peers, routes: merge('routes'), ports: merge('ports'), certificates },
    peers: held?.sections.peers === peers ? held.peers : rowsOf(peers),
    certificates: held?.sections.certificates === certificates ? held.certificates : rowsOf(certificates),
  }
}

/** All rows of all sections. */
export function rowsOf<T>(sections: Sections<T>): T[] {
  return [...sections.values()].flat()
}

function keptSettings(held: HeldState | undefined, hashes: SectionHashes): DesiredState['settings'] {
  if (!held || hashes.settings === undefined || held.hashes.settings !== hashes.settings)
    throw leftOut('settings')
  return held.settings
}

interface Held<T> {
  sections: Sections<T> | undefined
  hashes: SectionHashes
}

interface Sent<T> {
  rows: readonly T[]
  hashes: SectionHashes
}

/** @returns the very map that is held when nothing of it changed */
function mergeSections<T>(kind: Kind<T>, held: Held<T>, sent: Sent<T>): Sections<T> {
  const now = Map.groupBy(sent.rows, kind.of)
  const stray = [...now.keys()].find((name) => !(name in sent.hashes))
  if (stray !== undefined) throw new StateError(`The server does not name the section ${stray}.`)
  const merged = new Map<string, readonly T[]>()
  for (const name of Object.keys(sent.hashes).filter((key) => kind.name.test(key))) {
    const rows = now.get(name) ?? keptRows(name, kind, held, sent.hashes)
    if (rows.length > 0) merged.set(name, rows)
  }
  return held.sections && isSame(held.sections, merged) ? held.sections : merged
}

function keptRows<T>(
  name: string,
  { keepsUnread }: Kind<T>,
  held: Held<T>,
  hashes: SectionHashes,
): readonly T[] {
  const rows = held.sections?.get(name)
  if (hashes[name] === '') return (keepsUnread && rows) || []
  if (!rows || held.hashes[name] !== hashes[name]) throw leftOut(name)
  return rows
}

function isSame<T>(a: Sections<T>, b: Sections<T>): boolean {
  if (a.size !== b.size) return false
  for (const [name, rows] of a) if (b.get(name) !== rows) return false
  return true
}

const leftOut = (name: string) => new StateError(`The server left out the section ${name}.`)
