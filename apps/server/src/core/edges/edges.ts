import { isDeepStrictEqual } from 'node:util'
import type {
  BackendTrouble,
  Edge,
  EdgeHint,
  EdgeMessage,
  EdgeReport,
  InForce,
  Problem,
} from '@postern/contract/edge'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { getRevision } from '../../changes/change.ts'
import type { LiveBus, ServiceRef } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import type { Counts, CountsMessage } from '../figures/counts.ts'
import type { LogHub } from '../logs/logs.ts'
import type { LiveFigures } from '../nodes/figures.ts'
import type { EdgeView } from '../services/state.ts'
import { readNames } from './names.ts'
import { familiesOf, listAll, listByIds, listTouched, listTurned } from './touched.ts'

/** The way to one edge that is connected. */
export interface EdgeLink {
  send(hint: EdgeHint): void
  close(): void
}

/** Takes what a connected edge sends, parsed. */
export interface EdgeSession {
  receive(message: EdgeMessage): void
  close(): void
}

/** The edges as they are now. Nothing of it is stored: an edge sends it all again when it reconnects. */
export interface EdgeHub {
  /** A second connection of the same edge ends the first. */
  connect(edgeId: number, link: EdgeLink): EdgeSession
  /** The last reports of those that are connected. */
  views(): EdgeView[]
  /** What is wrong with the server itself, for the same places; null: nothing. */
  tellOwn(problem: string | null): void
  list(): Promise<Edge[]>
  /** What is wrong with edges as a whole, all of it: as those that are connected say, and the server's own problem. */
  listOwnProblems(): Promise<{ name: string; message: string }[]>
}

interface Parts {
  db: Kysely<Database>
  bus: LiveBus
  live: LiveFigures
  counts: Counts
  logs: LogHub
  log: Logger
  clock(): number
}

interface State {
  link: EdgeLink | null
  version: string | null
  epoch: string | null
  report: EdgeReport | null
  families: EdgeView['families']
  troubles: Map<number, BackendTrouble>
  /** ms since the epoch; null: not since this server started. */
  lastSeen: number | null
}

const NOTHING: InForce = { haproxy: 0, wireguard: 0, nftables: 0 }
const NONE_HELD = { tcp: [], udp: [] }

export function createEdgeHub(parts: Parts): EdgeHub {
  const states = new Map<number, State>()
  let own: string | null = null
  const connected = () => [...states.values()].filter((state) => state.link !== null)
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
      const state = newState(link, parts.clock())
      states.set(edgeId, state)
      welcome(parts, link)
      parts.bus.emit({ kind: 'edges' })
      return {
        receive: (message) =>
          message.type === 'counts' ? count(parts, edgeId, link, message) : receive(parts, state, message),
        close() {
          if (states.get(edgeId) !== state || state.link === null) return
          state.link = null
          state.lastSeen = parts.clock()
          parts.bus.emit({ kind: 'edges' })
          tellNodes(parts, state.report?.problems ?? [], [])
          tellReported(parts, () => listAll(parts.db))
        },
      }
    },
    views: () =>
      connected().map(({ report, troubles, families }) => ({
        troubles,
        inForce: report?.inForce ?? NOTHING,
        problems: report?.problems ?? [],
        dataPlane: report?.dataPlane ?? null,
        families,
        held: report?.ports?.held ?? NONE_HELD,
      })),
    list: () => listEdges(parts.db, states, own),
    listOwnProblems: () => listOwnProblems(parts.db, states, own),
    tellOwn(problem) {
      if (problem === own) return
      own = problem
      parts.bus.emit({ kind: 'edges' })
    },
  }
}

