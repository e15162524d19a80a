import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { JoinAnswer, JoinToken } from '@postern/contract/edge/join'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ALL_OK, everywhere } from '@postern/testkit/edge-client'
import { joinForm, makeRequest, openEdgeSocket, type Papers } from '@postern/testkit/edge-machine'
import { findFreePort } from '@postern/testkit/port'
import { type Site, startSite } from './harness.ts'

/** A site whose server has a port for edges on other machines. */
export async function startSiteForEdges(): Promise<Site & { controlPort: number }> {
  const controlPort = await findFreePort()
  const POSTERN_CONTROL_LISTEN = `127.0.0.1:${controlPort}`
  return Object.assign(await startSite({ POSTERN_CONTROL_LISTEN }), { controlPort })
}

/** What a machine has that joined with a token. */
export async function joinWith(site: Site, token: string): Promise<Papers & { joined: JoinAnswer }> {
  const made = await makeRequest()
  const { method, path } = endpoints.edgeJoin
  const { status, text, json } = await site.api.call(method, path, joinForm(token, made.csr))
  if (status !== 200) throw new Error(`joining: ${text}`)
  // The call has checked the answer against the contract.
  const joined = json as JoinAnswer
  return { ...made, joined, certificate: joined.certificate, root: joined.root }
}

/** The connection of an edge on another machine, which says only what a test says. */
export interface FarClient {
  send(message: EdgeMessage): void
  /** Reports that it has applied this revision everywhere. */
  report(applied: number, problems?: Extract<EdgeMessage, { type: 'report' }>['report']['problems']): void
  isClosed(): boolean
  close(): void
}

export async function connectFar(site: { controlPort: number }, papers: Papers): Promise<FarClient> {
  const socket = await openEdgeSocket(site, papers)
  let isClosed = false
  socket.on('close', () => {
    isClosed = true
  })
  const send = (message: EdgeMessage) => socket.send(JSON.stringify(message))
  send({ type: 'hello', version: '0.1.0', epoch: `far${Date.now()}` })
  return {
    send,
    report: (applied, problems = []) =>
      send({
        type: 'report',
        report: { wanted: applied, applied, inForce: everywhere(applied), problems, dataPlane: ALL_OK },
      }),
    isClosed: () => isClosed,
    close: () => socket.terminate(),
  }
}

/** The token in the line that the console shows. */
export function tokenIn(line: string): string {
  const token = / && sh "\$f" 'https:\/\/\S+#sha256:[0-9a-f]{64}' (pte_[\w-]{43})$/.exec(line)?.[1]
  if (token === undefined) throw new Error(`no join command: ${line}`)
  return token
}

/** Adds an edge, joins as it and connects. */
export async function addFar(
  site: Site & { controlPort: number },
  form: object,
): Promise<FarClient & { id: number }> {
  const { json, status, text } = await site.api.call('POST', '/api/edges', form)
  if (status !== 201) throw new Error(`adding an edge: ${text}`)
  // As above.
  const { edge, join } = json as { edge: { id: number }; join: JoinToken }
  const client = await connectFar(site, await joinWith(site, join.token))
  client.report(1_000_000)
  return Object.assign(client, { id: edge.id })
}
