import { isDeepStrictEqual } from 'node:util'
import type { BackendTrouble, Edge, Problem } from '@postern/contract/edge/edge'
import type { EdgeHint, EdgeMessage, EdgeVitals, InForce } from '@postern/contract/edge/edge-messages'
import type { FoundRequests } from '@postern/contract/requests/kept'
import type { TraceSight } from '@postern/contract/why/trace'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { getRevision } from '../../changes/change.ts'
import type { LiveBus, ServiceRef } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import type { Counts, CountsMessage } from '../figures/counts.ts'
import type { LogHub } from '../logs/logs.ts'
import type { LiveFigures } from '../nodes/figures.ts'
import type { EdgeView } from '../services/state.ts'
import { createTraces, type TraceRequest, type Traces } from '../why/traces.ts'
import { createAsks, type Search } from './asks.ts'
import { followNames } from './follow-names.ts'
import { type KnownEdge, listEdges, listOwnProblems } from './list.ts'
import { familiesOf, listAll, listByIds, listTouched, listTurned, noteBackends } from './touched.ts'
import { whyNotVersion } from './versions.ts'

/** The connection to one edge. */
export interface EdgeLink {
  send(hint: EdgeHint): void
  /** @param why it is not spoken with; absent when a newer connection takes its place */
  close(why?: string): void
}

/** Takes a parsed message of a connected edge. */
export interface EdgeSession {
  receive(message: EdgeMessage): void
  close(): void
}

/** The present state of the edges. None of it is stored: an edge sends everything again when it reconnects. */
export interface EdgeHub {
  /** A second connection of the same edge ends the first. */
  connect(edgeId: number, link: EdgeLink): EdgeSession
  /** The last reports of connected edges, in the order of their numbers. */
  views(): EdgeView[]
  /** Edges that broke off a short while ago, and may still have visitors: those that are drained have none. */
  lost(): { id: number; name: string }[]
  /**
   * Asks the first edge that is connected for what it sees of an address; what it sees comes to `onSight`, `end` last.
   * @returns what ends the listening, or why no edge can be asked
   */
  trace(request: TraceRequest, onSight: (sight: TraceSight) => void): (() => void) | 'away' | 'too old'
  /** The last vitals of the connected edges, by id. */
  vitals(): ReadonlyMap<number, EdgeVitals>
  /** Calls the listener with each line of the edges' own logs, as JSON. */
  onJournal(listener: (line: string) => void): void
  /** Sets the problem of a part of the server itself, to be shown in the same places; null: none. */
  tellOwn(part: ServerPart, problem: string | null): void
  list(): Promise<Edge[]>
  /** Asks an edge for requests that it keeps. @returns null when it gives no answer */
  search(edgeId: number, search: Search, signal: AbortSignal): Promise<FoundRequests | null>
  /** All problems of the edges as a whole: those that connected edges report, and the server's own. */
  listOwnProblems(): Promise<{ name: string; message: string }[]>
}

/** What of the server may fail while the rest of it works. */
type ServerPart = 'console' | 'metrics' | 'control'

interface Parts {
  db: Kysely<Database>
  bus: LiveBus
  live: LiveFigures
  counts: Counts
  logs: LogHub
  log: Logger
  /** This server's, for what edges say of theirs. */
  version: string
  clock(): number
}

/** What tells how an edge is now. */
type StateMessage = Exclude<EdgeMessage, { type: 'counts' | 'journal' | 'found' }>

interface State extends KnownEdge {
  edgeId: number
  link: EdgeLink | null
  traces: Traces
  /** What it can do beside what every edge does. */
  can: readonly string[]
  epoch: string | null
  families: EdgeView['families']
  troubles: Map<number, BackendTrouble>
  vitals: EdgeVitals | null
}

/** After this time visitors, and whoever sends them, have noticed that an edge is gone. */
const LOST_MS = 10 * 60_000
const NOTHING: InForce = { haproxy: 0, wireguard: 0, nftables: 0 }
const NONE_HELD = { tcp: [], udp: [] }