function newState(link: EdgeLink, lastSeen: number): State {
  return {
    link,
    version: null,
    epoch: null,
    report: null,
    families: new Map(),
    troubles: new Map(),
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

/** What could not be stored the edge sends again. */
function count({ counts, log }: Parts, edgeId: number, link: EdgeLink, message: CountsMessage): void {
  counts
    .receive(edgeId, message)
    .then((seq) => link.send({ type: 'counted', ledger: message.ledger, seq }))
    .catch((err: unknown) => log.warn({ err }, 'counts could not be stored'))
}

function receive(parts: Parts, state: State, message: Exclude<EdgeMessage, CountsMessage>): void {
  state.lastSeen = parts.clock()
  switch (message.type) {
    case 'hello':
      state.version = message.version
      state.epoch = message.epoch
      parts.bus.emit({ kind: 'edges' })
      return
    case 'report': {
      const before = state.report
      // An edge reports whenever it has checked everything. The console asks again for each hint.
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
      parts.live.update(message.peers)
      return
    case 'logs':
      if (state.epoch !== null) parts.logs.receive(state.epoch, message.lines)
  }
}

/** Hints at the nodes whose problem may have changed. */
function tellNodes({ bus }: Parts, before: readonly Problem[], after: readonly Problem[]): void {
  const of = (problems: readonly Problem[]) => problems.filter(({ scope }) => scope.kind === 'node')
  if (JSON.stringify(of(before)) === JSON.stringify(of(after))) return
  const nodes = [...of(before), ...of(after)].flatMap(({ scope }) => (scope.kind === 'node' ? scope.id : []))
  bus.emit({ kind: 'figures', nodes: [...new Set(nodes)] })
}

/** @returns the services whose state may have changed */
function noteBackends(
  troubles: Map<number, BackendTrouble>,
  { isFirst, backends }: Extract<EdgeMessage, { type: 'backends' }>,
): number[] {
  const touched = backends.map(({ service }) => service)
  if (isFirst) {
    touched.push(...troubles.keys())
    troubles.clear()
  }
  for (const { service, trouble } of backends) {
    if (trouble) troubles.set(service, trouble)
    else troubles.delete(service)
  }
  return touched
}

function tellReported({ bus, log }: Parts, list: () => Promise<ServiceRef[]>): void {
  list()
    .then((services) => {
      if (services.length > 0) bus.emit({ kind: 'reported', services })
    })
    .catch((err: unknown) => log.error({ err }, 'the services of a report could not be read'))
}

/** So many problems are told with an edge; the list of what needs attention has them all. */
const MOST_TOLD = 20

async function listEdges(
  db: Kysely<Database>,
  states: ReadonlyMap<number, State>,
  own: string | null,
): Promise<Edge[]> {
  const rows = await selectEdges(db)
  // The server's own problem stands with the edge that is beside it.
  const beside: Problem[] = own === null ? [] : [{ scope: { kind: 'edge' }, message: own }]
  const problemsOf = (id: number) => [
    ...(id === rows[0]?.id ? beside : []),
    ...(states.get(id)?.report?.problems ?? []),
  ]
  const shown = new Map(rows.map(({ id }) => [id, firstProblems(problemsOf(id))]))
  const nameOf = await readNames(
    db,
    [...shown.values()].flat().map(({ scope }) => scope),
  )
  return rows.map(({ id, name }) => {
    const state = states.get(id)
    const lastSeen = state?.lastSeen ?? null
    return {
      id,
      name,
      connected: state !== undefined && state.link !== null,
      version: state?.version ?? null,
      wanted: state?.report?.wanted ?? 0,
      applied: state?.report?.applied ?? 0,
      problems: (shown.get(id) ?? []).map((problem) => ({ ...problem, name: nameOf(problem.scope) })),
      problemCount: problemsOf(id).length,
      isStuck: state?.report?.isStuck ?? false,
      dataPlane: state?.report?.dataPlane ?? null,
      lastSeen: lastSeen === null ? null : new Date(lastSeen).toISOString(),
    }
  })
}

async function listOwnProblems(
  db: Kysely<Database>,
  states: ReadonlyMap<number, State>,
  own: string | null,
): Promise<{ name: string; message: string }[]> {
  const rows = await selectEdges(db)
  return rows.flatMap(({ id, name }, index) => {
    const { link = null, report = null } = states.get(id) ?? {}
    const reported = link === null ? [] : (report?.problems ?? []).filter(isOwn)
    const beside = index === 0 && own !== null ? [own] : []
    return [...beside, ...reported.map(({ message }) => message)].map((message) => ({ name, message }))
  })
}

async function selectEdges(db: Kysely<Database>): Promise<{ id: number; name: string }[]> {
  return await db.selectFrom('edges').select(['id', 'name']).orderBy('id').execute()
}

const isOwn = ({ scope }: Problem) => scope.kind === 'edge'

/** Those of the edge itself first. */
function firstProblems(problems: readonly Problem[]): Problem[] {
  return [...problems.filter(isOwn), ...problems.filter((problem) => !isOwn(problem))].slice(0, MOST_TOLD)
}
