import { createSocket, type Socket } from 'node:dgram'
import { messageOf } from '@postern/host/errors'
import type { Wanted } from '../wanted.ts'
import { type DnsQuery, findQuery, isAnswerTo, renderFailure, withId } from './message.ts'

export interface DnsForwarderOptions {
  /** The tunnel address to listen on, never all addresses: this is not an open resolver. */
  address: string
  port: number
  /** The only addresses that get answers. */
  clients: readonly string[]
  /** The name servers to ask, in order; read again for each query. */
  listUpstreams(): Promise<readonly { address: string; port: number }[]>
  /** A number below `limit`. */
  random(limit: number): number
}

export interface DnsForwarder {
  close(): void
}

const MAX_PENDING = 256
const PATIENCE = 1500

/** Forwards the edges' queries to this network's name servers. @throws when it cannot bind the address */
export async function openDnsForwarder(options: DnsForwarderOptions): Promise<DnsForwarder> {
  const server = createSocket(options.address.includes(':') ? 'udp6' : 'udp4')
  const pending = new Set<Socket>()
  let waiting = 0
  server.on('message', (packet, from) => {
    const query = findQuery(packet)
    // Only edges get answers; they repeat queries beyond the limit.
    if (!options.clients.includes(from.address) || !query || waiting >= MAX_PENDING) return
    waiting++
    forward(packet, query, options, pending)
      .catch(() => renderFailure(query))
      .then((answer) => server.send(answer, from.port, from.address, () => undefined))
      // The forwarder was closed meanwhile, so nobody waits for the answer.
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
      // Unreachable clients and the like do not affect the next query.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

async function forward(
  packet: Buffer,
  query: DnsQuery,
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

/** One connected socket for each query: its port is hard to guess, and only that server can answer. */
function ask(
  packet: Buffer,
  query: DnsQuery,
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

const DNS_PORT = 53

/** A gateway's forwarder, which runs only while the node is a gateway. */
export interface DnsService {
  /** @returns what did not work, in words */
  apply(wanted: Wanted): Promise<string[]>
  close(): void
}

export function createDnsService(
  options: Pick<DnsForwarderOptions, 'random'> & { listNameServers(): Promise<string[]> },
): DnsService {
  let forwarder: DnsForwarder | undefined
  let key = ''

  function close(): void {
    forwarder?.close()
    forwarder = undefined
    key = ''
  }

  return {
    close,
    async apply({ gateway, addresses, peers }) {
      const address = addresses.find((one) => !one.includes(':'))?.split('/')[0]
      if (!gateway || !address) {
        close()
        return []
      }
      const clients = peers.map(({ edgeAddress }) => edgeAddress)
      if (key === [address, ...clients].join()) return []
      close()
      // A query to ourselves would loop forever.
      const listUpstreams = async () =>
        (await options.listNameServers())
          .filter((server) => server !== address)
          .map((server) => ({ address: server, port: DNS_PORT }))
      try {
        const { random } = options
        forwarder = await openDnsForwarder({
          address,
          port: DNS_PORT,
          clients,
          listUpstreams,
          random,
        })
        key = [address, ...clients].join()
        return []
      } catch (error) {
        return [
          `The server cannot resolve names behind this gateway: UDP port 53 on ${address}: ${messageOf(error)}`,
        ]
      }
    },
  }
}
