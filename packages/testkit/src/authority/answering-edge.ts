import { once } from 'node:events'
import { createServer } from 'node:http'
import type { StateAnswer } from '@postern/contract/edge/desired-state'
import type { EdgeReport } from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { callApi } from '../api.ts'
import { connectEdgeClient, edgeToken } from '../edge-client.ts'
import { findFreePort } from '../port.ts'
import type { TestServer } from '../server.ts'

/** Replaces an edge where only its answers to challenges matter: on a port of this machine. */
export interface AnsweringEdge {
  /** The requests, and whether the answer was known, like `app.example.com answered`. */
  looked: string[]
  /** While paused it applies nothing. */
  pause(paused: boolean): Promise<void>
  /** What it reports besides a revision that it has everywhere. */
  over: (revision: number) => Partial<EdgeReport>
  close(): Promise<void>
}

/** A port for `answerChallenges`, which an authority has to know before. */
export const findChallengePort = findFreePort

export async function answerChallenges(server: TestServer, port: number): Promise<AnsweringEdge> {
  await server.listenOnSocket()
  const { paths } = server.context.config
  const looked: string[] = []
  let state: StateAnswer | undefined
  let isPaused = false
  let last = Promise.resolve()

  async function apply(): Promise<void> {
    if (isPaused) return
    const answer = await callApi(paths.serverSocket, edgeToken(paths), 'POST', endpoints.edgeState.path, {
      known: {},
    })
    state = answer.json as StateAnswer
    edge.report(state.revision, answering.over(state.revision))
  }
  // A request to a server that stops fails, and is repeated at the next.
  const applyNext = () => {
    last = last.then(apply).catch(() => undefined)
    return last
  }
  const edge = await connectEdgeClient(paths, {
    onHint: ({ type }) => void (type === 'changed' && applyNext()),
  })
  const http = createServer((request, response) => {
    const host = request.headers.host?.split(':')[0]
    const token = request.url?.split('/').at(-1)
    const known = state?.sections.challenges.find((each) => each.domain === host && each.token === token)
    looked.push(`${host} ${known ? 'answered' : 'unknown'}`)
    if (known) response.end(`${known.token}.${known.thumbprint}`)
    else response.writeHead(404).end()
  })
  await once(http.listen(port, '127.0.0.1'), 'listening')
  const answering: AnsweringEdge = {
    looked,
    over: () => ({}),
    async pause(next) {
      isPaused = next
      await applyNext()
    },
    async close() {
      isPaused = true
      edge.close()
      http.closeAllConnections()
      http.close()
      await last
    },
  }
  await applyNext()
  return answering
}
