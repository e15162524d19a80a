import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { AgentConfig, RegisterKey } from '@postern/contract/agent'
import { endpoints } from '@postern/contract/endpoints'
import { WebSocketServer } from 'ws'

/**
 * The three endpoints an agent speaks to, over HTTPS, and the WireGuard peer that an edge would be. Runs inside a
 * namespace of the lab; the test tells it over IPC what to answer.
 */

export interface EdgeServerState {
  token: string
  /** Without `publicKey`, which is what was registered. */
  config: AgentConfig
  /** Answers every call of an agent with this status instead. */
  refusal: number | null
}
export type ToEdgeServer =
  | { type: 'state'; state: EdgeServerState }
  | { type: 'hint' }
  | { type: 'publicKey'; publicKey: string | null }
export type FromEdgeServer =
  | { type: 'ready' }
  | { type: 'done'; sockets: number }
  | { type: 'call'; method: string; path: string; body: string }

const [, , directory = '', link = ''] = process.argv
const tell = (message: FromEdgeServer) => process.send?.(message)
let state: EdgeServerState | undefined
let publicKey: string | null = null

const server = createServer(
  { key: readFileSync(`${directory}/leaf.key`), cert: readFileSync(`${directory}/leaf.crt`) },
  async (request, response) => {
    if (request.url === '/install/ca.crt') return response.end(readFileSync(`${directory}/ca.crt`))
    let body = ''
    for await (const chunk of request) body += chunk
    tell({ type: 'call', method: request.method ?? '', path: request.url ?? '', body })
    const refusal = findRefusal(request.headers.authorization)
    if (refusal) return answer(response, refusal, { message: 'Invalid token' })
    if (request.url === endpoints.registerKey.path && request.method === endpoints.registerKey.method)
      addPeer(RegisterKey.parse(JSON.parse(body)).publicKey)
    else if (request.url !== endpoints.agentConfig.path)
      return answer(response, 404, { message: 'Not found' })
    return answer(response, 200, AgentConfig.parse({ ...state?.config, publicKey }))
  },
)

function findRefusal(authorization: string | undefined): number | null {
  if (authorization !== `Bearer ${state?.token}`) return 401
  return state?.refusal ?? null
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}

function addPeer(key: string): void {
  publicKey = key
  const psk = `${directory}/psk`
  writeFileSync(psk, `${state?.config.peer.presharedKey}\n`, { mode: 0o600 })
  const others = wg('show', link, 'peers')
    .split('\n')
    .filter((old) => old !== '' && old !== key)
  for (const old of others) wg('set', link, 'peer', old, 'remove')
  wg(
    'set',
    link,
    'peer',
    key,
    'preshared-key',
    psk,
    'allowed-ips',
    '10.64.0.0/24,fd64::/64,192.168.77.0/24,192.168.88.0/24',
  )
}

function wg(...args: string[]): string {
  return execFileSync('wg', args, { encoding: 'utf8' })
}

const sockets = new WebSocketServer({ noServer: true })
server.on('upgrade', (request, socket, head) => {
  const refusal = findRefusal(request.headers.authorization)
  if (refusal || request.url !== endpoints.agentSocket.path) {
    socket.end(`HTTP/1.1 ${refusal ?? 404} Refused\r\nContent-Length: 0\r\n\r\n`)
    return
  }
  sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request))
})

process.on('message', (message: ToEdgeServer) => {
  if (message.type === 'state') state = message.state
  if (message.type === 'publicKey') publicKey = message.publicKey
  if (message.type === 'hint')
    for (const one of sockets.clients) one.send(JSON.stringify({ type: 'changed' }))
  tell({ type: 'done', sockets: sockets.clients.size })
})
process.on('disconnect', () => process.exit())
server.listen(443, () => tell({ type: 'ready' }))
