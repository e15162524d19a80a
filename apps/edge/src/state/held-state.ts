import { isDeepStrictEqual } from 'node:util'
import {
  Challenge,
  certificatesSectionOf,
  challengesSectionOf,
  type DesiredState,
  EdgeCertificate,
  Peer,
  PortRoute,
  peersSectionOf,
  portsSectionOf,
  Route,
  routesSectionOf,
  SectionHashes,
  SignIn,
  signInsSectionOf,
  TunnelSettings,
} from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import { keepRows, keepSections, rowsOf, type Sections } from '@postern/contract/sections'
import * as z from 'zod/mini'

/** The state on disk cannot be used, or the server's answer does not make a whole state. */
export class StateError extends Error {
  readonly code = 'state'
}

/** The state as the edge holds it. What has not changed stays the same object, down to the single row. */
export interface HeldState extends Pick<DesiredState, 'revision' | 'hashes' | 'settings'> {
  sections: HeldSections
  /** All of them, in the order of their sections. */
  peers: readonly Peer[]
  certificates: readonly EdgeCertificate[]
}

export type HeldSections = { [K in KindName]: Sections<DesiredState[K][number]> }

/**
 * The contents of the sections. A new kind of row needs only a line here to be read, kept and saved like the others.
 */
export const KINDS = {
  peers: { row: Peer, id: 'nodeId', prefix: 'peers:', sectionOf: peersSectionOf, scope: 'node' },
  routes: { row: Route, id: 'id', prefix: 'routes:', sectionOf: routesSectionOf, scope: 'service' },
  ports: { row: PortRoute, id: 'id', prefix: 'ports:', sectionOf: portsSectionOf, scope: 'service' },
  signIns: { row: SignIn, id: 'id', prefix: 'sign-in:', sectionOf: signInsSectionOf, scope: 'edge' },
  challenges: {
    row: Challenge,
    id: 'id',
    prefix: 'challenges:',
    sectionOf: challengesSectionOf,
    scope: 'edge',
  },
  certificates: {
    row: EdgeCertificate,
    id: 'id',
    prefix: 'certificates:',
    sectionOf: certificatesSectionOf,
    scope: 'certificate',
    keepsUnread: true,
  },
} as const satisfies Record<string, Kind>
type KindName = keyof typeof KINDS
// For the compiler, any object may have more keys than its type.
export const KIND_NAMES = Object.keys(KINDS) as KindName[]

interface Kind {
  row: z.ZodMiniType<object>
  id: 'id' | 'nodeId'
  /** The prefix of its sections' names. */
  prefix: string
  sectionOf(id: number): string
  /** Where a row that cannot be read is reported. */
  scope: Problem['scope']['kind']
  /** Whether a row that cannot be read keeps its previous content; otherwise it is left out. */
  keepsUnread?: true
}

export interface Answer {
  state: HeldState
  /** Rows that were left out because they do not match the contract. */
  problems: Problem[]
}

/** An answer whose rows are still to be read. */
const Outline = z.object({
  revision: z.number(),
  hashes: SectionHashes,
  sections: z.catchall(z.object({ settings: z.optional(z.unknown()) }), z.array(z.unknown())),
})
const Named = z.object({ id: z.optional(z.number()), nodeId: z.optional(z.number()) })

/** The input for reading one section. */
interface Reading {
  /** The hashes that were sent with the question: those sections may be missing from the answer. */
  known: SectionHashes
  hashes: SectionHashes
  problems: Problem[]
}

/**
 * Turns an answer into a whole state: its own sections, and the held ones whose hash is still the same. A row that
 * does not match the contract does not affect the others: it is reported, and its section gets an empty hash, so that
 * it is asked for again.
 * @throws StateError when the answer as a whole is not one, leaves a section out or holds one that it does not name
 */
