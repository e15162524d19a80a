import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { buildApp } from './app.ts'
import { isDue, type Life } from './certificates/issue.ts'
import type { Context } from './context.ts'
import { type EdgeDoor, type EdgeIdentity, findAdmitted, readIdentity } from './http/edge-door.ts'
import { openPort } from './listen.ts'

/** How long a stranger may take to prove that it is an edge, in ms. */
const HANDSHAKE_MS = 10_000
/** Connections that have not proved it yet; the oldest gives way, because an edge needs only moments. */
const MOST_UNPROVED = 256
/** Connections of one edge: those of its HAProxy, and its own. */
export const MOST_PER_EDGE = 512
const HOUR_MS = 3_600_000

/**
 * Opens the port for edges on other machines, where the settings have one: TLS with certificates of the edges'
 * authority at both ends.
 * @returns how to close it
 */
export async function openControl(context: Context): Promise<() => Promise<void>> {
  const { config, log, edges, edgesAuthority } = context
  const listen = config.settings.POSTERN_CONTROL_LISTEN
  if (listen === null) return async () => undefined
  const connections = createConnections(context)
  const ca = await edgesAuthority.root()
  let server: Server | undefined
  const app = await buildApp(context, {
    trustForwarded: true,
    door: connections.door,
    serverFactory(handle) {
      server = createServer(
        {
          ...{ ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' },
          ...{ handshakeTimeout: HANDSHAKE_MS, requestTimeout: 30_000, headersTimeout: 30_000 },
          keepAliveTimeout: 75_000,
        },
        handle,
      )
      return server
    },
  })
  await app.ready()
  if (!server) throw new Error('the application made no server')
  const stopRenewing = await keepCertificate(context, server)
  connections.follow(server)
  const close = await openPort(server, {
    ...listen,
    setting: 'POSTERN_CONTROL_LISTEN',
    onChange(problem) {
      if (problem !== null) log.error(`${problem}. Until then edges on other machines are without the server`)
      edges.tellOwn('control', problem)
    },
  })
  return async () => {
    stopRenewing()
    connections.closeAll()
    await Promise.all([close(), app.close()])
  }
}

/** The server's certificate lives in memory: each start makes one, and a next one in time. */
async function keepCertificate({ edgesAuthority, clock, log }: Context, server: Server): Promise<() => void> {
  let life: Life = { not_before: null, not_after: null }
  const renew = async () => {
    if (!isDue(life, clock())) return
    const { certificate, privateKey, notBefore, notAfter } = await edgesAuthority.issueServer()
    life = { not_before: notBefore.toISOString(), not_after: notAfter.toISOString() }
    server.setSecureContext({
      ...{ cert: certificate, key: privateKey, ca: await edgesAuthority.root() },
      minVersion: 'TLSv1.3',
    })
  }
  await renew()
  const timer = setInterval(() => {
    renew().catch((err: unknown) =>
      log.error({ err }, 'the certificate of the port for edges was not renewed'),
    )
  }, HOUR_MS).unref()
  return () => clearInterval(timer)
}

function createConnections(context: Context) {
  const { bus, log } = context
  const identities = new WeakMap<Socket, EdgeIdentity>()
  const open = new Map<TLSSocket, EdgeIdentity>()
  /** By address and port at the other end, which the connection below TLS and that above have in common. */
  const unproved = new Map<string, Socket>()
  const endOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  const door: EdgeDoor = { identityOf: (socket) => identities.get(socket) }

  /** Ends those of an edge that was removed, or whose place another machine has. */
  const endStrangers = async (edges: readonly number[]) => {
    for (const [socket, identity] of [...open])
      if (edges.includes(identity.edgeId) && !(await findAdmitted(context, identity))) socket.destroy()
  }
  const stop = bus.listen((hint) => {
    if (hint.kind !== 'changed' || !hint.touched.edges) return
    endStrangers(hint.touched.edges).catch((err: unknown) => log.error({ err }, 'edges could not be read'))
  })
  const prove = (socket: TLSSocket) => {
    unproved.delete(endOf(socket))
    const identity = readIdentity(socket.getPeerX509Certificate())
    const same = [...open.values()].filter(({ edgeId }) => edgeId === identity?.edgeId).length
    if (!identity || same >= MOST_PER_EDGE) return void socket.destroy()
    identities.set(socket, identity)
    open.set(socket, identity)
    socket.on('close', () => open.delete(socket))
  }

  return {
    door,
    follow(server: Server) {
      server.prependListener('connection', (socket: Socket) => {
        const end = endOf(socket)
        unproved.set(end, socket)
        socket.on('close', () => unproved.delete(end))
        const [oldest] = unproved
        if (!oldest || unproved.size <= MOST_UNPROVED) return
        unproved.delete(oldest[0])
        oldest[1].destroy()
      })
      server.prependListener('secureConnection', (socket: TLSSocket) => prove(socket))
      server.on('tlsClientError', (error, socket) => {
        log.debug({ err: error, address: socket.remoteAddress }, 'no edge at the port for edges')
        socket.destroy()
      })
    },
    closeAll() {
      stop()
      for (const socket of [...open.keys(), ...unproved.values()]) socket.destroy()
    },
  }
}
