import { randomBytes } from 'node:crypto'
import type { StateAnswer } from '@postern/contract/desired-state'
import type {
  BackendTrouble,
  DataPlane,
  EdgeHint,
  EdgeReport,
  LogLine,
  PeerFigures,
  PortFacts,
  Problem,
  ServiceCount,
} from '@postern/contract/edge'
import { endpoints } from '@postern/contract/endpoints'
import type { InstallationPaths } from '@postern/contract/installation'
import { callApi } from './api.ts'
import { ALL_OK, connectEdgeClient, edgeToken } from './edge-client.ts'

/**
 * An edge without a data plane, for tests of the console: it speaks the contract over the real socket and says what
 * a test wants it to have seen. tests/conformance holds it and the real edge to the same.
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
  /** What it has seen of backends; null: one answers again. */
  sendTrouble(service: number, trouble: BackendTrouble | null): void
  /** What services carried; it says so until it is stored. */
  sendCounts(counts: ServiceCount[]): void
  log(service: number, text: string): void
  close(): void
}

export async function connectFakeEdge(paths: InstallationPaths): Promise<FakeEdge> {
  let state: StateAnswer | undefined
  let watched: readonly number[] = []
  let report: Partial<EdgeReport> = {}
  let paused = false
  const lines: LogLine[] = []
  let waiting: ServiceCount[][] = []
  let seq = 1

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
    const [counts] = waiting
    const minute = Math.floor(Date.now() / 60_000)
    if (counts) edge.send({ type: 'counts', ledger: epoch, seq, minute, counts })
  }
  const stored = (last: number) => {
    if (last !== seq) return
    seq++
    waiting = waiting.slice(1)
    sendCounts()
  }
  const onHint = (hint: EdgeHint) => {
    if (hint.type === 'changed') return void apply()
    if (hint.type === 'counted') return stored(hint.seq)
    const fresh = hint.services.filter((id) => !watched.includes(id))
    watched = hint.services
    // As a real edge does: of a service that is watched anew, first the lines it kept.
    const kept = lines.filter(({ service }) => fresh.includes(service))
    if (kept.length > 0) edge.send({ type: 'logs', lines: kept })
  }
  const epoch = `fake${randomBytes(6).toString('hex')}`
  const edge = await connectEdgeClient(paths, { epoch, onHint })
  edge.send({ type: 'backends', isFirst: true, backends: [] })
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
    sendCounts(counts) {
      waiting.push(counts)
      if (waiting.length === 1) sendCounts()
    },
    log(service, text) {
      const number = lines.filter((line) => line.service === service).length + 1
      const line = { service, seq: lines.length + 1, number, text }
      lines.push(line)
      if (watched.includes(service)) edge.send({ type: 'logs', lines: [line] })
    },
    close: () => edge.close(),
  }
}
