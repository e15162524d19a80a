import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions, type Server as TlsServer } from 'node:https'
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
import { type CertificateAnswer, CertificateForm } from '@postern/contract/edge/join'
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
  /** Its answer to an edge that asks for a certificate; by default it gives none. */
  certify: ((csr: string) => Promise<CertificateAnswer>) | undefined
  hint(hint: EdgeHint): void
  isConnected(): boolean
  dropConnections(): void
  /** Ends them as one that does not speak with this edge. */
  refuse(why: string): void
  close(): Promise<void>
}

const TOKEN = 'token-of-the-edge'

export async function startFakeServer(paths: InstallationPaths, state: DesiredState): Promise<FakeServer> {
  writeFileSync(paths.edgeToken, `${TOKEN}\n`)
  const http = createServer()
  const fake = serve(http, state, ({ headers }) => headers.authorization === `Bearer ${TOKEN}`)
  http.listen(paths.serverSocket)
  await once(http, 'listening')
  return fake
}

/** How the fake proves itself to edges elsewhere, and whose certificates it takes: PEM. */
export interface FarDoor extends Pick<ServerOptions, 'minVersion' | 'maxVersion'> {
  key: string
  certificate: string
  root: string
}

/**
 * The same for edges elsewhere.
 * @param at a port of this machine, 0 for any, or a unix socket that a relay leads to
 */
export async function startFarFakeServer(
  { key, certificate, root, ...versions }: FarDoor,
  state: DesiredState,
  at: number | string = 0,
): Promise<FakeServer & { port: number }> {
  const options = { key, cert: certificate, ca: root, requestCert: true, ...versions }
  const https = createTlsServer({ minVersion: 'TLSv1.3', ...options })
  // The TLS has turned away everybody else.
  const fake = serve(https, state, () => true)
  https.on('tlsClientError', () => undefined)
  if (typeof at === 'string') https.listen(at)
  else https.listen(at, '127.0.0.1')
  await once(https, 'listening')
  const address = https.address()
  return Object.assign(fake, { port: typeof address === 'object' && address ? address.port : 0 })
}

type IsOurs = (request: IncomingMessage) => boolean

function serve(http: Server | TlsServer, state: DesiredState, isOurs: IsOurs): FakeServer {
  const sockets = new Set<WebSocket>()
  const fake: FakeServer = {
    state,
    messages: [],
    fetches: [],
    answerWith: undefined,
    stores: true,
    certify: undefined,
    hint(hint) {
      for (const socket of sockets) tell(socket, hint)
    },
    isConnected: () => sockets.size > 0,
    refuse(why) {
      for (const socket of sockets) socket.close(1008, why)
    },
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
  http.on('request', (request, response) => void answer(fake, request, response, isOurs))
  acceptSockets(http, sockets, fake, isOurs)
  return fake
}

async function answer(
  fake: FakeServer,
  request: IncomingMessage,
  response: ServerResponse,
  isOurs: IsOurs,
): Promise<void> {
  const say = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const refuse = (status: number, code: ErrorBody['code']) => say(status, { message: 'Refused', code })
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { path } = endpoints.edgeCertificate
  if (request.url !== endpoints.edgeState.path && request.url !== path) return void refuse(404, 'not_found')
  if (!isOurs(request)) return void refuse(401, 'unauthenticated')
  if (request.url === path) {
    const form = CertificateForm.parse(parseJson(Buffer.concat(chunks).toString()))
    const certified = await fake.certify?.(form.csr)
    return void (certified ? say(200, certified) : refuse(403, 'kind'))
  }
  const asked = StateRequest.safeParse(parseJson(Buffer.concat(chunks).toString()))
  if (!asked.success) return void refuse(422, 'validation')
  fake.fetches.push(asked.data.known)
  say(200, fake.answerWith ?? answerTo(fake.state, asked.data.known))
}

/** The newer connection wins, and gets a hint at once. */
function acceptSockets(
  http: Server | TlsServer,
  sockets: Set<WebSocket>,
  fake: FakeServer,
  isOurs: IsOurs,
): void {
  const wss = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, socket, head) => {
    if (request.url !== endpoints.edgeSocket.path || !isOurs(request))
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
