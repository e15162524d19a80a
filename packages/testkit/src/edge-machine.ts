import { once } from 'node:events'
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { CONTROL_NAME, type JoinAnswer } from '@postern/contract/edge/join'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { WebSocket } from 'ws'
import { loadX509 } from '../../../apps/server/src/certificates/issue.ts'
import { openControl } from '../../../apps/server/src/control.ts'
import { findFreePort } from './port.ts'
import { startTestServer, type TestServer, type TestServerOptions } from './server.ts'

/** A server with its port for edges on other machines open at 127.0.0.1. */
export async function startServerForEdges(
  options: TestServerOptions = {},
): Promise<TestServer & { controlPort: number }> {
  const controlPort = await findFreePort()
  const listen = `127.0.0.1:${controlPort}`
  const settings = { POSTERN_CONTROL_LISTEN: listen, POSTERN_CONTROL_HOST: '127.0.0.1', ...options.settings }
  const server = await startTestServer({ ...options, settings })
  const closePort = await openControl(server.context)
  return Object.assign(Object.create(server) as TestServer, {
    controlPort,
    async close() {
      await closePort()
      await server.close()
    },
  })
}

export interface KeyAndRequest {
  /** PEM. */
  privateKey: string
  csr: string
}

/** A key, and the request for a certificate that it has signed. */
export async function makeRequest({ curve = 'P-256', subject = 'CN=edge' } = {}): Promise<KeyAndRequest> {
  const x509 = await loadX509()
  const algorithm = { name: 'ECDSA', namedCurve: curve }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: 'url', value: 'postern:edge:1' },
        { type: 'dns', value: CONTROL_NAME },
      ]),
      new x509.BasicConstraintsExtension(true, 3, true),
    ],
  })
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { privateKey: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'), csr: request.toString('pem') }
}

/** What a machine has with which it comes to the port for edges. */
export interface Papers {
  privateKey: string
  certificate: string
  root: string
}

export interface EdgeMachine extends Papers {
  joined: JoinAnswer
  csr: string
}

export const joinForm = (token: string, csr: string) => ({
  ...{ token, csr, version: '0.1.0', tunnelPort: 51_820 },
  machine: { addresses: ['198.51.100.20'] },
})

/** Adds an edge in the console, and joins as it. */
export async function addEdgeMachine(
  server: TestServer,
  form: { name: string; servesConsole?: boolean },
): Promise<EdgeMachine> {
  const client = await server.signIn()
  const added = await client.post('/api/edges', form)
  if (added.statusCode !== 201) throw new Error(`adding an edge: ${added.body}`)
  return await joinAs(server, added.json().join.token)
}

export async function joinAs(server: TestServer, token: string): Promise<EdgeMachine> {
  const made = await makeRequest()
  const { method, path: url } = endpoints.edgeJoin
  const answer = await server.call({ method, url, payload: joinForm(token, made.csr) })
  if (answer.statusCode !== 200) throw new Error(`joining: ${answer.body}`)
  const joined = answer.json<JoinAnswer>()
  return { ...made, joined, certificate: joined.certificate, root: joined.root }
}

interface Asked {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: unknown
}

const tlsOf = ({ controlPort: port }: { controlPort: number }, papers: Partial<Papers>) => ({
  ...{ host: '127.0.0.1', port, servername: CONTROL_NAME },
  ...(papers.privateKey && { key: papers.privateKey, cert: papers.certificate }),
  ...(papers.root && { ca: papers.root }),
})

/** One request at the port for edges. @throws the error of TLS or of the connection */
export async function askControl(
  server: { controlPort: number },
  papers: Partial<Papers>,
  { method = 'POST', path, headers = {}, body }: Asked,
): Promise<{ status: number; body: string; json: unknown }> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const all = { ...type, 'content-length': String(Buffer.byteLength(text)), ...headers }
  const sent = request({ ...tlsOf(server, papers), agent: false, method, path, headers: all })
  sent.end(text)
  const [answer] = await once(sent, 'response')
  let read = ''
  for await (const chunk of answer) read += chunk
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return { status: answer.statusCode, body: read, json: isJson ? JSON.parse(read) : undefined }
}

/** A bare connection, which has proved itself at the server once it is secure and read from. */
export async function connectControl(
  server: { controlPort: number },
  papers: Partial<Papers>,
): Promise<TLSSocket> {
  const socket = connect(tlsOf(server, papers))
  await once(socket, 'secureConnect')
  return socket
}

/** The socket of an edge that joined. */
export async function openEdgeSocket(server: { controlPort: number }, papers: Papers): Promise<WebSocket> {
  const { host, port, ...tls } = tlsOf(server, papers)
  const socket = new WebSocket(`wss://${host}:${port}${endpoints.edgeSocket.path}`, tls)
  await once(socket, 'open')
  return socket
}
