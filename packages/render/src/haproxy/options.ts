/** A first and a last port. */
export interface PortSpan {
  from: number
  to: number
}

/** How long silence may last, in seconds; the length of a transfer does not matter. */
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

/** The settings of an installation that HAProxy's configuration depends on. Durations are in seconds. */
export interface HaproxyOptions {
  /** Absolute, of plain characters; holds every file of HAProxy's. */
  directory: string
  serverSocket: string
  /** Holds the sockets by which the parts of HAProxy reach each other. */
  lanes: string
  /** HAProxy's root directory once it runs as its own user: above the server's socket and the lanes. */
  root: string
  /** IP literals to listen on. */
  addresses: readonly string[]
  httpPort: number
  httpsPort: number
  publicHost: string
  /** Whom HAProxy becomes once its ports are bound; null: it stays who started it. */
  user: { uid: number; gid: number } | null
  /** Visitors' connections at the same time. */
  maxConnections: number
  connectionsPerSource: number
  /** To bind for TCP services: those of the installation's range that no other program holds. */
  ports: readonly PortSpan[]
  /** Connections to TCP services at the same time; each takes two open files. */
  portConnections: number
  /** How many of them may have their TLS end here, which takes two more. */
  tlsPortConnections: number
  /** Where the edge takes log lines, on 127.0.0.1. */
  logPort: number
  /** What each log line begins with, so that nobody else can write one: hex digits. */
  logSecret: string
  connectTimeout: number
  /** One more than the machine can spare costs a fifth of the processor time of each request. */
  threads: number
  timeouts: HaproxyTimeouts
  tunnelTimeout: number
}

/** A setting that must not be pasted into a configuration. */
export class RenderError extends Error {
  readonly code = 'render'
}

/** Every file HAProxy reads or is reached by, below its directory. */
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

/** A way from one part of HAProxy to another, through a socket that only HAProxy reaches. */
export type Lane = 'port' | 'own' | 'sorry'

/**
 * Where the next part listens. HAProxy binds it before it becomes another user, and by that user's group: its unit does
 * not let root change what is another's already.
 */
export function laneBind({ lanes, user }: HaproxyOptions, lane: Lane): string {
  const access = user === null ? 'mode 600' : `mode 660 gid ${user.gid}`
  return `unix@${lanes}/${lane}.sock ${access}`
}

/** What the part before dials. */
export function laneServer(options: HaproxyOptions, lane: Lane): string {
  return socketInside(options, `${options.lanes}/${lane}.sock`)
}

/** A socket as HAProxy dials it, from within its chroot when it has one. */
export function socketInside({ root, user }: HaproxyOptions, path: string): string {
  return `unix@${user === null ? path : path.slice(root.length)}`
}
