import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { StateAnswer } from '@postern/contract/desired-state'
import {
  type DataPlane,
  EdgeHint,
  type EdgeMessage,
  type LogLine,
  type PeerFigures,
  type Problem,
} from '@postern/contract/edge'
import { endpoints } from '@postern/contract/endpoints'
import type { InstallationPaths } from '@postern/contract/installation'
import { WebSocket } from 'ws'
import { callApi } from './api.ts'

/**
 * An edge on paper, for tests of the console: it speaks the contract over the real socket and says what a test
 * wants it to have seen. The real data plane is shown by tests/net.
 */
export interface PaperEdge {
  /** The last state it fetched. */
  state(): StateAnswer | undefined
  /** The services whose log lines the server wants. */
  watched(): readonly number[]
  setProblems(problems: Problem[]): Promise<void>
  setDataPlane(dataPlane: Partial<DataPlane>): Promise<void>
  /** While paused it applies nothing, so that changes stay "applying". */
  pause(paused: boolean): Promise<void>
  sendPeers(peers: PeerFigures[]): void
  log(service: number, text: string): void
  close(): void
}

const ALL_OK: DataPlane = {
  haproxy: { state: 'ok', detail: 'HAProxy' },
  wireguard: { state: 'ok', detail: 'wireguard-go' },
  nftables: { state: 'ok', detail: 'nftables' },
}

export async function connectPaperEdge(paths: InstallationPaths): Promise<PaperEdge> {
  const token = readFileSync(paths.edgeToken, 'utf8').trim()
  const socket = new WebSocket(`ws+unix:${paths.serverSocket}:${endpoints.edgeSocket.path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  let state: StateAnswer | undefined
  let watched: readonly number[] = []
  let problems: Problem[] = []
  let dataPlane = ALL_OK
  let paused = false
  const lines: LogLine[] = []

  const send = (message: EdgeMessage) => socket.send(JSON.stringify(message))
  const apply = async () => {
    if (paused) return
    const { json } = await callApi(paths.serverSocket, token, 'POST', endpoints.edgeState.path, { known: {} })
    state = json as StateAnswer
    const { revision } = state
    send({ type: 'report', report: { wanted: revision, applied: revision, problems, dataPlane } })
  }
  socket.on('message', (data) => {
    const hint = EdgeHint.parse(JSON.parse(String(data)))
    if (hint.type === 'changed') return void apply()
    const fresh = hint.services.filter((id) => !watched.includes(id))
    watched = hint.services
    // As a real edge does: of a service that is watched anew, first the lines it kept.
    const kept = lines.filter(({ service }) => fresh.includes(service))
    if (kept.length > 0) send({ type: 'logs', lines: kept })
  })
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  send({ type: 'hello', version: '0.1.0', epoch: `paper${randomBytes(6).toString('hex')}` })
  await apply()

  return {
    state: () => state,
    watched: () => watched,
    async setProblems(next) {
      problems = next
      await apply()
    },
    async setDataPlane(next) {
      dataPlane = { ...ALL_OK, ...next }
      await apply()
    },
    async pause(next) {
      paused = next
      await apply()
    },
    sendPeers: (peers) => send({ type: 'peers', peers }),
    log(service, text) {
      const number = lines.filter((line) => line.service === service).length + 1
      const line = { service, seq: lines.length + 1, number, text }
      lines.push(line)
      if (watched.includes(service)) send({ type: 'logs', lines: [line] })
    },
    close: () => socket.terminate(),
  }
}
