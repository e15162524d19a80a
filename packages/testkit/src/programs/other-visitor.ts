import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

/**
 * A visitor beside an attack: again and again it asks for a page, sends a form, signs in to the console and asks over UDP,
 * each on a connection of its own, and sends a message over the one WebSocket that it keeps. Prints `KIND MS` for each
 * answer, or `KIND failed REASON`. Ends after five minutes.
 * Usage: node other-visitor.ts SERVER-ADDRESS DOMAIN UDP-PORT
 */
const [server = '', domain = '', udpPort = ''] = process.argv.slice(2)
const PATIENCE_MS = 8000
const OFTEN_MS = 100
/** Each sign-in costs the server some 60 ms of a processor, attack or not. */
const SIGN_IN_MS = 700

async function again(kind: string, pauseMs: number, ask: (signal: AbortSignal) => Promise<void>) {
  for (;;) {
    const start = performance.now()
    try {
      await ask(AbortSignal.timeout(PATIENCE_MS))
      console.log(`${kind} ${(performance.now() - start).toFixed(2)}`)
    } catch (error) {
      console.log(`${kind} failed ${error instanceof Error ? error.message : error}`)
    }
    await sleep(pauseMs)
  }
}

interface Asked {
  host: string
  path: string
  /** A body makes it a POST. */
  body?: string
}

/** @throws Error unless the answer is 200, whole and in time */
async function askPage(signal: AbortSignal, { host, path, body = '' }: Asked): Promise<void> {
  const call = request({
    ...{ host: server, path, signal, agent: false, rejectUnauthorized: false },
    ...(host !== server && { servername: host }),
    method: body ? 'POST' : 'GET',
    headers: { host, ...(body && { 'content-type': 'application/json', 'content-length': body.length }) },
  })
  const answered = once(call, 'response', { signal })
  call.end(body)
  const [answer] = await answered
  answer.resume()
  await once(answer, 'end', { signal })
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
}

async function askUdp(signal: AbortSignal): Promise<void> {
  const socket = createSocket('udp4')
  try {
    socket.connect(Number(udpPort), server)
    await once(socket, 'connect', { signal })
    const answered = once(socket, 'message', { signal })
    socket.send('x')
    await answered
  } finally {
    socket.close()
  }
}

const socket = new WebSocket(`wss://${domain}/`, {
  rejectUnauthorized: false,
  lookup: (_name, _options, done) => done(null, [{ address: server, family: 4 }]),
})
socket.on('error', () => undefined)
const opened = once(socket, 'open', { signal: AbortSignal.timeout(PATIENCE_MS) })

async function askSocket(signal: AbortSignal): Promise<void> {
  await opened
  if (socket.readyState !== WebSocket.OPEN) throw new Error('closed')
  const answered = once(socket, 'message', { signal })
  socket.send('x')
  await answered
}

const login = JSON.stringify({ username: 'admin', password: 'lab-password-1' })
setTimeout(() => process.exit(0), 300_000)
await Promise.all([
  again('page', OFTEN_MS, (signal) => askPage(signal, { host: domain, path: '/' })),
  again('form', OFTEN_MS, (signal) => askPage(signal, { host: domain, path: '/', body: '{"x":1}' })),
  again('sign-in', SIGN_IN_MS, (signal) =>
    askPage(signal, { host: server, path: '/api/auth/login', body: login }),
  ),
  again('socket', OFTEN_MS, askSocket),
  again('udp', OFTEN_MS, askUdp),
])
