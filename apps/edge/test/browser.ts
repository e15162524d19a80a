import { connect, constants } from 'node:http2'
import { Agent, request as requestH1 } from 'node:https'

export interface Page {
  status: number
  text: string
}

/** A visitor that sends again at once what was refused, up to `TRIES` times, as browsers do. */
export interface Browser {
  ask(host: string, method: string, body?: string): Promise<Page>
  close(): void
}

const TRIES = 6
const REFUSED = `NGHTTP2_REFUSED_STREAM`

/** Over one HTTP/2 connection. */
export function openH2Browser(port: number): Browser {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => undefined)
  const once = (host: string, method: string, body = ''): Promise<Page> =>
    new Promise((resolve, reject) => {
      const length = body ? { 'content-length': body.length } : {}
      const head = { ':method': method, ':authority': host, ':path': '/', ...length }
      const stream = session.request(head, { endStream: body === '' })
      let [status, text] = [0, '']
      stream.on('response', (headers) => {
        status = Number(headers[':status'])
      })
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      stream.on('error', () => undefined)
      stream.on('close', () =>
        status > 0
          ? resolve({ status, text })
          : reject(new Error(stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? REFUSED : 'reset')),
      )
      if (body) stream.end(body)
    })
  return { ask: (...request) => again(() => once(...request)), close: () => session.destroy() }
}

/** Over one HTTP/1.1 connection that has been used before. */
export function openH1Browser(port: number): Browser {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const once = (host: string, method: string, body = ''): Promise<Page> =>
    new Promise((resolve, reject) => {
      const headers = { host, ...(body ? { 'content-length': body.length } : {}) }
      const sent = requestH1(
        { port, host: '127.0.0.1', servername: '', agent, method, headers },
        (answer) => {
          let text = ''
          answer.on('data', (chunk: Buffer) => {
            text += chunk.toString()
          })
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
          answer.on('error', reject)
        },
      )
      sent.on('error', () => reject(new Error(REFUSED))).end(body)
    })
  return { ask: (...request) => again(() => once(...request)), close: () => agent.destroy() }
}

async function again(ask: () => Promise<Page>): Promise<Page> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && error.message === REFUSED)) throw error
    }
  }
}
