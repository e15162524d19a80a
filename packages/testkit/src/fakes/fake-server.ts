import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  certificatesSectionOf,
  challengesSectionOf,
  type DesiredState,
  peersSectionOf,
  portsSectionOf,
  routesSectionOf,
  StateRequest,
  signInsSectionOf,
} from '@postern/contract/edge/desired-state'
import { type EdgeHint, EdgeMessage } from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { ErrorBody } from '@postern/contract/errors'
import type { InstallationPaths } from '@postern/contract/installation'
import { type WebSocket, WebSocketServer } from 'ws'

/**
 * The server's side of an edge's protocol over its real socket, with a state that a test sets.
 * tests/conformance holds it and the real server to the same.
 */
export interface FakeServer {
  /** Its answer; setting it sends no hint. */
  state: DesiredState
  /** All messages of the edge, in order. */
  messages: EdgeMessage[]
  /** The hashes in each request. */
  fetches: Record<string, string>[]
  /** If set, it answers with this body instead. */
  answerWith: unknown
  /** If false, it does not store the edge's counts. */
  stores: boolean
  hint(hint: EdgeHint): void
  isConnected(): boolean
  dropConnections(): void
  close(): Promise<void>
}

const TOKEN = 'token-of-the-edge'

export async function startFakeServer(paths: InstallationPaths, state: DesiredState): Promise<FakeServer> {
  writeFileSync(paths.edgeToken, `${TOKEN}\n`)
  const sockets = new Set<WebSocket>()
  const http = createServer((request, response) => void answer(fake, request, response))
  const fake: FakeServer = {
    state,
    messages: [],
    fetches: [],
    answerWith: undefined,
    stores: true,
    hint(hint) {
      for (const socket of sockets) tell(socket, hint)
    },
    isConnected: () => sockets.size > 0,
    dropConnections() {
      for (const socket of sockets) socket.terminate()
    },
    async close() {
      for (const socket of sockets) socket.terminate()
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
  acceptSockets(http, sockets, fake)
  http.listen(paths.serverSocket)
  await once(http, 'listening')
  return fake
}

async function answer(fake: FakeServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const say = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const refuse = (status: number, code: ErrorBody['code']) => say(status, { message: 'Refused', code })
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (request.url !== endpoints.edgeState.path) return void refuse(404, 'not_found')
  if (!isOurEdge(request)) return void refuse(401, 'unauthenticated')
  const asked = StateRequest.safeParse(parseJson(Buffer.concat(chunks).toString()))
  if (!asked.success) return void refuse(422, 'validation')
  fake.fetches.push(asked.data.known)
  say(200, fake.answerWith ?? answerTo(fake.state, asked.data.known))
}

/** The newer connection wins, and gets a hint at once. */
function acceptSockets(http: Server, sockets: Set<WebSocket>, fake: FakeServer): void {
  const wss = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, socket, head) => {
    if (request.url !== endpoints.edgeSocket.path || !isOurEdge(request))
      return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    wss.handleUpgrade(request, socket, head, (ws) => {
      for (const before of sockets) before.close(1000)
      sockets.add(ws)
      ws.on('close', () => sockets.delete(ws))
      ws.on('message', (data) => {
        const message = EdgeMessage.safeParse(parseJson(String(data)))
        if (!message.success) return ws.close(1008)
        fake.messages.push(message.data)
        const { data: said } = message
        if (said.type === 'counts' && fake.stores)
          tell(ws, { type: 'counted', ledger: said.ledger, seq: said.seq })
      })
      tell(ws, { type: 'watch', services: [] })
      tell(ws, { type: 'changed', revision: fake.state.revision })
    })
  })
}

const isOurEdge = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${TOKEN}`
const tell = (socket: WebSocket, hint: EdgeHint) => socket.send(JSON.stringify(hint))

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it, like anything else outside the protocol.
    return undefined
  }
}

function answerTo(state: DesiredState, known: Record<string, string>) {
  const { hashes, revision } = state
  const changed = (name: string) => known[name] !== hashes[name]
  return {
    revision,
    hashes,
    sections: {
      ...(changed('settings') && { settings: state.settings }),
      peers: state.peers.filter(({ nodeId }) => changed(peersSectionOf(nodeId))),
      routes: state.routes.filter(({ id }) => changed(routesSectionOf(id))),
      ports: state.ports.filter(({ id }) => changed(portsSectionOf(id))),
      signIns: state.signIns.filter(({ id }) => changed(signInsSectionOf(id))),
      challenges: state.challenges.filter(({ id }) => changed(challengesSectionOf(id))),
      certificates: state.certificates.filter(({ id }) => changed(certificatesSectionOf(id))),
    },
  }
}
