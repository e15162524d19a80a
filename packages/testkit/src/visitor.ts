import type { Host } from './lab/network.ts'
import { must, type Running } from './processes/exec.ts'

export interface PublicAnswer {
  status: number
  body: string
  headers: string
}

/** A visitor's request: by name, to the server's public address, over TLS, from another host. */
export async function visit(
  visitor: Host,
  url: string,
  { server = '203.0.113.1', args = [] as string[] } = {},
) {
  const { hostname, port } = new URL(url)
  const resolve = `${hostname}:${port || 443}:${server}`
  const output = await must(
    visitor.argv('curl', '-sk', '-i', '-m', '30', '--http1.1', '--resolve', resolve, ...args, url),
  )
  return parseAnswer(output)
}

function parseAnswer(output: string): PublicAnswer {
  const [headers = '', ...body] = output.split('\r\n\r\n')
  return { status: Number(/^HTTP\/\S+ (\d+)/.exec(headers)?.[1] ?? 0), headers, body: body.join('\r\n\r\n') }
}

const SOCKET = new URL('./programs/ws-client.ts', import.meta.url).pathname

/** A WebSocket of a visitor; it prints a line for each echo it gets and ends when the connection does. */
export function openSocket(visitor: Host, domain: string, logFile: string, server = '203.0.113.1'): Running {
  return visitor.start([process.execPath, SOCKET, server, domain], { logFile })
}
