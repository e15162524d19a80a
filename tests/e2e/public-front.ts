import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { issueLeaf, issueRoot } from '../../apps/server/src/certificates/issue.ts'

/** A visitor's address, as HAProxy passes it on. */
const VISITOR = '198.51.100.7'

/** Longer than a page is quiet in a test, or the browser would meet connections that are closing. */
const KEPT_MS = 120_000

/**
 * The console at its public address (https), where HAProxy would be: passes requests to the server's socket, with the
 * headers that HAProxy adds.
 */
export async function startPublicFront(
  port: number,
  socketPath: string,
): Promise<{ close(): Promise<void> }> {
  const now = new Date()
  const { certificate, privateKey } = await issueLeaf(await issueRoot('e2e', now), ['127.0.0.1'], now)
  const server = createServer({ cert: certificate, key: privateKey }, (incoming, response) => {
    const { method, url: path, headers } = incoming
    const added = {
      'x-forwarded-for': VISITOR,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': headers.host,
      'x-forwarded-port': String(port),
    }
    // A connection that was used before might be closing.
    const to = { socketPath, agent: false, method, path, headers: { ...headers, ...added } }
    const pass = (retries: number) => {
      const outgoing = request(to, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        // Streams begin before they have anything to say.
        response.flushHeaders()
        answer.pipe(response)
      })
      // HAProxy tries again, too, when nothing was answered.
      outgoing.on('error', () => {
        if (retries > 0 && !response.headersSent && !response.destroyed) pass(retries - 1)
        else response.destroy()
      })
      response.on('close', () => outgoing.destroy())
      incoming.pipe(outgoing)
    }
    pass(method === 'GET' ? 2 : 0)
  })
  server.keepAliveTimeout = KEPT_MS
  // Nor does it close connections that a browser opened ahead and has not used yet.
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0 })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
