import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** After how much silence an answer counts as complete, in ms: long enough for any machine. */
export const SILENCE = 15_000

/** Sends latin1 bytes as they are over TLS (or not), and reads until the other side closes or falls silent. */
export function sendRaw(
  port: number,
  bytes: string,
  { isPlain = false, silence = SILENCE } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const target = { port, host: '127.0.0.1' }
    const send = () => void socket.write(bytes, 'latin1')
    const socket = isPlain
      ? connectTcp(target, send)
      : connectTls({ ...target, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, send)
    const done = () => {
      socket.destroy()
      resolve(text)
    }
    socket.setTimeout(silence, done)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    // A connection that is reset after its answer has been answered.
    socket.on('close', done).on('error', (error) => (text === '' ? reject(error) : done()))
  })
}

/** The status of each answer, in order. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map((match) => Number(match[1]))
}
