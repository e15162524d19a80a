import { createSocket, type Socket } from 'node:dgram'
import { findQuery, isAnswerTo, type Query, renderFailure, withId } from './message.ts'

export interface DnsForwarderOptions {
  /** The tunnel address to listen on, never all addresses: this is no open resolver. */
  address: string
  port: number
  /** The only address that gets answers. */
  client: string
  /** The name servers to ask, in order; read again for each question. */
  listUpstreams(): Promise<readonly { address: string; port: number }[]>
  /** A number below `limit`. */
  random(limit: number): number
}

export interface DnsForwarder {
  close(): void
}

const MAX_PENDING = 256
const PATIENCE = 1500

/** Passes questions of the edge on to the name servers of this network. @throws when the address cannot be bound. */
export async function openDnsForwarder(options: DnsForwarderOptions): Promise<DnsForwarder> {
  const server = createSocket(options.address.includes(':') ? 'udp6' : 'udp4')
  const pending = new Set<Socket>()
  let waiting = 0
  server.on('message', (packet, from) => {
    const query = findQuery(packet)
    // Who is not asked for does not hear from us; who asks too much at once asks again.
    if (from.address !== options.client || !query || waiting >= MAX_PENDING) return
    waiting++
    forward(packet, query, options, pending)
      .catch(() => renderFailure(query))
      .then((answer) => server.send(answer, from.port, from.address, () => undefined))
      // The forwarder was closed in the meantime: nobody waits any more.
      .catch(() => undefined)
      .finally(() => {
        waiting--
      })
  })
  await bind(server, options)
  return {
    close() {
      server.close()
      for (const socket of pending) socket.close()
      pending.clear()
    },
  }
}

function bind(server: Socket, options: DnsForwarderOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.bind({ address: options.address, port: options.port, exclusive: true }, () => {
      server.off('error', reject)
      // Unreachable clients and the like: the next question is not concerned.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

async function forward(
  packet: Buffer,
  query: Query,
  options: DnsForwarderOptions,
  pending: Set<Socket>,
): Promise<Buffer> {
  for (const upstream of await options.listUpstreams()) {
    const id = options.random(65_536)
    const answer = await ask(withId(packet, id), { ...query, id }, upstream, pending)
    if (answer) return withId(answer, query.id)
  }
  return renderFailure(query)
}

/** A socket for each question: a port that nobody can guess, and only the asked server is heard. */
function ask(
  packet: Buffer,
  query: Query,
  upstream: { address: string; port: number },
  pending: Set<Socket>,
): Promise<Buffer | undefined> {
  const socket = createSocket(upstream.address.includes(':') ? 'udp6' : 'udp4')
  pending.add(socket)
  return new Promise((resolve) => {
    const done = (answer: Buffer | undefined) => {
      clearTimeout(timer)
      if (pending.delete(socket)) socket.close()
      resolve(answer)
    }
    const timer = setTimeout(done, PATIENCE, undefined)
    socket.on('error', () => done(undefined))
    socket.on('message', (answer) => {
      if (isAnswerTo(answer, query.id, query.question)) done(answer)
    })
    socket.connect(upstream.port, upstream.address, (error?: Error) => {
      if (error) return done(undefined)
      if (pending.has(socket)) socket.send(packet)
    })
  })
}
