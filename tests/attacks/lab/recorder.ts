import { chmod } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Parser, parseRequests, type RawRequest } from './strict-parser.ts'

/** A backend that records every byte that it gets, and answers with its name. */
export interface Recorder {
  name: string
  port: number
  requests: RawRequest[]
  /** What no proxy may ever pass on: heads or bodies that two programs could read differently. */
  faults: string[]
  close(): Promise<void>
}

/** @param path a unix socket, instead of a loopback port */
export async function startRecorder(name: string, path?: string): Promise<Recorder> {
  const open = new Set<Socket>()
  const recorder: Recorder = { name, port: 0, requests: [], faults: [], close: () => close() }
  const server = createServer((socket) => {
    open.add(socket)
    const parser = parseRequests(recorder, () => socket.write(answerOf(name)))
    socket.on('data', (chunk: Buffer) => take(parser, chunk, socket))
    socket.on('close', () => open.delete(socket)).on('error', () => undefined)
  })
  const close = () => {
    for (const socket of open) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  await new Promise<void>((resolve) =>
    server.listen(path ? { path } : { port: 0, host: '127.0.0.1' }, resolve),
  )
  // HAProxy connects as another user. The address of a server on a unix socket is a path.
  if (path) await chmod(path, 0o666)
  else recorder.port = (server.address() as AddressInfo).port
  return recorder
}

function take(parser: Parser, chunk: Buffer, socket: Socket): void {
  if (!parser.take(chunk.toString('latin1'))) socket.destroy()
}

function answerOf(name: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${name.length}\r\n\r\n${name}`
}