export function readAnswer(body: unknown, held: HeldState | undefined, known: SectionHashes): Answer {
  const outline = Outline.safeParse(body)
  if (!outline.success) throw new StateError(UNKNOWN_STATE, { cause: outline.error })
  const { revision, hashes, sections } = outline.data
  const reading = { known, hashes, problems: [] }
  const settings = readSettings(sections.settings, held, reading)
  const read = KIND_NAMES.map((name) => [
    name,
    readKind(KINDS[name], sections[name], held?.sections[name], reading),
  ])
  // Each kind was read with its own schema, which the compiler cannot follow through the loop.
  const all = Object.fromEntries(read) as HeldSections
  const keepOrFlatten = <K extends 'peers' | 'certificates'>(name: K) =>
    held?.sections[name] === all[name] ? held[name] : rowsOf<object>(all[name])
  const state = {
    revision,
    hashes,
    settings,
    sections: all,
    peers: keepOrFlatten('peers') as HeldState['peers'],
    certificates: keepOrFlatten('certificates') as HeldState['certificates'],
  }
  return { state, problems: reading.problems }
}

/** The routes of services of all types. */
export function routesOf({ routes, ports }: HeldSections): Sections<Route | PortRoute> {
  return new Map<string, readonly (Route | PortRoute)[]>([...routes, ...ports])
}

function readSettings(sent: unknown, held: HeldState | undefined, reading: Reading): TunnelSettings {
  if (sent === undefined) {
    if (held && isStillKnown('settings', reading)) return held.settings
    throw leftOut('settings')
  }
  const parsed = TunnelSettings.safeParse(sent)
  if (parsed.success) return parsed.data
  if (!held) throw new StateError(UNKNOWN_SETTINGS)
  reading.hashes.settings = ''
  reading.problems.push({ scope: { kind: 'edge' }, message: UNKNOWN_SETTINGS })
  return held.settings
}

/** @returns the held map itself when nothing in it changed */
function readKind(
  kind: Kind,
  sent: readonly unknown[] | undefined,
  held: Sections<object> | undefined,
  reading: Reading,
): Sections<object> {
  if (!sent) throw new StateError(UNKNOWN_STATE)
  const changed = readRows(kind, sent, held, reading)
  const merged = new Map<string, readonly object[]>()
  for (const [name, hash] of Object.entries(reading.hashes)) {
    if (!name.startsWith(kind.prefix)) continue
    const before = held?.get(name)
    const rows = changed.get(name) ?? []
    if (rows.length === 0 && before && hash !== '' && isStillKnown(name, reading)) merged.set(name, before)
    else if (rows.length > 0) merged.set(name, keepRows(before, rows))
    else if (hash !== '') throw leftOut(name)
  }
  return keepSections(held, merged)
}

/** The rows that were sent, by section; rows equal to held ones are the held objects. */
function readRows(
  kind: Kind,
  sent: readonly unknown[],
  held: Sections<object> | undefined,
  { hashes, problems }: Reading,
): Map<string, object[]> {
  const rows = new Map<string, object[]>()
  const before = new Map<string, ReadonlyMap<unknown, object>>()
  for (const raw of sent) {
    const id = Named.safeParse(raw).data?.[kind.id]
    if (id === undefined) throw new StateError('The server sent a row without an id.')
    const name = kind.sectionOf(id)
    if (!(name in hashes)) throw new StateError(`The server does not name the section ${name}.`)
    const old = before.get(name) ?? new Map(held?.get(name)?.map((row) => [Reflect.get(row, kind.id), row]))
    before.set(name, old)
    const same = old.get(id)
    const read = same && isDeepStrictEqual(same, raw) ? same : kind.row.safeParse(raw).data
    const row = read ?? (kind.keepsUnread && same)
    const section = rows.get(name) ?? []
    rows.set(name, section)
    if (row) section.push(row)
    if (!read) {
      hashes[name] = ''
      const { scope } = kind
      problems.push({ scope: scope === 'edge' ? { kind: scope } : { kind: scope, id }, message: UNKNOWN })
    }
  }
  return rows
}

function isStillKnown(name: string, { known, hashes }: Reading): boolean {
  return hashes[name] !== undefined && known[name] === hashes[name]
}

const leftOut = (name: string) => new StateError(`The server left out the section ${name}.`)

const UNKNOWN_STATE = "This edge doesn't understand the server's configuration. Update the edge."
const UNKNOWN = "This edge doesn't understand the server's description of it. Update the edge."
const UNKNOWN_SETTINGS =
  "This edge doesn't understand the server's description of the tunnel. Update the edge."
