import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface Collected {
  path: string
  headers: IncomingHttpHeaders
  // Whatever it says: a test knows what it looks for.
  body: Record<string, never>
}

/** What it does with what it is sent: answers it so, or says nothing at all. */
type Mood = { status: number; body?: string } | 'silent'

/** A collector of OpenTelemetry, over real HTTP. */
export async function startFakeCollector() {
  const taken: Collected[] = []
  let asked = 0
  let mood: Mood = { status: 200 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked++
      if (mood === 'silent') return
      const body = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8'))
      if (mood.status === 200) taken.push({ path: request.url ?? '', headers: request.headers, body })
      response.writeHead(mood.status, { 'content-type': 'application/json' }).end(mood.body ?? '{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // A TCP listener has this kind of address.
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    asked: () => asked,
    feel(next: Mood) {
      mood = next
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type FakeCollector = Awaited<ReturnType<typeof startFakeCollector>>