export function createEdgeHub(parts: Parts): EdgeHub {
  const states = new Map<number, State>()
  const asks = createAsks()
  const names = followNames(parts, (id) => {
    parts.live.removeEdge(id)
    states.get(id)?.link?.close()
    states.delete(id)
  })
  const own = new Map<ServerPart, string>()
  let hearJournal: ((line: string) => void) | undefined
  let traces = 0
  const connected = () =>
    [...states.values()]
      .filter((state) => state.link !== null)
      .sort((a, b) => names.of(a.edgeId).number - names.of(b.edgeId).number)
  const tellAll = (hint: EdgeHint) => {
    for (const { link } of connected()) link?.send(hint)
  }
  parts.bus.listen((hint) => {
    if (hint.kind === 'changed') tellAll({ type: 'changed', revision: hint.revision })
  })
  parts.logs.onWatched((services) => tellAll({ type: 'watch', services }))

  return {
    connect(edgeId, link) {
      const before = states.get(edgeId)
      before?.link?.close()
      asks.dropAll(edgeId)
      const state = newState(edgeId, link, parts.clock(), () => ++traces)
      before?.traces.end()
      states.set(edgeId, state)
      welcome(parts, link)
      names.read()
      parts.bus.emit({ kind: 'edges' })
      return {
        receive(message) {
          if (message.type === 'counts') count(parts, edgeId, link, message)
          else if (message.type === 'journal') for (const line of message.lines) hearJournal?.(line)
          else if (message.type === 'found') asks.receive(edgeId, message)
          else receive(parts, state, message)
        },
        close() {
          if (states.get(edgeId) !== state || state.link === null) return
          state.link = null
          state.traces.end()
          asks.dropAll(edgeId)
          state.lastSeen = parts.clock()
          parts.bus.emit({ kind: 'edges' })
          tellNodes(parts, state.report?.problems ?? [], [])
          tellReported(parts, () => listAll(parts.db))
        },
      }
    },
    views: () =>
      connected().map(({ edgeId, report, troubles, families }) => ({
        id: edgeId,
        ...names.of(edgeId),
        troubles,
        inForce: report?.inForce ?? NOTHING,
        problems: report?.problems ?? [],
        dataPlane: report?.dataPlane ?? null,
        families,
        held: report?.ports?.held ?? NONE_HELD,
      })),
    lost: () =>
      [...states.values()]
        .filter(({ link, lastSeen }) => link === null && parts.clock() - lastSeen < LOST_MS)
        .map(({ edgeId }) => ({ id: edgeId, ...names.of(edgeId) }))
        .filter(({ isDrained }) => !isDrained),
    trace(request, onSight) {
      // One that has not said yet what it can do is about to.
      const edge = connected().find(({ version }) => version !== null)
      if (!edge) return 'away'
      return edge.can.includes('trace') ? edge.traces.begin(request, onSight) : 'too old'
    },
    vitals: () =>
      new Map(
        [...states].flatMap(([id, { link, vitals }]) =>
          link !== null && vitals !== null ? [[id, vitals] as const] : [],
        ),
      ),
    onJournal(listener) {
      hearJournal = listener
    },
    list: () => listEdges(parts.db, states, [...own.values()], parts.clock()),
    async search(edgeId, search, signal) {
      const link = states.get(edgeId)?.link
      return link ? await asks.ask(edgeId, link.send, search, signal) : null
    },
    listOwnProblems: () => listOwnProblems(parts.db, states, [...own.values()]),
    tellOwn(part, problem) {
      if (problem === (own.get(part) ?? null)) return
      if (problem === null) own.delete(part)
      else own.set(part, problem)
      parts.bus.emit({ kind: 'edges' })
    },
  }
}

function newState(edgeId: number, link: EdgeLink, lastSeen: number, nextTrace: () => number): State {
  return {
    edgeId,
    link,
    traces: createTraces(nextTrace, (hint) => link.send(hint)),
    can: [],
    version: null,
    refusal: undefined,
    epoch: null,
    report: null,
    families: new Map(),
    troubles: new Map(),
    vitals: null,
    lastSeen,
  }
}

/** A reconnected edge gets at once what it missed. */
function welcome({ db, logs, log }: Parts, link: EdgeLink): void {
  link.send({ type: 'watch', services: logs.watched() })
  getRevision(db)
    .then((revision) => link.send({ type: 'changed', revision }))
    .catch((err: unknown) => log.error({ err }, 'the revision could not be read'))
}

/** The edge sends again what could not be stored. */
function count({ counts, log }: Parts, edgeId: number, link: EdgeLink, message: CountsMessage): void {
  counts
    .receive(edgeId, message)
    .then((seq) => link.send({ type: 'counted', ledger: message.ledger, seq }))
    .catch((err: unknown) => log.warn({ err }, 'counts could not be stored'))
}

function receive(parts: Parts, state: State, message: StateMessage): void {
  state.lastSeen = parts.clock()
  switch (message.type) {
    case 'hello':
      state.version = message.version
      state.refusal = whyNotVersion(parts.version, message.version)
      if (state.refusal !== undefined) state.link?.close(state.refusal)
      state.epoch = message.epoch
      state.can = message.can ?? []
      parts.bus.emit({ kind: 'edges' })
      return
    case 'report': {
      const before = state.report
      // Hints only at changes: an edge reports after each full check, and the console reads again after each hint.
      if (isDeepStrictEqual(before, message.report)) return
      state.report = message.report
      parts.bus.emit({ kind: 'edges' })
      tellNodes(parts, before?.problems ?? [], message.report.problems)
      tellReported(parts, () => listTouched(parts.db, before, message.report))
      const families = familiesOf(message.report)
      const turned = listTurned(state.families, families)
      state.families = families
      tellReported(parts, () => listByIds(parts.db, turned))
      return
    }
    case 'backends': {
      const ids = noteBackends(state.troubles, message)
      tellReported(parts, () => listByIds(parts.db, ids))
      return
    }
    case 'peers':
      parts.live.update(state.edgeId, message.peers)
      return
    case 'vitals':
      state.vitals = message.vitals
      return
    case 'logs':
      if (state.epoch !== null) parts.logs.receive(state.epoch, message.lines)
      return
    case 'traced':
      state.traces.receive(message.id, message.sight)
  }
}

/** Hints at the nodes whose problem may have changed. */
function tellNodes({ bus }: Parts, before: readonly Problem[], after: readonly Problem[]): void {
  const of = (problems: readonly Problem[]) => problems.filter(({ scope }) => scope.kind === 'node')
  if (JSON.stringify(of(before)) === JSON.stringify(of(after))) return
  const nodes = [...of(before), ...of(after)].flatMap(({ scope }) => (scope.kind === 'node' ? scope.id : []))
  bus.emit({ kind: 'figures', nodes: [...new Set(nodes)] })
}

function tellReported({ bus, log }: Parts, list: () => Promise<ServiceRef[]>): void {
  list()
    .then((services) => {
      if (services.length > 0) bus.emit({ kind: 'reported', services })
    })
    .catch((err: unknown) => log.error({ err }, 'the services of a report could not be read'))
}
