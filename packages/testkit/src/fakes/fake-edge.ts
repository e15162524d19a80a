import { randomBytes } from 'node:crypto'
import type { StateAnswer } from '@postern/contract/edge/desired-state'
import type { BackendTrouble, DataPlane, Problem } from '@postern/contract/edge/edge'
import type {
  EdgeHint,
  EdgeReport,
  EdgeVitals,
  LogLine,
  PeerFigures,
  PortFacts,
  ServiceAnswers,
  ServiceCount,
} from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { InstallationPaths } from '@postern/contract/installation'
import type { KeptRequest } from '@postern/contract/requests/kept'
import type { TraceSight } from '@postern/contract/why/trace'
import { callApi } from '../api.ts'
import { ALL_OK, connectEdgeClient, edgeToken } from '../edge-client.ts'
import { findKept, makeKept } from '../kept-requests.ts'

/**
 * An edge without a data plane, for tests of the console: it uses the contract over the real socket and reports what
 * a test sets. tests/conformance holds it and the real edge to the same.
 */
export interface FakeEdge {
  /** The last state it fetched. */
  state(): StateAnswer | undefined
  /** The services whose log lines the server wants. */
  watched(): readonly number[]
  setProblems(problems: Problem[]): Promise<void>
  setDataPlane(dataPlane: Partial<DataPlane>): Promise<void>
  setPorts(ports: PortFacts): Promise<void>
  /** While paused it applies nothing, so that changes stay "applying". */
  pause(paused: boolean): Promise<void>
  sendPeers(peers: PeerFigures[]): void
  /** Reports on backends; null: one answers again. */
  sendTrouble(service: number, trouble: BackendTrouble | null): void
  /** Sends counts of services, and of how they answered, until they are stored. @param at ms since the epoch; else now */
  sendCounts(counts: ServiceCount[], answers?: ServiceAnswers[], at?: number): void
  /** What it sees when it is asked why; of nothing that is published until then. */
  setSights(sights: readonly TraceSight[]): void
  log(service: number, text: string): void
  /** Requests that it keeps, in the order in which they ended. */
  keep(requests: readonly Partial<KeptRequest>[]): void
  close(): void
}

const NOTHING_PUBLISHED: readonly TraceSight[] = [
  { step: 'port', port: 443, closed: null, wall: null },
  { step: 'certificate', served: null, isTrusted: false, problem: null },
  { step: 'route', found: null },
]

/** Of an edge that has just started, whose HAProxy is none. */
const VITALS: EdgeVitals = {
  process: { startedAt: Date.now(), cpuSeconds: 1, residentBytes: 5e7, openFiles: 20, mostOpenFiles: 1024 },
  eventLoop: { median: 0, p99: 0.001, most: 0.002 },
  haproxy: null,
  disk: { free: 5e10, total: 1e11 },
  updates: [],
}

export async function connectFakeEdge(paths: InstallationPaths): Promise<FakeEdge> {
  let state: StateAnswer | undefined
  let watched: readonly number[] = []
  let report: Partial<EdgeReport> = {}
  let paused = false
  const lines: LogLine[] = []
  const kept: KeptRequest[] = []
  let waiting: { counts: ServiceCount[]; answers: ServiceAnswers[]; minute: number }[] = []
  let seq = 1
  let sights: readonly TraceSight[] = NOTHING_PUBLISHED

  const fetchAndReport = async () => {
    if (paused) return
    const token = edgeToken(paths)
    const { json } = await callApi(paths.serverSocket, token, 'POST', endpoints.edgeState.path, { known: {} })
    state = json as StateAnswer
    edge.report(state.revision, report)
  }
  let applied = Promise.resolve()
  /** One after the other: two at once could report the older state last, and nothing would correct it. */
  const apply = () => {
    const next = applied.then(fetchAndReport)
    applied = next.catch(() => {})
    return next
  }
  /** One at a time, as a real edge does. */
  const sendCounts = () => {
    const [next] = waiting
    if (next) edge.send({ type: 'counts', ledger: epoch, seq, ...next })
  }
  const stored = (last: number) => {
    if (last !== seq) return
    seq++
    waiting = waiting.slice(1)
    sendCounts()
  }
  const sendSights = (id: number) => {
    const all: TraceSight[] = [...sights, { step: 'end', problem: null }]
    for (const sight of all) edge.send({ type: 'traced', id, sight })
  }
  const onHint = (hint: EdgeHint) => {
    if (hint.type === 'changed') return void apply()
    if (hint.type === 'counted') return stored(hint.seq)
    if (hint.type === 'trace') return sendSights(hint.id)
    if (hint.type === 'forget') return
    if (hint.type === 'search') return edge.send({ type: 'found', ...findKept(kept, hint) })
    const fresh = hint.services.filter((id) => !watched.includes(id))
    watched = hint.services
    // Like a real edge: for a newly watched service, first the kept lines.
    const old = lines.filter(({ service }) => fresh.includes(service))
    if (old.length > 0) edge.send({ type: 'logs', lines: old })
  }
  const epoch = `fake${randomBytes(6).toString('hex')}`
  const edge = await connectEdgeClient(paths, { epoch, onHint, can: ['trace'] })
  edge.send({ type: 'backends', isFirst: true, backends: [] })
  edge.send({ type: 'vitals', vitals: VITALS })
  await apply()

  return {
    state: () => state,
    watched: () => watched,
    async setProblems(next) {
      report = { ...report, problems: next }
      await apply()
    },
    async setDataPlane(next) {
      report = { ...report, dataPlane: { ...ALL_OK, ...next } }
      await apply()
    },
    async setPorts(ports) {
      report = { ...report, ports }
      await apply()
    },
    async pause(next) {
      paused = next
      await apply()
    },
    sendPeers: (peers) => edge.send({ type: 'peers', peers }),
    sendTrouble: (service, trouble) =>
      edge.send({ type: 'backends', isFirst: false, backends: [{ service, trouble }] }),
    sendCounts(counts, answers = [], at = Date.now()) {
      waiting.push({ counts, answers, minute: Math.floor(at / 60_000) })
      if (waiting.length === 1) sendCounts()
    },
    setSights(next) {
      sights = next
    },
    log(service, text) {
      const number = lines.filter((line) => line.service === service).length + 1
      const line = { service, seq: lines.length + 1, number, text }
      lines.push(line)
      if (watched.includes(service)) edge.send({ type: 'logs', lines: [line] })
    },
    keep: (requests) => void kept.push(...requests.map(makeKept)),
    close: () => edge.close(),
  }
}
