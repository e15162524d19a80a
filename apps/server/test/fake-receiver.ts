import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  text: string
  // Whatever it says: a test knows what it looks for.
  body: Record<string, never>
}

/** Answers it so, but 400 to a message with a certain text, or says nothing at all. */
type Mood = { status: number; headers?: Record<string, string>; refuses?: string } | 'silent'

/** Whoever gets messages over HTTP: ntfy, Slack, Discord, Telegram and webhooks. */
export async function startFakeReceiver() {
  const received: Received[] = []
  let asked = 0
  let mood: Mood = { status: 200 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked++
      if (mood === 'silent') return
      const text = Buffer.concat(chunks).toString('utf8')
      const isRefused = mood.refuses !== undefined && text.includes(mood.refuses)
      const status = isRefused && mood.status === 200 ? 400 : mood.status
      if (status === 200)
        received.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) })
      response.writeHead(status, mood.headers).end('{"secret":"answer"}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A TCP listener has this kind of address.
  const { port } = server.address() as AddressInfo
  return {
    port,
    received,
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
export type FakeReceiver = Awaited<ReturnType<typeof startFakeReceiver>>
