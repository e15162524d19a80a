import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A program on a private host that accepts any request and keeps the bytes of its head. */
export interface RawUpstream {
  port: number
  /** The heads of all requests so far, one character a byte. */
  heads: string[]
  /** Its answer; by default an empty 200. */
  answer: string
  close(): Promise<void>
}

export async function startRawUpstream(): Promise<RawUpstream> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    let text = ''
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      upstream.heads.push(text)
      text = ''
      socket.end(upstream.answer, 'latin1')
    })
  })
  const upstream: RawUpstream = {
    port: 0,
    heads: [],
    answer: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  upstream.port = (server.address() as AddressInfo).port // it listens on a port
  return upstream
}

/** The lines of a head whose field has this name, as they came. */
export function linesOf(head: string | undefined, name: string): string[] {
  const lines = (head ?? '').split('\r\n').slice(1)
  return lines.filter((line) => line.toLowerCase().startsWith(`${name}:`))
}
