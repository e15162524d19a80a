import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import {
  type DesiredState,
  peersSectionOf,
  routesSectionOf,
  StateRequest,
} from '@postern/contract/desired-state'
import { type EdgeHint, EdgeMessage } from '@postern/contract/edge'
import { endpoints } from '@postern/contract/endpoints'
import type { InstallationPaths } from '@postern/contract/installation'
import { type WebSocket, WebSocketServer } from 'ws'

/** The server's side of the protocol over its real socket, with a state that a test sets. */
export interface FakeServer {
  /** What it answers with; setting it tells nobody. */
  state: DesiredState
  /** All that the edge has said, in order. */
  messages: EdgeMessage[]
  /** The hashes that each fetch named. */
  fetches: Record<string, string>[]
  /** Set, it answers with this body instead. */
  answerWith: unknown
  hint(hint: EdgeHint): void
  isConnected(): boolean
  dropConnections(): void
  close(): Promise<void>
}

const TOKEN = 'token-of-the-edge'

export async function startFakeServer(paths: InstallationPaths, state: DesiredState): Promise<FakeServer> {
  writeFileSync(paths.edgeToken, `${TOKEN}\n`)
  const sockets = new Set<WebSocket>()
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const isOurs =
      request.url === endpoints.edgeState.path && request.headers.authorization === `Bearer ${TOKEN}`
    if (!isOurs) return void response.writeHead(401).end('{}')
    const { known } = StateRequest.parse(JSON.parse(Buffer.concat(chunks).toString()))
    fake.fetches.push(known)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(fake.answerWith ?? answerTo(fake.state, known)))
  })
  const fake: FakeServer = {
    state,
    messages: [],
    fetches: [],
    answerWith: undefined,
    hint(hint) {
      for (const socket of sockets) socket.send(JSON.stringify(hint))
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

function acceptSockets(http: Server, sockets: Set<WebSocket>, fake: FakeServer): void {
  const wss = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, socket, head) => {
    if (request.url !== endpoints.edgeSocket.path || request.headers.authorization !== `Bearer ${TOKEN}`)
      return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    wss.handleUpgrade(request, socket, head, (ws) => {
      sockets.add(ws)
      ws.on('close', () => sockets.delete(ws))
      ws.on('message', (data) => fake.messages.push(EdgeMessage.parse(JSON.parse(String(data)))))
    })
  })
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
      certificates: state.certificates.filter(({ id }) => changed(`certificate:${id}`)),
    },
  }
}
