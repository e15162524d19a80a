/** A first and a last port. */
export interface PortSpan {
  from: number
  to: number
}

/** How long a side may be silent, in seconds; the length of a transfer does not matter. */
export interface HaproxyTimeouts {
  /** Until a TLS hello and the head of a request are complete. */
  head: number
  /** Inside the body of a request. */
  body: number
  /** For a visitor who does not read an answer. */
  reader: number
  /** For a service that has not finished its answer, and for a call that is open. */
  idle: number
}

/** Servers on other machines, to which this HAProxy hands on what is theirs over TLS. */
export interface FarServers {
  /** IP literals, in the order of their names. */
  addresses: readonly { host: string; port: number }[]
  /** The authority by which they prove themselves: PEM. */
  root: string
  /** The one name in their certificates. */
  name: string
  /** What proves this edge to them: its certificate and its key, PEM. */
  proof: string
}

/** The settings of an installation that HAProxy's configuration depends on. Durations are in seconds. */
export interface HaproxyOptions {
  /** Absolute, of plain characters; holds all of HAProxy's files. */
  directory: string
  serverSocket: string
  /** At an edge elsewhere, instead of the socket. */
  farServers?: FarServers | undefined
  /** Holds the sockets by which the parts of HAProxy reach each other. */
  lanes: string
  /** HAProxy's root directory once it runs as its own user; it contains the server's socket and the lanes. */
  root: string
  /** IP literals to listen on. */
  addresses: readonly string[]
  httpPort: number
  httpsPort: number
  publicHost: string
  /** Hosts from before at which the installation still answers. */
  formerHosts: readonly string[]
  /** The user that HAProxy becomes once its ports are bound; null: it keeps the user that started it. */
  user: { uid: number; gid: number } | null
  /** Visitors' connections at the same time. */
  maxConnections: number
  connectionsPerSource: number
  /** Ports to bind for TCP services: those of the installation's range that no other program holds. */
  ports: readonly PortSpan[]
  /** Connections to TCP services at the same time; each takes two open files. */
  portConnections: number
  /** How many of them may have their TLS end here, which takes two more files. */
  tlsPortConnections: number
  /** The port on 127.0.0.1 where the edge takes log lines. */
  logPort: number
  /** Each log line begins with it, so that nobody else can write one; hexadecimal digits. */
  logSecret: string
  /** Whether the queries of requests are in the log, too. */
  logQuery: boolean
  connectTimeout: number
  /** One thread more than the machine has cores to spare costs a fifth of each request's processor time. */
  threads: number
  timeouts: HaproxyTimeouts
  tunnelTimeout: number
}

/** The hosts of the installation itself, as patterns of an `acl`. */
export function ownHosts({
  publicHost,
  formerHosts,
}: Pick<HaproxyOptions, 'publicHost' | 'formerHosts'>): string {
  return [publicHost, ...formerHosts].map((host) => host.toLowerCase()).join(' ')
}

/** A setting that must not be pasted into a configuration. */
export class RenderError extends Error {
  readonly code = 'render'
}

/** All files and sockets of HAProxy, below its directory. */
export function haproxyPaths(directory: string) {
  return {
    config: `${directory}/haproxy.cfg`,
    lua: `${directory}/postern.lua`,
    page: (name: string) => `${directory}/pages/${name}.html`,
    pages: `${directory}/pages`,
    routes: `${directory}/routes.map`,
    lists: `${directory}/lists.map`,
    nodes: `${directory}/nodes.map`,
    signIn: `${directory}/sign-in.map`,
    challenges: `${directory}/challenges.map`,
    edge: `${directory}/edge.map`,
    serversRoot: `${directory}/servers-root.pem`,
    serversProof: `${directory}/servers-proof.pem`,
    certificates: `${directory}/certs`,
    certificate: (id: number) => `${directory}/certs/${id}.pem`,
    certificateList: `${directory}/certs.list`,
    socket: `${directory}/admin.sock`,
    draining: `${directory}/leaving`,
    drainingSocket: (pid: number) => `${directory}/leaving/${pid}.sock`,
    output: `${directory}/haproxy.log`,
    pid: `${directory}/haproxy.pid`,
    logPort: `${directory}/log-port`,
    logSecret: `${directory}/log-secret`,
  } as const
}
export type HaproxyPaths = ReturnType<typeof haproxyPaths>

/** A socket between two parts of HAProxy, which only HAProxy can reach. */
export type Lane = 'port' | 'own' | 'unsent'

/**
 * Where the next part listens. HAProxy binds it before it becomes another user, with that user's group: its unit does
 * not let root change what already belongs to another user.
 */
export function laneBind({ lanes, user }: HaproxyOptions, lane: Lane): string {
  const access = user === null ? 'mode 600' : `mode 660 gid ${user.gid}`
  return `unix@${lanes}/${lane}.sock ${access}`
}

/** The address that the first part dials. */
export function laneServer(options: HaproxyOptions, lane: Lane): string {
  return socketInside(options, `${options.lanes}/${lane}.sock`)
}

/** A socket as HAProxy dials it, from within its chroot when it has one. */
export function socketInside({ root, user }: HaproxyOptions, path: string): string {
  return `unix@${user === null ? path : path.slice(root.length)}`
}
